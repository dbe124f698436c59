package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/proof/check"
	"github.com/accessc/accessc/ruleset"
)

// AttestationFile is the name of the attestation in an output directory.
const AttestationFile = "attestation.json"

// The classes of problems of an attestation.
const (
	// AttestationMissing: there is none.
	AttestationMissing Class = "attestation.missing"
	// AttestationForm: it cannot be read.
	AttestationForm Class = "attestation.form"
	// AttestationSignature: those who may sign have not signed it.
	AttestationSignature Class = "attestation.signature"
	// AttestationSubject: a file of the build has changed, or is not attested.
	AttestationSubject Class = "attestation.subject"
	// AttestationUnlisted: the directory has a file that is not attested.
	AttestationUnlisted Class = "attestation.unlisted"
	// AttestationPolicy: it says something else about the policies than the manifest.
	AttestationPolicy Class = "attestation.policy"
	// AttestationReplay: it is for another project or revision, or older than asked.
	AttestationReplay Class = "attestation.replay"
)

// attestation signs the build. An attestation that is there and is not made anew goes when its files or
// policies change.
func (o *output) attestation(req Request, said *attest.Statement) error {
	old, err := readIn(o.root, AttestationFile)
	var e *attest.Envelope
	if err == nil && old != nil {
		if e, err = attest.Read(old); err != nil {
			err = fmt.Errorf("%s is in the way: %w", AttestationFile, err)
		}
	}
	switch {
	case err != nil && req.Attest != nil:
		return err
	case err != nil:
		return nil // not an attestation, so none of this program's
	case req.Attest != nil:
		data, err := req.Attest(said, old)
		if err != nil {
			return err
		}
		return o.file(AttestationFile, data)
	case e != nil && o.differ && !e.About(said):
		return o.change(AttestationFile, old, nil)
	default:
		return nil
	}
}

// statement returns the statement about a build of all tools, with its certificate where there is one.
func (x *Index) statement(manifest, certificate []byte) *attest.Statement {
	m := Manifest{Header: x.header, Rulesets: x.rulesets}
	for _, p := range x.parts {
		m.Tools = append(m.Tools, p.entry)
	}
	m.seal()
	return m.statement(Hash(manifest), certificate)
}

func (m *Manifest) statement(hash string, certificate []byte) *attest.Statement {
	s := m.Statement(hash)
	if certificate != nil {
		s.Subjects = append(s.Subjects, attest.Subject{Name: check.File, Hash: Hash(certificate)})
	}
	return s
}

// Statement returns the statement about a manifest whose text has a hash, and about the artifacts that it lists.
func (m *Manifest) Statement(hash string) *attest.Statement {
	s := &attest.Statement{
		Subjects: []attest.Subject{{Name: ManifestFile, Hash: hash}},
		Build:    &attest.Build{Form: m.Form, Policy: m.Policy},
	}
	for _, e := range m.Tools {
		s.Build.Tools = append(s.Build.Tools, attest.Tool{Name: e.Name, Source: e.Source, Policy: e.Hash})
		for _, file := range slices.Sorted(maps.Keys(e.Artifacts)) {
			s.Subjects = append(s.Subjects, attest.Subject{Name: e.Name + "/" + file, Hash: e.Artifacts[file]})
		}
	}
	return s
}

// Attested compares a statement with a manifest whose text has a hash, and with the names in its directory. That the
// files there have the hashes of the manifest is for Verify.
func Attested(said *attest.Statement, m *Manifest, hash, dir string) ([]Problem, error) {
	v := &verifier{}
	certificate, err := certificateIn(dir)
	if err != nil {
		return nil, err
	}
	want := m.statement(hash, certificate)
	names, hashes := map[string]bool{}, map[string]string{}
	for _, x := range said.Subjects {
		hashes[x.Name] = x.Hash
	}
	for _, x := range want.Subjects {
		names[x.Name] = true
		switch got := hashes[x.Name]; got {
		case x.Hash:
		case "":
			v.add(AttestationSubject, "", "%s is not attested", x.Name)
		default:
			v.add(AttestationSubject, "", "%s has the hash %s, attested is %s", x.Name, x.Hash, got)
		}
	}
	for _, x := range said.Subjects {
		if !names[x.Name] {
			v.add(AttestationSubject, "", "%s is attested, and no file of this build", x.Name)
		}
	}
	b := want.Build
	if b.Form != said.Build.Form || b.Policy != said.Build.Policy || !slices.Equal(b.Tools, said.Build.Tools) {
		v.add(AttestationPolicy, "", "the attestation is about other policies than the manifest has")
	}
	return v.problems, v.strangers(dir, names)
}

// maxStrangers bounds how many files are named that are not attested.
const maxStrangers = 20

// errStrangers ends the search.
var errStrangers = errors.New("enough")

// strangers names the files below a directory that no statement is about.
func (v *verifier) strangers(dir string, names map[string]bool) error {
	n := v.leftovers(dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case isStage(rel):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || (names[rel] || rel == AttestationFile) && d.Type().IsRegular():
			return nil
		}
		v.add(AttestationUnlisted, "", "%s is not attested", rel)
		if n++; n >= maxStrangers {
			return errStrangers
		}
		return nil
	})
	if errors.Is(err, errStrangers) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// leftovers names the stages in a directory, and counts them. Each counts once, whatever is in it.
func (v *verifier) leftovers(dir string) int {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	at := openStaging(root)
	if at == nil {
		return 0
	}
	defer at.Close()
	names := stages(at)
	for i, name := range names {
		if i == maxStrangers {
			return i
		}
		whose, do := "in use by a build that has not ended", "verify again when it has"
		if f, dead := abandoned(at, name); dead {
			whose, do = "left by a build that was killed", "the next accessc build removes it"
			_ = f.Close()
		}
		v.add(AttestationUnlisted, "", "%s/%s is not attested: it is %s; %s", staging, name, whose, do)
	}
	return len(names)
}

// PolicyOf is the hash of all policies of a program and of rulesets, as a manifest of them has it.
func PolicyOf(p *ir.Program, rulesets []*ruleset.Set) (string, error) {
	m := Manifest{}
	for _, t := range p.Tools {
		hash, err := Policy(t)
		if err != nil {
			return "", err
		}
		m.Tools = append(m.Tools, Entry{Name: t.Name, Source: t.Source.String(), Hash: hash})
	}
	var err error
	m.Rulesets, err = rulesetEntries(rulesets)
	m.seal()
	return m.Policy, err
}

// Policy is the hash of a tool's policy as its entry in a manifest has it.
func Policy(t *ir.Tool) (string, error) {
	if t.Source.Kind != ir.SourceLocal {
		if t.Constraints == nil && !t.Disabled {
			return "", nil
		}
		// A manifest has no more of it.
		t = &ir.Tool{Name: t.Name, Source: t.Source, Base: ir.BaseNone, Home: ir.HomeReal, Constraints: t.Constraints,
			Disabled: t.Disabled}
	}
	return policyHash(t)
}
