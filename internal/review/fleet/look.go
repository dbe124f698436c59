package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir/irjson"
)

// look has the facts that were found at a place.
type look struct {
	place string
	facts *kept  // nil for a file of another program
	frame *frame // nil where the manifest cannot be read
	fresh bool
	// policies are the policies of the tools, set where there is a question.
	policies []*irjson.ToolDoc
	answers  []Answered
	asked    int
	changes  *changed // since the earlier run, nil if there are none
}

// tries is how often a manifest is read that changes meanwhile.
const tries = 3

// look reads a manifest and the artifacts beside it.
func (s *survey) look(f *found, place string) *look {
	l := &look{place: place}
	if f.bad != nil {
		l.facts = &kept{Manifest: *f.unreadable(NoDirectory, f.bad)}
		return l
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer giveBack(buf)
	for range tries {
		data, err := f.read(buf)
		if err != nil {
			l.facts = &kept{Manifest: *f.unreadable(Unreadable, err)}
			return l
		}
		key := sha256.Sum256(data)
		if err := s.facts(l, key, data); err != nil {
			l.facts = &kept{Manifest: *f.unreadable(Unreadable, err)}
			l.facts.Manifest.Hash = build.Hash(data)
			return l
		}
		if l.facts == nil {
			return l
		}
		l.facts.Manifest.Path = f.path
		if s.beside(f, l) || f.same(key, buf) {
			s.ask(l)
			s.compare(l)
			l.policies = nil
			return l
		}
	}
	l.facts.Manifest.Problems = append(l.facts.Manifest.Problems,
		Problem{Class: Changing, Detail: "it is replaced while it is read"})
	return l
}

// same reports whether the bytes of a manifest still have a hash.
func (f *found) same(key [sha256.Size]byte, buf *bytes.Buffer) bool {
	data, err := f.read(buf)
	return err == nil && sha256.Sum256(data) == key
}

// facts sets the facts of a manifest: the facts of the record, if it has any.
// See decision D223.
func (s *survey) facts(l *look, key [sha256.Size]byte, data []byte) error {
	l.facts, l.frame, l.fresh = nil, nil, false
	if frame := s.record.get(key); frame != nil && s.recall(l, frame) {
		return nil
	}
	k, policies, err := parse(data, s.backends())
	if errors.Is(err, build.ErrForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	k.Manifest.Hash, k.Manifest.Compiled = "sha256:"+hex.EncodeToString(key[:]), s.req.Compile
	l.frame = &frame{key: key}
	if l.frame.policies, err = deflate(policies); err == nil {
		l.frame.facts, err = k.marshal()
	}
	if err == nil && (len(l.frame.policies) > maxPolicies || len(l.frame.facts) > maxFacts) {
		err = errTooMuch
	}
	l.policies, l.fresh = policies, true
	if err == nil {
		// Texts of the manifest are parts of one large text; texts of the frame are not.
		l.facts, err = unmarshalKept(l.frame.facts)
	}
	return err
}

// recall sets the facts from a frame, and reports whether that has all that is needed.
func (s *survey) recall(l *look, f *frame) bool {
	k, err := unmarshalKept(f.facts)
	if err != nil || s.req.Compile && !k.Manifest.Compiled {
		return false
	}
	if s.req.Question != nil {
		if l.policies, err = inflate(f.policies); err != nil || len(l.policies) != len(k.Manifest.Tools) {
			return false
		}
	}
	l.facts, l.frame = k, f
	return true
}

// backends are the backends by which policies are compiled anew.
// See decision D223.
func (s *survey) backends() []backends.Backend {
	if s.req.Compile {
		return s.req.Backends
	}
	return nil
}

// Bounds of a manifest's content, against a manifest that costs far more than its size.
const (
	maxObjects = 1 << 20
	// maxRules bounds the rules of all tools, of which several can have the same text.
	maxRules = 1 << 20
)

var errTooMuch = errors.New("more than this version looks at")

// parse reads a manifest and checks it against itself.
func parse(data []byte, bs []backends.Backend) (*kept, []*irjson.ToolDoc, error) {
	if bytes.Count(data, []byte("{")) > maxObjects {
		return nil, nil, errTooMuch
	}
	m, err := build.ParseManifest(data)
	if err != nil {
		return nil, nil, err
	}
	rules := 0
	for i := range m.Tools {
		rules += 1 + m.Tools[i].Policy.Rules() + len(m.Tools[i].Ledger)
	}
	if rules > maxRules {
		return nil, nil, errTooMuch
	}
	k := &kept{Manifest: Manifest{Form: m.Form, Tools: []Tool{}}}
	var policies []*irjson.ToolDoc
	problems, err := build.Inspect(m, bs, func(in build.Inspected) error {
		k.Manifest.Tools = append(k.Manifest.Tools, factsOf(in))
		var policy *irjson.ToolDoc
		if in.Tool != nil {
			policy = irjson.Tool(in.Tool).WithoutFields()
		}
		policies = append(policies, policy)
		if in.Entry.Confined {
			k.Listed = append(k.Listed, listed{in.Entry.Name, in.Entry.Artifacts})
		}
		return nil
	})
	for _, p := range problems {
		k.Manifest.Problems = append(k.Manifest.Problems, Problem(p))
	}
	for _, r := range m.Rulesets {
		k.Manifest.Rulesets = append(k.Manifest.Rulesets, Ruleset{r.Name, r.Hash})
	}
	return k, policies, err
}

// beside compares the artifacts with the artifacts of the directory. It reports whether there is no problem
// with any.
func (s *survey) beside(f *found, l *look) bool {
	m := &l.facts.Manifest
	dir, err := f.root.OpenRoot(path.Dir(f.name))
	if err != nil {
		m.Problems = append(m.Problems, Problem{Class: build.ArtifactMissing, Detail: oserr.Reason(err).Error()})
		return false
	}
	defer dir.Close()
	counts, problems := build.Artifacts(dir, l.facts.entries(), s.req.Backends)
	m.Artifacts = Artifacts{Match: counts.Match, Absent: counts.Absent, Wrong: len(problems)}
	for _, p := range problems {
		m.Problems = append(m.Problems, Problem(p))
	}
	return len(problems) == 0
}

// ask puts the question to the policies of a manifest.
func (s *survey) ask(l *look) {
	if s.req.Question == nil {
		return
	}
	m := &l.facts.Manifest
	for i, doc := range l.policies {
		if doc == nil || !m.Tools[i].Confined {
			continue
		}
		t, err := doc.Tool()
		if err != nil {
			m.Problems = append(m.Problems,
				Problem{Class: build.ToolPolicy, Tool: m.Tools[i].Name, Detail: err.Error()})
			continue
		}
		l.asked++
		if a := s.req.Question.Put(t); a.Verdict != No {
			l.answers = append(l.answers, Answered{m.Path, m.Tools[i].Name, a})
		}
	}
}
