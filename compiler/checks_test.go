package compiler_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
)

// TestUntrustedChecks: an untrusted layer takes no check from the policy, turns none into its opposite, and starts
// no tool unasked.
func TestUntrustedChecks(t *testing.T) {
	emptyEnvironment(t)
	const own = "[tools.t]\nsource = \"local\"\ncommand = \"ls\"\nrun = \"ask\"\n" +
		"access.tests = [{ deny = [\"read .env\"] }]\naccess.fs = [{ path = \"src\", read = true }]\n"
	instead := func(tests string) string {
		return "access.tests = { strategy = \"replace\", value = [" + tests + "] }\n"
	}
	for layer, want := range map[string]bool{
		"":                                   true,
		"run = \"ask\"\n":                    true,
		"run = \"unattended\"\n":             false,
		instead(`{ deny = ["read .git"] }`):  false,
		instead(`{ allow = ["read .env"] }`): false,
		instead(`{ deny = ["read .env", "read .git"] }`): true,
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"accessc.toml": own, "narrow.toml": "[tools.t]\n" + layer} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir,
			Layers: source.Request{Untrusted: []string{filepath.Join(dir, "narrow.toml")}}})
		if err != nil {
			t.Fatal(err)
		}
		widens := slices.ContainsFunc(res.Findings, func(d diag.Diagnostic) bool { return d.Code == diag.Widens })
		if widens == want {
			t.Errorf("%s: %v", layer, res.Findings)
		}
	}
}

// TestTargetsOverlap: external rules that reach one place by different names have the same capabilities there,
// whichever of them has more.
func TestTargetsOverlap(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	emptyEnvironment(t)
	for rules, overlap := range map[string]bool{
		"{ path = \"all\", external = true, read = true, write = true }, { path = \"part\", external = true, read = true }": true,
		"{ path = \"all\", external = true, read = true }, { path = \"part\", external = true, read = true, write = true }": true,
		"{ path = \"all\", external = true, read = true }, { path = \"part\", external = true, read = true }":               false,
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(dir, "ws")
		for _, d := range []string{root, filepath.Join(dir, "data/part")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for link, target := range map[string]string{"all": "data", "part": "data/part"} {
			if err := os.Symlink(filepath.Join(dir, target), filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		layer := "[tools.t]\nsource = \"local\"\naccess.fs = [" + rules + "]\n"
		if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(layer), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root, Approved: func(string, string) (bool,
			string) {
			return true, ""
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(res.Findings,
			func(d diag.Diagnostic) bool { return d.Code == diag.TargetsOverlap }); got != overlap {
			t.Errorf("%s: %v", rules, res.Findings)
		}
	}
}
