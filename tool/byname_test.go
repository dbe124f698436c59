package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

const rulesByName = `"fs": [{"lexical_path": ""}],
		"fs_by_name": [
			{"lexical_path": "", "read": true, "update": true},
			{"lexical_path": "", "names": ["*.KEY", "*.pem", ".env"]},
			{"lexical_path": "", "names": ["made"], "read": true, "create": true, "update": true, "delete": true},
			{"lexical_path": "src/.env", "read": true},
			{"lexical_path": "fork", "external": true, "approved_target": "ROOT/fork", "read": true},
			{"lexical_path": "fork", "external": true, "approved_target": "ROOT/fork", "names": ["key*"]}
		],
		"none": [`

// byNamePolicy returns a policy with rules by name for a workspace with names that they are about.
func byNamePolicy(t *testing.T) *Policy {
	t.Helper()
	dir := lay(t)
	for _, name := range []string{
		"ws/.env", "ws/src/.env", "ws/src/deep/.env", "ws/src/a.pem/b", "ws/x.PEM", "ws/made/f", "ws/a/made/.env",
		"ws/a/.env/made", "fork/d/key1", "fork/d/lock",
	} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), testbuild.WriteFile(p, []byte(name),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("src/deep/.env", filepath.Join(dir, "ws/settings")); err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(policy, `"fs": [`)
	c, err := Parse([]byte(strings.ReplaceAll(before+rulesByName+rest, "ROOT", filepath.ToSlash(dir))))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestByName: the checks and the openers judge by rules by name as the policy does.
func TestByName(t *testing.T) {
	c := byNamePolicy(t)
	for path, want := range map[string]ir.CapSet{
		"README": ir.Caps(ir.Read, ir.Update), ".env": 0, "src/.env": ir.Caps(ir.Read), "src/deep/.env": 0,
		"src/a.pem/b": 0, "src/new.pem": 0, "settings": 0,
		"made/f": ir.Write.With(ir.Read), "a/made/.env": 0, "a/.env/made": ir.Write.With(ir.Read), "a/.env/other": 0,
		"fork/d/key1": 0, "fork/d/lock": ir.Caps(ir.Read),
		"x.PEM": ir.Caps(ir.Read, ir.Update),
	} {
		if foldsNames && path == "x.PEM" {
			want = 0
		}
		for need, check := range map[ir.Capability]func(string) (string, error){
			ir.Read: c.CheckRead, ir.Create: c.CheckCreate, ir.Update: c.CheckUpdate, ir.Delete: c.CheckDelete,
		} {
			if _, err := check(path); need != ir.Delete && (err == nil) != want.Has(need) || need == ir.Delete &&
				path != "settings" && (err == nil) != want.Has(need) {
				t.Errorf("%s of %s: %v, want %v", need, path, err, want.Has(need))
			}
		}
		_, err := c.ReadFile(path)
		if denied := errors.As(err, new(*DeniedError)); denied == want.Has(ir.Read) {
			t.Errorf("reading %s: %v", path, err)
		}
	}
	_, err := c.CheckRead("src/deep/.env")
	if want := "read of src/deep/.env is denied by the rule on **/{*.KEY,*.pem,.env}; read is granted at ., " +
		"**/made, src/.env, fork"; err == nil || err.Error() != want {
		t.Errorf("got %v,\nwant %s", err, want)
	}
}

// TestByNameFolded: where names are not told apart by case a rule by name is about all spellings.
func TestByNameFolded(t *testing.T) {
	c := byNamePolicy(t)
	c.decideBy(c.tool, true)
	for path, want := range map[string]bool{"x.PEM": false, "X.Pem": false, "a.key": false, ".ENV": false,
		"README": true, "fork/d/KEY2": false, "fork/d/lock": true} {
		if _, err := c.CheckRead(path); (err == nil) != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// TestPatternsRefused: patterns in another form than a policy has are refused: they would match nothing, or other
// names.
func TestPatternsRefused(t *testing.T) {
	for _, names := range []string{`["*.pem", ".env", "a/b"]`, `["b", "a"]`, `["[a"]`, `["..", "a"]`, `["**"]`,
		`["e\u0301"]`, `[]`} {
		text := strings.Replace(policy, `"fs": [`,
			`"fs": [{"lexical_path": ""}], "fs_by_name": [{"lexical_path": "", "names": `+names+`}], "none": [`, 1)
		if _, err := Parse([]byte(strings.ReplaceAll(text, "ROOT", filepath.ToSlash(lay(t))))); !errors.Is(err,
			ErrContext) {
			t.Errorf("%s: %v", names, err)
		}
	}
}
