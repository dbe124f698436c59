package winjob

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

func external(name, path string) ir.Location {
	return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}, Path: path}
}

func TestPath(t *testing.T) {
	resolved := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "C:/ws", Home: "C:/state/home", External: map[string]string{"deps/fork": "D:/src/fork"},
	}}}
	tmp := ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: "x/y"}
	for _, c := range []struct {
		target backends.Target
		at     ir.Location
		want   string
	}{
		{backends.Target{Form: backends.Portable}, ir.In(""), `${workspace}`},
		{backends.Target{Form: backends.Portable}, ir.In("src/a b"), `${workspace}\src\a b`},
		{backends.Target{Form: backends.Portable}, external("deps/fork", "lib/x"), `${external:deps/fork}\lib\x`},
		{backends.Target{Form: backends.Portable}, ir.Sys("${ProgramFiles(x86)}/Git"), `${ProgramFiles(x86)}\Git`},
		{resolved, ir.In("src"), `C:\ws\src`},
		{resolved, external("deps/fork", ""), `D:\src\fork`},
		{resolved, ir.Sys("C:/Windows/System32"), `C:\Windows\System32`},
		{resolved, tmp, `${tmp}\x\y`},
	} {
		if got := path(c.target, c.at); got != c.want {
			t.Errorf("%s: got %q, want %q", c.at, got, c.want)
		}
	}
}

func TestImpossible(t *testing.T) {
	possible := []string{
		"", "a", "a b", ".env", "CON", "nul", "com1.txt", "trailing.", "trailing ", "ü/ß/漢", strings.Repeat("x", 255), "a;b", "~1",
	}
	for _, p := range possible {
		if impossible(ir.In(p)) {
			t.Errorf("%q is possible: NTFS holds it, by the \\\\?\\ prefix at least", p)
		}
	}
	for _, p := range []string{
		"a:b", "x/a?", "*", `a\b`, `a"b`, "<", ">", "|", "a\tb", "a\x00", "\x1f", "x/" + strings.Repeat("x", 256), "\xff",
		strings.Repeat("😀", 128),
	} {
		if !impossible(ir.In(p)) {
			t.Errorf("no NTFS volume holds %q", p)
		}
	}
	if impossible(ir.Sys("C:/Windows")) || !impossible(ir.Sys("C:/Win:dows")) {
		t.Error("the colon of a drive is one thing, any other is another")
	}
}

// refusals compiles and returns why it was refused.
func refusals(t *testing.T, tool *ir.Tool, target backends.Target) []string {
	t.Helper()
	out, err := Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	var whys []string
	for _, r := range out.Refusals {
		if out.Data != nil {
			t.Error("a refused policy has an artifact")
		}
		whys = append(whys, r.Why)
	}
	return whys
}

func TestRefusals(t *testing.T) {
	bound := func(ws, home string) backends.Target {
		return backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: ws, Home: home}}}
	}
	portable := backends.Target{Form: backends.Portable}
	deep := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 200)+"/", 160), "/")
	for _, c := range []struct {
		name   string
		tool   *ir.Tool
		target backends.Target
		want   string
	}{
		{"nothing", toolWith(t, ".: read", "a: update"), portable, ""},
		{"a host", toolWith(t, ".: read"), bound("C:/ws", "C:/h"), ""},
		{"a path of another system", toolWith(t, ".: read"), bound("/home/me/ws", "C:/h"), "is not an absolute path of Windows"},
		{"a network path", toolWith(t, ".: read"), bound("//server/share/ws", "C:/h"), "network path"},
		{"a very long path", toolWith(t, deep+": read"), portable, "longer than 32000"},
		{"names that differ in case", toolWith(t, "Src/a: read", "src/b: update"), portable, "cannot tell"},
		{"names of rules that differ in case", toolWith(t, "A: read", "a: update"), portable, "cannot tell"},
	} {
		got := refusals(t, c.tool, c.target)
		if c.want == "" && got != nil || c.want != "" && (len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), c.want)) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRefusalNamesTheRule: a refusal points to a place in the configuration.
func TestRefusalNamesTheRule(t *testing.T) {
	tool := toolWith(t, "A: read", "a: update")
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || len(out.Refusals) != 1 || out.Refusals[0].Rule != &tool.FS[1] {
		t.Errorf("%v %+v", err, out.Refusals)
	}
}
