package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// over compiles the text of a layer over lower, trusted or not, and returns the codes of the findings as well.
func over(t *testing.T, upper string, trusted bool) (*compiler.Result, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "upper.toml")
	for name, text := range map[string]string{filepath.Join(dir, "accessc.toml"): lower, file: "[tools.x]\n" + upper} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	layers := source.Request{Untrusted: []string{file}}
	if trusted {
		layers = source.Request{Configs: []string{file}}
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir, Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, f := range res.Findings {
		codes = append(codes, string(f.Code))
	}
	return res, strings.Join(codes, " ")
}

const lower = `[tools.x]
source = "local"
access.fs = [{ path = "src", read = true }, { path = "src/gen" }, { path = ".", names = ["*.pem"] }]
access.net = [{ host = "a.test", allow = true }, { host = "a.test", port = 8443, allow = true }]
access.env = [{ name = "TOKEN", read = true }, { name = "CI", read = true }]
`

// TestRemove: before, a layer could override a rule of a lower layer and not take it away, so that what the rule was an
// exception of came back. The rule that is left decides, and the tool knows both places.
func TestRemove(t *testing.T) {
	res, codes := over(t, `access.fs = [{ path = "./src/gen", remove = true }]
access.net = [{ host = "a.test", port = 8443, remove = true }]
access.env = [{ name = "TOKEN", remove = true }]
`, true)
	if res.Program == nil || codes != "" {
		t.Fatal(res.Findings)
	}
	got := res.Program.Tools[0]
	if len(got.FS) != 2 || len(got.Net) != 1 || got.Net[0].Port != 0 {
		t.Errorf("left are %v and %v", got.FS, got.Net)
	}
	v := ir.NewView(got, ir.Linux, ir.Facts{})
	if d := v.Decide(ir.Access{Cap: ir.Read, On: ir.Place{At: ir.In("src/gen/a")}}); !d.Allowed() {
		t.Errorf("src/gen/a: %v", d)
	}
	if v.Decide(ir.Forward{Name: "TOKEN"}).Allowed() || !v.Decide(ir.Forward{Name: "CI"}).Allowed() {
		t.Error("the variables are not those that are left")
	}
	var said []string
	for _, r := range got.Removed {
		at := strings.NewReplacer(filepath.Dir(r.By.Pos.File)+"/", "").Replace(r.Was.String() + " " + r.By.String())
		said = append(said, r.Resource.String()+" "+r.Subject+" "+at)
	}
	want := "fs src/gen accessc.toml:3 upper.toml:2, net a.test:8443 accessc.toml:4 upper.toml:3, " +
		"env TOKEN accessc.toml:5 upper.toml:4"
	if s := strings.Join(said, ", "); s != want {
		t.Errorf("removed %s\nwant    %s", s, want)
	}
}

// TestRemoveRefused: what a layer takes away in vain would stay, and a list without rules would have the default, so
// both are errors. Rules of one layer are no layer below each other.
func TestRemoveRefused(t *testing.T) {
	for upper, code := range map[string]string{
		`access.fs = [{ path = "lib", remove = true }]`:                                       "ACC061",
		`access.fs = [{ path = ".", remove = true }]`:                                         "ACC061",
		`access.fs = [{ path = "lib", read = true }, { path = "lib", remove = true }]`:        "ACC061",
		`access.env = [{ name = "TOKEN", remove = true }, { name = "CI", remove = true }]`:    "ACC015",
		`access.fs = [{ path = "src", read = true, remove = true }]`:                          "ACC013",
		`access.net = [{ host = "a.test", port = 8443, allow = false, remove = true }]`:       "ACC013",
		`access.fs = { strategy = "replace", value = [{ path = "src/gen", remove = true }] }`: "ACC015",
		`access.may = [{ path = "src", remove = true }]`:                                      "ACC049",
	} {
		if res, got := over(t, upper, true); res.Program != nil || !strings.Contains(got, code) {
			t.Errorf("%s: findings %q, want %s", upper, got, code)
		}
	}
}

// TestRemoveOnlyNarrows: a layer that may only narrow takes grants away, and no denial.
func TestRemoveOnlyNarrows(t *testing.T) {
	if res, got := over(t, `access.net = [{ host = "a.test", port = 8443, remove = true }]`, false); got != "" {
		t.Errorf("taking a grant away: %v", res.Findings)
	}
	if _, got := over(t, `access.fs = [{ path = "src/gen", remove = true }]`, false); !strings.Contains(got, "ACC025") {
		t.Errorf("taking a denial away: %q", got)
	}
}
