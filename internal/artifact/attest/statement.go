package attest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// The types of statement and predicates.
const (
	statementType = "https://in-toto.io/Statement/v1"
	// BuildType is said of the output directory of a build.
	BuildType = "https://github.com/accessc/accessc/attestation/build/v1"
)

// Statement says something about files.
type Statement struct {
	// Subjects are the hashes of the files by name, "sha256:" and hexadecimal digits.
	Subjects []Subject
	// Build is set in a statement about a build, Summary in a statement about tests, Provenance in a statement about a
	// release of accessc; one of them is.
	Build      *Build
	Summary    *Summary
	Provenance *Provenance
}

// Subject is a file.
type Subject struct{ Name, Hash string }

// Build says which policies the files of an output directory are compiled from.
type Build struct {
	// Accessc is the version of the compiler.
	Accessc string `json:"accessc"`
	// Form is the form of the manifest, "portable" or "resolved".
	Form string `json:"form"`
	// Policy is the manifest's hash over all tools.
	Policy string `json:"policy_sha256"`
	// Project is the name that the signer gave to the project of the policies, empty for none.
	Project string `json:"project,omitempty"`
	// Serial grows from one statement about a project to the next. A statement that is made from another signature has
	// that signature's time. See decision D276.
	Serial int `json:"serial"`
	// Revision is the commit whose configuration compiles to the same policies, empty where there is none.
	Revision string `json:"revision,omitempty"`
	// Tools are the tools of the manifest.
	Tools []Tool `json:"tools"`
}

// Tool is a tool of a build.
type Tool struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Policy string `json:"policy_sha256,omitempty"`
}

// Tool returns the tool of a name.
func (b *Build) Tool(name string) (Tool, bool) {
	for _, t := range b.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Subject returns the hash of a file, empty if the statement does not name it.
func (s *Statement) Subject(name string) string {
	for _, x := range s.Subjects {
		if x.Name == name {
			return x.Hash
		}
	}
	return ""
}

// document is a statement as it is written.
type document struct {
	Type          string          `json:"_type"`
	Subject       []subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

func (s *Statement) marshal() ([]byte, error) {
	d := document{Type: statementType, Subject: []subject{}}
	for _, x := range s.Subjects {
		d.Subject = append(d.Subject,
			subject{x.Name, map[string]string{"sha256": strings.TrimPrefix(x.Hash, "sha256:")}})
	}
	var err error
	switch {
	case s.Summary != nil:
		d.PredicateType = SummaryType
		d.Predicate, err = json.Marshal(s.Summary.document())
	case s.Provenance != nil:
		d.PredicateType = ProvenanceType
		d.Predicate, err = json.Marshal(s.Provenance.document())
	default:
		d.PredicateType = BuildType
		d.Predicate, err = json.Marshal(s.Build)
	}
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	data := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return data, new(Statement).unmarshal(data, d.PredicateType) // the signed statement can be read
}

// unmarshal reads a statement with a predicate of a type.
func (s *Statement) unmarshal(data []byte, predicate string) error {
	var d document
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return err
	}
	switch {
	case d.Type != statementType:
		return fmt.Errorf("found the type %.80q, expected %s", d.Type, statementType)
	case len(d.Subject) == 0:
		return errors.New("it is about no file")
	}
	seen := map[string]bool{}
	for _, x := range d.Subject {
		if seen[x.Name] {
			return fmt.Errorf("it names %.80q twice", x.Name)
		}
		seen[x.Name] = true
		hash, err := x.hash()
		if err != nil {
			return err
		}
		s.Subjects = append(s.Subjects, Subject{x.Name, hash})
	}
	switch {
	case d.PredicateType != predicate:
		return fmt.Errorf("found the predicate %.80q, expected %s", d.PredicateType, predicate)
	case predicate == SummaryType:
		s.Summary = &Summary{}
		return s.Summary.unmarshal(d.Predicate)
	case predicate == ProvenanceType:
		s.Provenance = &Provenance{}
		return s.Provenance.unmarshal(d.Predicate)
	}
	s.Build = &Build{}
	return s.Build.unmarshal(d.Predicate)
}

// hash checks a subject. Names are paths below a directory.
func (x subject) hash() (string, error) {
	if x.Name == "" || path.Clean(x.Name) != x.Name || path.IsAbs(x.Name) || x.Name == "." || x.Name == ".." ||
		strings.HasPrefix(x.Name, "../") || strings.ContainsAny(x.Name, "\\\x00") {
		return "", fmt.Errorf("%.80q is no name of a file below the directory", x.Name)
	}
	digest, ok := x.Digest["sha256"]
	if !ok || len(x.Digest) != 1 || !isDigest(digest) {
		return "", fmt.Errorf("%.80q has not exactly one SHA-256", x.Name)
	}
	return "sha256:" + digest, nil
}

// isDigest reports whether a text is a SHA-256 in lower-case hexadecimal digits.
func isDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && hex.EncodeToString(raw) == s
}

// isHash is isDigest for the spelling of manifests.
func isHash(s string) bool {
	digest, ok := strings.CutPrefix(s, "sha256:")
	return ok && isDigest(digest)
}

func (b *Build) unmarshal(data []byte) error {
	if err := strictjson.Unmarshal(data, b); err != nil {
		return fmt.Errorf("the predicate: %w", err)
	}
	switch {
	case !isHash(b.Policy):
		return errors.New("the predicate: found no hash of the policies")
	case b.Form != "portable" && b.Form != "resolved":
		return fmt.Errorf("the predicate: found the form %.80q, expected portable or resolved", b.Form)
	case b.Serial < 1:
		return fmt.Errorf("the predicate: found the serial %d, expected one from 1", b.Serial)
	}
	seen := map[string]bool{}
	for _, t := range b.Tools {
		if t.Name == "" || seen[t.Name] || t.Policy != "" && !isHash(t.Policy) {
			return fmt.Errorf("the predicate: found no tool, or one twice, in the entry %.80q", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}
