package build

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// External is a backend of others, which several goroutines use at a time.
type External interface {
	Name() string
	Compile(t *ir.Tool) (*external.Compiled, error)
}

// ExternalEntry is what a backend of others has made of a tool, and how it says that the program that reads it holds
// the policy. Its rows are none of the tool's own ledger: no start by accessc relies on them.
type ExternalEntry struct {
	Backend   string   `json:"backend"`            // its name
	Platform  string   `json:"platform,omitempty"` // empty for any
	Artifacts []string `json:"artifacts"`          // names, of those of the tool
	// Ledger states each cell of the policy once; its platform is above.
	Ledger []backends.Row `json:"ledger"`
}

// compileExternal adds the files of backends of others to those of a tool.
func compileExternal(t *ir.Tool, all []External, files map[string][]byte) ([]ExternalEntry, diag.List, error) {
	var out []ExternalEntry
	var findings diag.List
	for _, x := range all {
		c, err := x.Compile(t)
		if err != nil {
			return nil, nil, inBackend(x, t, err)
		}
		for _, r := range c.Refusals {
			findings.Add(refusal(x, t, r))
		}
		e := ExternalEntry{Backend: x.Name(), Artifacts: []string{}, Ledger: backends.NewRows(c.Ledger)}
		for _, f := range c.Files {
			for name := range files {
				// Some file systems do not tell such names apart.
				if strings.EqualFold(name, f.Name) {
					return nil, nil, inBackend(x, t, errors.New("another backend writes "+name+" as well"))
				}
			}
			files[f.Name] = []byte(f.Text)
			e.Artifacts = append(e.Artifacts, f.Name)
		}
		if c.Platform != 0 {
			e.Platform = c.Platform.String()
		}
		for i := range e.Ledger {
			e.Ledger[i].Platform = ""
		}
		slices.Sort(e.Artifacts)
		out = append(out, e)
	}
	return out, findings, nil
}

// external compares what a manifest says of backends of others with what those that the user names make of the policy.
// It returns the artifacts that were compared, or whose backend was not named.
func (v *verifier) external(e *Entry, t *ir.Tool) (map[string]bool, error) {
	known := map[string]bool{}
	for i := range e.External {
		said := &e.External[i]
		same := func(x ExternalEntry) bool { return x.Backend == said.Backend }
		if slices.ContainsFunc(e.External[:i], same) {
			v.add(ToolLedger, e.Name, "the backend %q of others is there twice", said.Backend)
			continue
		}
		at := slices.IndexFunc(v.others, func(x External) bool { return x.Name() == said.Backend })
		if at < 0 {
			const why = "what the backend %q of others has made is not checked; name it with --target"
			v.add(ArtifactUnknown, e.Name, why, said.Backend)
			for _, name := range said.Artifacts {
				known[name] = true
			}
			continue
		}
		files := map[string][]byte{}
		want, findings, err := compileExternal(t, v.others[at:at+1], files)
		if err != nil {
			return nil, err
		}
		if findings.Failed() {
			v.add(ToolPolicy, e.Name, "the policy does not compile: %s", findings[0].Label)
			continue
		}
		if !reflect.DeepEqual(want[0], *said) {
			v.add(ToolLedger, e.Name, "the backend %s says otherwise of the policy than the manifest", said.Backend)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if known[name] = true; e.Artifacts[name] != Hash(files[name]) {
				const why = "%s/%s differs from what the backend %s makes of the policy"
				v.add(ArtifactDiffers, e.Name, why, e.Name, name, said.Backend)
			}
		}
	}
	return known, nil
}
