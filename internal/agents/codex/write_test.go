package codex

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// config is a config.toml with the members that this package writes.
type config struct {
	Default     string `toml:"default_permissions"`
	Permissions map[string]struct {
		Filesystem map[string]any `toml:"filesystem"`
		Network    struct {
			Enabled bool `toml:"enabled"`
		} `toml:"network"`
	} `toml:"permissions"`
	Environment struct {
		Inherit string   `toml:"inherit"`
		Exclude []string `toml:"exclude"`
		Only    []string `toml:"include_only"`
	} `toml:"shell_environment_policy"`
}

// model evaluates settings as Codex does on a host where every name exists.
func model(t suite.Failing, data []byte, dir, home string) foreign.Policy {
	var c config
	if err := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields().Decode(&c); err != nil {
		t.Fatal(err, string(data))
	}
	p := c.Permissions[c.Default]
	out := &Model{
		Host:    foreign.Host{Dir: dir, Home: home, Exists: func(string) bool { return true }, Follow: func(abs string) string { return abs }, Existing: true},
		Network: p.Network.Enabled,
	}
	add := func(path string, mode any) {
		if after, ok := strings.CutPrefix(path, "~"); ok {
			path = home + after
		}
		out.Entries = append(out.Entries, Entry{Path: path, Mode: mode.(string)})
	}
	for path, mode := range p.Filesystem {
		below, nested := mode.(map[string]any)
		switch {
		case nested:
			for name, mode := range below {
				add(strings.TrimSuffix(dir+"/"+name, "/."), mode)
			}
		case path == ":minimal":
			out.Minimal = true
		default:
			add(path, mode)
		}
	}
	return out
}

var target = suite.Written{Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model}

// TestFilesAgainstPolicy puts the same questions to random policies and to their profiles. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, suite.Draw, "fs true true exact", "fs true false stricter", "fs false false exact", "fs false true weaker")
}

// TestNetworkIsClosed: no policy opens a host.
func TestNetworkIsClosed(t *testing.T) {
	target.HostsAgainstPolicy(t, 500, 20, "net true false stricter", "net false false exact")
}

// TestVariables: the lists have the variables that the rules name, with the place of a "*" at the end alone.
func TestVariables(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Env = []ir.EnvRule{
		{Name: "PATH", Read: true}, {Name: "LC_", Prefix: true, Read: true}, {Name: "LC_SECRET"}, {Name: "AWS_", Prefix: true},
		{Name: "A", Read: true}, {Name: "A"}, {Name: "", Prefix: true},
	}
	const want = "[shell_environment_policy]\ninherit = \"all\"\nexclude = [\"LC_SECRET\"]\ninclude_only = [\"PATH\", \"LC_*\"]\n"
	if got := environment(tool); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tool.Env = []ir.EnvRule{{Name: "AWS_", Prefix: true}}
	if got := environment(tool); got != "[shell_environment_policy]\ninherit = \"none\"\n" {
		t.Errorf("without variables: %s", got)
	}
}

// TestPatterns: a name that is a pattern has no entry, and the directory in which it is an exception gets no more than
// it. Cause: Codex looks for files alone that match a pattern, so that one for a directory denied nothing.
func TestPatterns(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.All}, {At: ir.In("src/[id]"), Caps: ir.Caps(ir.Read)}, {At: ir.In("lib/*/x")}, {At: ir.In("etc")}, {At: ir.In("etc/?"), Caps: ir.All},
	}
	data := string(target.Compile(t, tool, ir.Bindings{Workspace: "/w"}, true).Output.Data)
	const want = "[permissions.accessc.filesystem.\":workspace_roots\"]\n\".\" = \"write\"\n\"etc\" = \"deny\"\n\"lib\" = \"deny\"\n\"src\" = \"read\"\n\n"
	if !strings.Contains(data, want) {
		t.Error(data)
	}
}
