package build_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
)

// other is a backend of others, with one file and no rows.
type other struct{}

func (other) Name() string { return "other" }

func (other) Compile(t *ir.Tool) (*external.Compiled, error) {
	reply := `{"format": "accessc/backend", "format_version": 1, "files": [{"name": "other.txt", "text": "` + t.Name + `"}]}`
	return external.ReadCompiled([]byte(reply), t, nil)
}

// TestExternalIsNotBelieved: a manifest that names a backend of others is checked by running that backend, and only by
// that; and it says one thing of each.
func TestExternalIsNotBelieved(t *testing.T) {
	entry := build.ExternalEntry{Backend: "other", Artifacts: []string{"other.txt"}}
	for name, c := range map[string]struct {
		external []build.ExternalEntry
		others   []build.External
		want     build.Class
	}{
		"not named": {[]build.ExternalEntry{entry}, nil, build.ArtifactUnknown},
		"rows":      {[]build.ExternalEntry{entry}, []build.External{other{}}, build.ToolLedger},
		"files":     {[]build.ExternalEntry{entry}, []build.External{other{}}, build.ArtifactDiffers},
		"twice":     {[]build.ExternalEntry{entry, entry}, nil, build.ToolLedger},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m := built(t)
			m.Tools[slices.IndexFunc(m.Tools, confined)].External = c.external
			problems, err := build.Verify(m, dir, slices.Concat(registry.All, registry.Optional), c.others...)
			if err != nil || !slices.ContainsFunc(problems, func(p build.Problem) bool { return p.Class == c.want }) {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
	dir, m := built(t)
	i := slices.IndexFunc(m.Tools, func(e build.Entry) bool { return !e.Confined })
	m.Tools[i].External = []build.ExternalEntry{entry}
	if got := verify(t, m, dir); !slices.Contains(got, build.ToolPolicy) {
		t.Errorf("a tool that is not confined has a backend: %v", got)
	}
}

// named is a backend of others whose file has a name.
type named string

func (n named) Name() string { return "x" + strings.ToLower(string(n[:1])) + strconv.Itoa(int(n[0])) }

func (n named) Compile(t *ir.Tool) (*external.Compiled, error) {
	reply := `{"format": "accessc/backend", "format_version": 1, "files": [{"name": "` + string(n) + `", "text": ""}]}`
	return external.ReadCompiled([]byte(reply), t, nil)
}

// TestExternalNamesFold: two backends of others write no names that some file systems do not tell apart. Cause: the
// names were compared exactly.
func TestExternalNamesFold(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	_, _, err := build.Write(build.Request{
		Program: &ir.Program{Tools: []*ir.Tool{tool}}, Backends: registry.All, Form: backends.Portable,
		External: []build.External{named("a.txt"), named("A.txt")},
	}, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "another backend writes") {
		t.Error(err)
	}
}
