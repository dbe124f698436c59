package build

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/proof/certify"
	"github.com/accessc/accessc/proof/check"
)

// Certificate is the class of problems of a certificate.
const Certificate Class = "certificate"

// certificate certifies the build, and returns the text of the certificate that belongs to it, nil for none. A
// certificate that is there and is not made anew goes when a file of the build changes.
func (o *output) certificate(req Request, manifest []byte) ([]byte, error) {
	old, err := readIn(o.root, check.File)
	if err != nil && req.Certify {
		return nil, err
	}
	if format, _, _ := strictjson.Header(old); err != nil || old != nil && format != check.Format {
		if req.Certify {
			return nil, fmt.Errorf("%s is in the way: not a certificate", check.File)
		}
		return nil, nil // none of this program's
	}
	switch {
	case req.Certify:
		m, err := ParseManifest(manifest)
		if err != nil {
			return nil, err
		}
		data, err := m.certify(manifest, o.read)
		if err != nil {
			return nil, err
		}
		return data, o.file(check.File, data)
	case old != nil && o.differ:
		return nil, o.change(check.File, old, nil)
	default:
		return old, nil
	}
}

// read returns an artifact of the build, also where an earlier build has written it.
func (o *output) read(tool, file string) ([]byte, error) {
	name := path.Join(tool, file)
	if text := o.texts[name]; text != nil {
		return text, nil
	}
	return readIn(o.root, name)
}

// certify certifies the artifacts of a manifest.
func (m *Manifest) certify(text []byte, read func(tool, file string) ([]byte, error)) ([]byte, error) {
	tools := map[string]*ir.Tool{}
	for _, e := range m.Tools {
		if e.Policy == nil {
			continue
		}
		t, err := e.Policy.Tool()
		if err != nil {
			return nil, err
		}
		tools[e.Name] = t
	}
	return certify.Certificate(certify.Build{Manifest: text, Tools: tools, Read: read})
}

// certificateIn is the text of the certificate in a directory, nil where there is none.
func certificateIn(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readIn(root, check.File)
}

// Certified checks the certificate of a directory by the independent checker, and that the lists which it assumes are
// those of this version.
func Certified(dir string) (*check.Report, []Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	report, err := check.Check(root.FS())
	if err != nil {
		return nil, nil, err
	}
	v := &verifier{}
	for _, p := range report.Problems {
		v.add(Certificate, p.Tool, "%s", p)
	}
	for _, what := range certify.Unknown(&report.Assumptions) {
		v.add(Certificate, "", "%s", what)
	}
	return report, v.problems, nil
}
