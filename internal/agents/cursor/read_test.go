package cursor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// drawSettings draws a sandbox.json.
func drawSettings(r *rand.Rand, home string) string {
	paths := func() string {
		return suite.Pick(r, home+"/x", home+"/x/y", home+"/ws/src", home+"/ws/a/b", home+"/ws/link", "/opt/z", "~/x", "a", "./src", home+"/x/", home+"/x/../x", home, "a/b/k.pem", home+"/ws/x y")
	}
	hosts := func() string {
		return suite.Pick(r, "a.test", "*.a.test", "b.a.test", "c.test", "*", "10.0.0.1", "localhost", "a.test:22", "*.b.a.test")
	}
	doc := map[string]any{
		"additionalReadwritePaths": suite.Some(r, 3, paths), "additionalReadonlyPaths": suite.Some(r, 2, paths),
		"networkPolicy": map[string]any{
			"default": suite.Pick(r, "deny", "deny", "allow"), "allow": suite.Some(r, 4, hosts),
			"deny": suite.Some(r, 2, func() string { return suite.Pick(r, "a.test", "*.a.test", "b.a.test", "q.test", "10.0.0.1", "*") }),
		},
	}
	if r.IntN(3) > 0 {
		doc["type"] = suite.Pick(r, "workspace_readwrite", "workspace_readwrite", "workspace_readonly", "insecure_none")
	}
	if r.IntN(3) == 0 {
		doc["readBoundary"] = suite.Pick(r, "system", "workspace")
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any sandbox.json of Cursor, the result permits nothing that it does not.
func TestCursorNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, f := range []string{"/x/.git", "/ws/src/.cursor", "/x/y/z.key"} {
		if err := os.MkdirAll(w.Home+f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var runs, written atomic.Int64
	suite.Drawn(t, 500, func(r *rand.Rand) error {
		runs.Add(1)
		text := drawSettings(r, w.Home)
		res, err := w.Run("sandbox.json", text, importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if strings.Contains(res.Text, "write = true") {
			written.Add(1)
		}
		return w.Agrees(r, res, text, res.Policy)
	})
	if runs.Load() > suite.Several && written.Load()*2 < runs.Load() {
		t.Errorf("%d of %d results write", written.Load(), runs.Load())
	}
}

// TestCursorIgnoreLines: what each line of a .cursorignore becomes, and what is said of it.
func TestCursorIgnoreLines(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	lines := []string{
		"# a comment", "k.pem", "/a", "src/b", "dist/", "!dist/index.js", "logs/**", "**/deep", "a/**/x", "*.log  ", "/", "id_[rd]sa",
	}
	text := "\ufeff" + strings.Join(lines, "\r\n")
	if err := os.WriteFile(w.Dir+"/.cursorignore", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.Dir+"/.cursorindexingignore", []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := w.Run("sandbox.json", `{"networkPolicy": {}}`, importer.Refuse)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range res.Entries {
		if strings.HasPrefix(e.Key, ".cursor") {
			got = append(got, fmt.Sprintf("%d %s: %s, %s", e.Line, e.Text, e.Fate, e.Why))
		}
	}
	want := []string{
		"1 : left out, it keeps files from the index, and from no command",
		"2 k.pem: carried over, access.fs ., names k.pem",
		"3 /a: carried over, access.fs a",
		"4 src/b: carried over, access.fs src/b",
		"5 dist/: narrowed, a file of that name is closed as well",
		"6 !dist/index.js: narrowed, what dist/index.js opens again stays closed",
		"7 logs/**: narrowed, logs is closed, and not only what is in it",
		"8 **/deep: carried over, access.fs ., names deep",
		"9 a/**/x: carried over, other rules say the same",
		"10 *.log: carried over, access.fs ., names *.log",
		"11 /: carried over, it matches nothing",
		"12 id_[rd]sa: carried over, access.fs ., names id_?sa",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCursorIgnoreStops: lines that no rule says, and files of which it is not certain what they are about, stop the
// import by name.
func TestCursorIgnoreStops(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, c := range []struct{ file, text, why string }{
		{w.Dir + "/.cursorignore", "src/*.c", "src/*.c"},
		{w.Dir + "/src/.cursorignore", `a\ b`, "backslashes"},
		{w.Dir + "/.cursorignore", " a", "blanks"},
		{w.Dir + "/.cursorignore", strings.Repeat("x\n", maxIgnored), "larger"},
		{w.Home + "/.cursorignore", "x", w.Home + "/.cursorignore closes files"},
	} {
		if err := os.WriteFile(c.file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run("sandbox.json", `{"networkPolicy": {}}`, importer.Refuse); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.20q: got %v", c.text, err)
		}
		if err := os.Remove(c.file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", w.Dir+"/.cursorignore"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run("sandbox.json", `{"networkPolicy": {}}`, importer.Refuse); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a symlink: got %v", err)
	}
}

// TestCursorIgnoreNothingWider: with any .cursorignore, nothing is permitted that git, whose syntax it has, takes to be
// ignored.
func TestCursorIgnoreNothingWider(t *testing.T) {
	w, repository := suite.NewWorld(t, Agent.Formats...), t.TempDir()
	git := func(in string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repository, "-c", "core.excludesFile="}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, _ := cmd.Output() // its status says whether any path is ignored
		return string(out)
	}
	git("", "init", "-q")
	imported := 0
	suite.Drawn(t, 1000, func(r *rand.Rand) error {
		line := func() string {
			name := func() string {
				return suite.Pick(r, "a", "b", "src", "*.pem", "k.*", "?", "[ab]", "**", "x", "*", "x y")
			}
			text := suite.Pick(r, "", "", "/", "!", "**/", "a/") + name()
			if r.IntN(3) == 0 {
				text += "/" + name()
			}
			return text + suite.Pick(r, "", "", "/", "/**", "/*", " ")
		}
		text := strings.Join(suite.Some(r, 4, line), "\n")
		for _, file := range []string{w.Dir + "/.cursorignore", repository + "/.gitignore"} {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return err
			}
		}
		res, err := w.Run("sandbox.json", `{"networkPolicy": {}}`, suite.Pick(r, importer.Refuse, importer.Close))
		if err != nil {
			return nil // a pattern that needs a choice
		}
		imported++
		if err := w.Agrees(r, res, text, res.Policy); err != nil {
			return err
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		var asked strings.Builder
		for range 20 {
			rel := suite.Pick(r, "a", "b", "src", "x", "k.pem", "x y")
			for range r.IntN(3) {
				rel += "/" + suite.Pick(r, "a", "b", "src", "x", "k.pem", "x y")
			}
			fmt.Fprintln(&asked, rel)
		}
		for rel := range strings.Lines(git(asked.String(), "check-ignore", "--no-index", "--stdin")) {
			rel = strings.TrimSuffix(rel, "\n")
			if view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(rel))}).Allowed() {
				return fmt.Errorf("%q\n%s\npermits to read %s", text, res.Text, rel)
			}
		}
		return nil
	})
	if imported < 5 {
		t.Errorf("%d files were imported", imported)
	}
}
