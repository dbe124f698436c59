package compiler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/irtest"
)

// compileText compiles one layer, with keys that are set over it.
func compileText(t interface{ Fatal(...any) }, dir, text string, sets ...string) *compiler.Result {
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir, Layers: source.Request{Sets: sets}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// vocabulary has the places, hosts and names that a tool's rules may share with presets.
type vocabulary struct{ places, hosts, names []string }

func words() vocabulary {
	v := vocabulary{[]string{".", "a", "a/b"}, []string{"*", "a.com"}, []string{"*", "A"}}
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		for _, list := range []struct {
			key, field string
			to         *[]string
		}{{"fs", "path", &v.places}, {"net", "host", &v.hosts}, {"env", "name", &v.names}} {
			rules := p.Rules.Get(list.key)
			if rules == nil {
				continue
			}
			for _, r := range rules.Array {
				if f := r.Table.Get(list.field); f != nil {
					*list.to = append(*list.to, f.Text, around(list.key, f.Text), f.Text+map[string]string{"fs": "/x", "env": "_X"}[list.key])
				}
			}
		}
	}
	return v
}

// around is a subject that covers another subject.
func around(key, of string) string {
	switch key {
	case "fs":
		return filepath.ToSlash(filepath.Dir(of))
	case "net":
		_, rest, _ := strings.Cut(of, ".")
		return "*." + rest
	default:
		return of[:3] + "*"
	}
}

// drawBeside writes a tool whose rules are about the places, hosts and names of presets.
func drawBeside(t *rapid.T, v vocabulary) string {
	var b strings.Builder
	b.WriteString("[tools.t]\nsource = \"local\"\ncommand = \"ls\"\n")
	if rapid.Bool().Draw(t, "files") {
		drawList(t, &b, "fs", func() string {
			p := rapid.SampledFrom(v.places).Draw(t, "path")
			return fmt.Sprintf("{ path = %q, external = %v, read = %v, write = %v, execute = %v }", p, p[0] == '~',
				rapid.Bool().Draw(t, "read"), rapid.Bool().Draw(t, "write"), rapid.Bool().Draw(t, "execute"))
		})
	}
	if rapid.Bool().Draw(t, "env") {
		drawList(t, &b, "env", func() string {
			return fmt.Sprintf("{ name = %q, read = %v }", rapid.SampledFrom(v.names).Draw(t, "name"), rapid.Bool().Draw(t, "read"))
		})
	}
	if rapid.Bool().Draw(t, "net") {
		drawList(t, &b, "net", func() string {
			more := rapid.SampledFrom([]string{
				"", `, scheme = "https"`, `, scheme = "tcp", port = 443`, `, path_prefix = "/a"`, `, inspect = true, methods = ["GET"]`,
				`, inspect = true, credential = { env = "T", as = "header", name = "X" }`,
			}).Draw(t, "more")
			host := rapid.SampledFrom(v.hosts).Draw(t, "host")
			if rapid.IntRange(0, 3).Draw(t, "listen") == 0 {
				host, more = "localhost", `, listen = true, port = 1455`
			}
			allow := rapid.Bool().Draw(t, "allow") || strings.Contains(more, "credential")
			return fmt.Sprintf("{ host = %q%s, allow = %v }", host, more, allow)
		})
	}
	return b.String()
}

// TestPresetsNeverNarrow: a tool keeps every permission with any preset but the preset of secrets.
// See decision D190.
func TestPresetsNeverNarrow(t *testing.T) {
	emptyEnvironment(t)
	v := words()
	dir := t.TempDir()
	widened := 0
	add := slices.DeleteFunc(presets.Names(), func(name string) bool { return name == "secrets" })
	irtest.Check(t, 10_000, 1, func(rt *rapid.T) {
		text := drawBeside(rt, v)
		var names []string
		for range rapid.IntRange(1, 2).Draw(rt, "presets") {
			names = append(names, `"preset:`+rapid.SampledFrom(add).Draw(rt, "preset")+`"`)
		}
		without := compileText(rt, dir, text)
		if without.Findings.Failed() {
			return
		}
		with := compileText(rt, dir, text, "tools.t.access.extends=["+strings.Join(names, ",")+"]")
		if with.Findings.Failed() {
			rt.Fatalf("%s: %v\n%s", names, with.Findings, text)
		}
		for _, d := range compare.Policies(compare.Policy{Tool: without.Program.Tools[0]}, compare.Policy{Tool: with.Program.Tools[0]}) {
			if !d.Wider {
				rt.Fatalf("%s: takes away %s %s (%s)\n%s", names, d.What, d.Where, d.Example, text)
			}
			widened++
		}
	})
	if widened == 0 {
		t.Error("no preset gave anything")
	}
}

// TestPresetsGive: each preset gives the default policy something, by rules whose places are in it,
// and leaves the defaults in place.
func TestPresetsGive(t *testing.T) {
	emptyEnvironment(t)
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		res := compileText(t, t.TempDir(), "extends = [\"preset:"+name+"\"]\n[tools.t]\nsource = \"local\"\n")
		if len(res.Findings) > 0 {
			t.Errorf("%s: %v", name, res.Findings)
			continue
		}
		tool := res.Program.Tools[0]
		given := 0
		for _, r := range rulesOf(tool) {
			if o := r.Source(); o.Layer == ir.LayerPreset {
				given++
				if line, ok := res.Files.Line(o.Pos.File, o.Pos.Line); o.Pos.File != p.String() || !ok || line == "" {
					t.Errorf("%s: a rule of %v", name, o)
				}
			}
		}
		if given == 0 || tool.Declared != (ir.Declared{}) || tool.Commands != nil {
			t.Errorf("%s: gives %d rules, declared %+v", name, given, tool.Declared)
		}
		if v := ir.NewView(tool, ir.Linux, ir.Facts{}).Decide(ir.Access{Cap: ir.Create, On: ir.Direct(ir.In("a"))}); !v.Allowed() {
			t.Errorf("%s takes the workspace away", name)
		}
	}
}

func rulesOf(t *ir.Tool) []ir.Rule {
	var out []ir.Rule
	for i := range t.FS {
		out = append(out, &t.FS[i])
	}
	for i := range t.Net {
		out = append(out, &t.Net[i])
	}
	for i := range t.Env {
		out = append(out, &t.Env[i])
	}
	return out
}

// TestPresetBelow: where a rule of the tool's own names a place or a host, the preset's rules at and
// below it are left out, and elsewhere they are not.
// See decision D190.
func TestPresetBelow(t *testing.T) {
	emptyEnvironment(t)
	of := func(access string) []string {
		res := compileText(t, t.TempDir(), "[tools.t]\nsource = \"local\"\n[tools.t.access]\nextends = [\"preset:rust\", \"preset:cargo-registry\"]\n"+access)
		var out []string
		for _, r := range rulesOf(res.Program.Tools[0]) {
			if r.Source().Layer == ir.LayerPreset {
				out = append(out, r.Subject())
			}
		}
		return out
	}
	all := []string{"~/.cargo/bin", "~/.rustup", "https://index.crates.io", "https://static.crates.io", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"}
	for access, gone := range map[string][]string{
		"":                                     nil,
		`fs = [{ path = "src", read = true }]`: {},
		`fs = [{ path = "~/.cargo", external = true, read = true }]`:          {"~/.cargo/bin"},
		`fs = [{ path = "~/.cargo/bin", external = true }]`:                   {"~/.cargo/bin"},
		`fs = [{ path = "~/.cargo/bin/x", external = true, read = true }]`:    {},
		`fs = [{ path = "~/.rustup/tmp/..", external = true }]`:               {"~/.rustup", "RUSTUP_HOME"},
		`fs = [{ path = "~/.rustupper", external = true, read = true }]`:      {},
		`net = [{ host = "*.crates.io" }]`:                                    {"https://index.crates.io", "https://static.crates.io"},
		`net = [{ host = "index.crates.io", path_prefix = "/a", allow=true}]`: {"https://index.crates.io"},
		`net = [{ host = "crates.io" }]`:                                      {},
		`env = [{ name = "RUSTUP_*" }]`:                                       {"RUSTUP_HOME", "RUSTUP_TOOLCHAIN"},
		`env = [{ name = "RUSTUP_*", read = true }]`:                          {},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(gone, s) })
		if got := of(access); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", access, got, want)
		}
	}
}

// approvalCase has the layers that name the preset rust, on a host that has the toolchains and no
// approval.
type approvalCase struct {
	workspace, user, inside string
	sets                    []string
	link                    bool
	want                    []string
	dropped                 int
}

func (c approvalCase) compile(t *testing.T) (res *compiler.Result, home string) {
	dir, home := t.TempDir(), t.TempDir()
	user, place := filepath.Join(home, "config.toml"), filepath.Join(home, ".rustup")
	if c.inside != "" {
		user, c.user = filepath.Join(dir, "config.toml"), c.inside
	}
	if c.link {
		if err := os.Symlink("elsewhere", place); err != nil {
			t.Skip(err)
		}
		place = filepath.Join(home, "elsewhere")
	}
	if err := os.Mkdir(place, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{filepath.Join(dir, "accessc.toml"): c.workspace, user: c.user} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now,
		Root: dir, Layers: source.Request{User: user, Home: home, Sets: c.sets},
		Approved: func(string, string) (bool, string) { return false, "" },
	})
	if err != nil || res.Program == nil {
		t.Fatal(err, res.Findings)
	}
	return res, home
}

// TestPresetApproval: a preset needs approvals unless the user's own layer or the command line names
// it, and its places lie where their names say. A missing place is left out without a finding.
// See decision D190.
func TestPresetApproval(t *testing.T) {
	emptyEnvironment(t)
	const own = "access.extends = [\"preset:rust\"]\n"
	const by = "tools.t." + own
	tool := "[tools.t]\nsource = \"local\"\n"
	for name, c := range map[string]approvalCase{
		"the repository":                  {workspace: tool + own, dropped: 1},
		"the repository's whole file":     {workspace: "extends = [\"preset:rust\"]\n" + tool, dropped: 1},
		"the user":                        {workspace: tool, user: by, want: []string{"~/.rustup"}},
		"both":                            {workspace: tool + own, user: by, want: []string{"~/.rustup"}},
		"a user's layer in the workspace": {workspace: tool, inside: by, dropped: 1},
		"the command line":                {workspace: tool, sets: []string{`tools.t.access.extends=["preset:rust"]`}, want: []string{"~/.rustup"}},
		"a symlink of the home":           {workspace: tool, user: by, link: true, dropped: 1},
		"another preset":                  {workspace: tool, user: strings.ReplaceAll(by, "rust", "go")},
	} {
		t.Run(name, func(t *testing.T) {
			res, home := c.compile(t)
			var got []string
			for _, r := range rulesOf(res.Program.Tools[0]) {
				if f, ok := r.(*ir.FSRule); ok && f.External {
					got = append(got, f.Subject())
				}
				if e, ok := r.(*ir.EnvRule); ok && e.Name == "RUSTUP_HOME" && (len(c.want) == 0 || e.Value != filepath.ToSlash(home)+"/.rustup") {
					t.Errorf("RUSTUP_HOME is %s", e.Value)
				}
			}
			if !slices.Equal(got, c.want) || len(res.Findings) != c.dropped {
				t.Errorf("got %q, want %q; %v", got, c.want, res.Findings)
			}
		})
	}
}
