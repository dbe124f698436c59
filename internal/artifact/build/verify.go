package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/ir"
)

// Class is a kind of problem of a manifest or its artifacts.
type Class string

// The classes.
const (
	// ManifestHash: the hash over all tools and rulesets differs.
	ManifestHash Class = "manifest.hash"
	// RulesetPolicy: a ruleset cannot be read, or two entries have its name.
	RulesetPolicy Class = "ruleset.policy"
	// RulesetHash: the hash of a ruleset differs.
	RulesetHash Class = "ruleset.hash"
	// RulesetLedger: a ruleset is said to be held otherwise than rulesets are.
	RulesetLedger Class = "ruleset.ledger"
	// ToolName: the name cannot be a directory, or two entries have it.
	ToolName Class = "tool.name"
	// ToolPolicy: a confined tool has no policy that can be read, or another tool has a policy.
	ToolPolicy Class = "tool.policy"
	// ToolHash: the hash of the policy differs.
	ToolHash Class = "tool.hash"
	// ToolSummary: the risk, the source or the sensitive paths are not the policy's.
	ToolSummary Class = "tool.summary"
	// ToolLedger: the ledger is not the policy's.
	ToolLedger Class = "tool.ledger"
	// ArtifactMissing: a listed artifact cannot be read.
	ArtifactMissing Class = "artifact.missing"
	// ArtifactHash: an artifact has another hash.
	ArtifactHash Class = "artifact.hash"
	// ArtifactUnlisted: there is an artifact that the manifest does not list.
	ArtifactUnlisted Class = "artifact.unlisted"
	// ArtifactUnknown: no backend writes an artifact of that name.
	ArtifactUnknown Class = "artifact.unknown"
	// ArtifactDiffers: an artifact has the listed hash and says something else than the
	// policy.
	ArtifactDiffers Class = "artifact.differs"
)

// Problem is a thing that is wrong.
type Problem struct {
	Class Class
	// Tool is empty for a problem of all of them.
	Tool   string
	Detail string
}

// Verify checks a manifest against itself and against the directory that it lies in. The
// policies in it are compiled anew and compared with the artifacts; those of a resolved build
// depend on the host that made them, so of these only the hashes are checked. What a backend of others has made, and is not
// among those given, is a problem.
func Verify(m *Manifest, dir string, bs []backends.Backend, others ...External) ([]Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &verifier{root: root, backends: bs, others: others, form: m.Form}
	err = v.manifest(m, func(i int) error { return v.entry(&m.Tools[i]) })
	return v.problems, err
}

// manifest checks the hash over all tools, each tool that has a name of its own, and the rulesets.
func (v *verifier) manifest(m *Manifest, tool func(i int) error) error {
	sealed := *m
	if sealed.seal(); sealed.Policy != m.Policy {
		v.add(ManifestHash, "", "the hash over all tools is %s, the manifest says %s", sealed.Policy, m.Policy)
	}
	seen := map[string]bool{}
	for i := range m.Tools {
		name := m.Tools[i].Name
		if seen[name] || !singleName(name) {
			v.add(ToolName, name, "found a name that is no directory's, or twice")
			continue
		}
		seen[name] = true
		if err := tool(i); err != nil {
			return err
		}
	}
	v.rulesets(m.Rulesets)
	return nil
}

// Inspected is a tool of a manifest that was checked against itself.
type Inspected struct {
	Entry *Entry
	// Tool is the tool that the entry describes, nil where that cannot be read.
	Tool *ir.Tool
	// View is its policy on Linux, nil for a tool that accessc does not confine.
	View *ir.View
	// Hash is the hash of the policy that is there, whatever the entry claims.
	Hash string
}

// Inspect checks a manifest against itself and no other file: every hash, and the summary of each policy. With
// backends, policies of a portable build are compiled anew and compared with the hashes of the artifacts and the
// ledger. Each tool is handed to take, except tools whose names are no directory's, or another tool's: these are
// problems.
func Inspect(m *Manifest, bs []backends.Backend, take func(Inspected) error) ([]Problem, error) {
	v := &verifier{backends: bs, form: m.Form}
	err := v.manifest(m, func(i int) error {
		e := &m.Tools[i]
		t, view, hash, err := v.alone(e)
		if err == nil {
			err = take(Inspected{e, t, view, hash})
		}
		if err != nil || view == nil || len(bs) == 0 || v.form != backends.Portable.String() {
			return err
		}
		return v.compiled(e, t, func(string) bool { return true })
	})
	return v.problems, err
}

// Beside is the artifacts in a manifest's directory.
type Beside struct {
	Match int // have the hash that is listed
	// Absent counts the artifacts of tools that have no directory here, such as where only the manifest was
	// copied.
	Absent int
}

// Artifacts compares the artifacts that entries list with the artifacts in a directory. That all of a tool's
// are not there is no problem.
func Artifacts(root *os.Root, entries []Entry, bs []backends.Backend) (Beside, []Problem) {
	var out Beside
	v := &verifier{root: root, backends: bs}
	for i := range entries {
		e := &entries[i]
		if !singleName(e.Name) || len(e.Artifacts) == 0 {
			continue
		}
		if _, err := root.Lstat(e.Name); errors.Is(err, fs.ErrNotExist) {
			out.Absent += len(e.Artifacts)
			continue
		}
		out.Match += len(v.files(e))
		if err := v.unlisted(e); err != nil {
			v.add(ArtifactMissing, e.Name, "%v", err)
		}
	}
	return out, v.problems
}

// rulesets checks that each ruleset can be read and has the hash that is listed.
func (v *verifier) rulesets(all []entry.Ruleset) {
	seen := map[string]bool{}
	for _, r := range all {
		name := "ruleset " + r.Name
		if _, err := r.Set(workspace); err != nil {
			v.add(RulesetPolicy, name, "%v", err)
			continue
		}
		if seen[r.Name] {
			v.add(RulesetPolicy, name, "found a name twice")
		}
		seen[r.Name] = true
		if bare, err := r.Bare(); err != nil || Hash(bare) != r.Hash {
			v.add(RulesetHash, name, "the rules have the hash %s, the manifest says %s", Hash(bare), r.Hash)
		}
		if r.Is != entry.RulesetLevel.String() {
			v.add(RulesetLedger, name, "rulesets are %s, the manifest says %s", entry.RulesetLevel, r.Is)
		}
	}
}

type verifier struct {
	root     *os.Root
	backends []backends.Backend
	others   []External
	form     string
	problems []Problem
}

func (v *verifier) add(c Class, tool, format string, args ...any) {
	v.problems = append(v.problems, Problem{c, tool, fmt.Sprintf(format, args...)})
}

func (v *verifier) entry(e *Entry) error {
	files := v.files(e)
	if err := v.unlisted(e); err != nil {
		return err
	}
	t, view, _, err := v.alone(e)
	if err != nil || view == nil || v.form != backends.Portable.String() {
		return err
	}
	return v.compiled(e, t, func(name string) bool { _, ok := files[name]; return ok })
}

// alone checks an entry without its artifacts, and returns its tool, the policy of a confined tool, and the
// policy's hash.
func (v *verifier) alone(e *Entry) (t *ir.Tool, view *ir.View, hash string, err error) {
	t, problem := e.tool()
	switch {
	case problem != nil:
		v.add(ToolPolicy, e.Name, "%v", problem)
		return nil, nil, "", nil
	case t.Name != e.Name, t.Source.String() != e.Source, (t.Source.Kind == ir.SourceLocal) != e.Confined:
		v.add(ToolSummary, e.Name, "the entry says %s, source %s; its policy says %s, source %s", e.Name, e.Source,
			t.Name, t.Source)
		return nil, nil, "", nil
	case !e.Confined && (e.Policy != nil || len(e.Artifacts)+len(e.External) > 0):
		v.add(ToolPolicy, e.Name, "a tool that is not confined has a policy or artifacts")
		return nil, nil, "", nil
	}
	if e.Confined {
		view = ir.NewView(t, ir.Linux, ir.Facts{})
	}
	hash, err = v.summary(e, t, view)
	return t, view, hash, err
}

// summary checks an entry's summary of its policy, and returns the hash of that.
func (v *verifier) summary(e *Entry, t *ir.Tool, view *ir.View) (hash string, err error) {
	if hash, err = Policy(t); err != nil {
		return "", err
	}
	if e.Hash != hash {
		v.add(ToolHash, e.Name, "the policy has the hash %s, the manifest says %s", hash, e.Hash)
	}
	if view == nil {
		return hash, nil
	}
	if risk := view.Risk().String(); e.Risk != risk {
		v.add(ToolSummary, e.Name, "the risk of the policy is %s, the manifest says %s", risk, e.Risk)
	}
	if exposed := view.Exposed(); !slices.Equal(exposed, e.Sensitive) {
		v.add(ToolSummary, e.Name, "the policy reaches the sensitive paths %v, the manifest says %v",
			exposed, e.Sensitive)
	}
	return hash, nil
}

// files reads the artifacts that have the hash that is listed.
func (v *verifier) files(e *Entry) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(e.Artifacts)) {
		p := e.Name + "/" + name
		if !singleName(name) {
			v.add(ArtifactUnknown, e.Name, "%q is no file's name", name)
			continue
		}
		data, err := readIn(v.root, p)
		switch {
		case err != nil:
			v.add(ArtifactMissing, e.Name, "%v", err)
		case data == nil:
			v.add(ArtifactMissing, e.Name, "%s is not there", p)
		case Hash(data) != e.Artifacts[name]:
			v.add(ArtifactHash, e.Name, "%s has the hash %s, the manifest says %s", p, Hash(data), e.Artifacts[name])
		default:
			out[name] = data
		}
	}
	return out
}

// unlisted looks for files that a system would take for artifacts of the tool.
func (v *verifier) unlisted(e *Entry) error {
	for _, b := range v.backends {
		if _, listed := e.Artifacts[b.File()]; listed {
			continue
		}
		_, err := v.root.Lstat(e.Name + "/" + b.File())
		switch {
		case err == nil:
			v.add(ArtifactUnlisted, e.Name, "%s/%s is not in the manifest", e.Name, b.File())
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// compiled compares the ledger, and the hashes of some artifacts, with the ledger and the artifacts that
// the policy compiles to.
func (v *verifier) compiled(e *Entry, t *ir.Tool, some func(name string) bool) error {
	var bs []backends.Backend
	known, err := v.external(e, t)
	if err != nil {
		return err
	}
	for _, b := range v.backends {
		if _, listed := e.Artifacts[b.File()]; listed {
			bs = append(bs, b)
			known[b.File()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Artifacts)) {
		if !known[name] && singleName(name) {
			v.add(ArtifactUnknown, e.Name, "nothing here writes %s/%s", e.Name, name)
		}
	}
	out, findings, err := Compile(t, bs, backends.Target{Form: backends.Portable})
	switch {
	case err != nil:
		return err
	case findings.Failed():
		v.add(ToolPolicy, e.Name, "the policy does not compile: %s", findings[0].Label)
		return nil
	}
	for _, b := range bs {
		if some(b.File()) && e.Artifacts[b.File()] != Hash(out.Files[b.File()]) {
			v.add(ArtifactDiffers, e.Name, "%s/%s differs from the artifact that this version compiles from the policy",
				e.Name, b.File())
		}
	}
	if !reflect.DeepEqual(rows(out.Ledger, evidence.Committed()), e.Ledger) {
		v.add(ToolLedger, e.Name, "the ledger is not the one of this version for the policy")
	}
	return nil
}
