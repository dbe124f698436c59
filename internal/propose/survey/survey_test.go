package survey_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/ir"
)

// known are all files that decide anything.
var known = []string{
	"go.mod", "Cargo.toml", "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"pyproject.toml", "requirements.txt", "setup.py", "uv.lock", "conftest.py", "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "pom.xml",
	"mvnw", "build.gradle", "build.gradle.kts", "gradlew", "Dockerfile", "compose.yaml", ".mcp.json", ".gitignore", ".tool-versions", "mise.toml",
	".env", ".env.local",
}

// everything is a PATH with all programs.
func everything(string) bool { return true }

func write(t testing.TB, dir, name, text string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compiled are the texts that were compiled already: there are few.
var compiled sync.Map

// proposed looks at a directory and compiles the policy.
func proposed(t testing.TB, dir string) ([]survey.Found, string) {
	found, err := survey.Look(dir, everything)
	if err != nil {
		t.Fatal(err)
	}
	text := survey.Text(found, ir.Linux)
	if _, done := compiled.LoadOrStore(text, true); done {
		return found, text
	}
	policy := t.TempDir()
	write(t, policy, "accessc.toml", text)
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: policy, Layers: source.Request{}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Findings) > 0 {
		t.Errorf("%v\n%s", res.Findings, text)
	}
	tools := 0
	for _, f := range found {
		tools += len(f.Tools)
	}
	if res.Program == nil || len(res.Program.Tools) != tools {
		t.Errorf("%d tools are proposed, and the policy has others\n%s", tools, text)
	}
	return found, text
}

// TestMovesOnMacOS: on macOS the written tools start, though a directory that they move into their home takes
// closed names along.
func TestMovesOnMacOS(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module x\n")
	found, err := survey.Look(dir, everything)
	if err != nil {
		t.Fatal(err)
	}
	policy := t.TempDir()
	write(t, policy, "accessc.toml", survey.Text(found, ir.Darwin))
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: policy, Layers: source.Request{}})
	if err != nil || res.Program == nil || len(res.Findings) > 0 {
		t.Fatal(err, res.Findings)
	}
	for _, tool := range res.Program.Tools {
		out, err := seatbelt.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range out.Ledger {
			accepted := slices.ContainsFunc(tool.Accept, func(a ir.Acceptance) bool { return a.Gap == row.Gap })
			if row.Platform == ir.Darwin && row.Resource == ir.FS && row.Is == ir.Weaker && !accepted {
				t.Errorf("%s does not start: %+v", tool.Name, row)
			}
		}
	}
}

// TestEachFile: each file alone, and all of them with each lock file, give policies without
// findings, whose presets exist.
func TestEachFile(t *testing.T) {
	json := `{"scripts":{"test":"","build":"","lint":""},"dependencies":{"a":""}}`
	content := func(name string) string { return map[string]string{"package.json": json}[name] }
	all := t.TempDir()
	for _, name := range known {
		dir := t.TempDir()
		write(t, dir, name, content(name))
		if strings.Contains(name, "lock") || name == "npm-shrinkwrap.json" {
			write(t, dir, "package.json", json)
			write(t, dir, "pyproject.toml", "pytest")
		} else {
			write(t, all, name, content(name))
		}
		found, _ := proposed(t, dir)
		for _, f := range found {
			if len(f.Tools) == 0 && f.Why == "" {
				t.Errorf("%s has neither a tool nor a reason", f.File)
			}
			for _, tool := range f.Tools {
				checkTool(t, tool)
			}
		}
	}
	if found, _ := proposed(t, all); len(found) < 9 {
		t.Errorf("found %d files", len(found))
	}
}

func checkTool(t *testing.T, tool survey.Tool) {
	for _, p := range slices.Concat(tool.Presets, tool.Later) {
		if !slices.Contains(presets.Names(), p.Name) || p.Why == "" {
			t.Errorf("%s: the preset %s", tool.Name, p.Name)
		}
	}
	closes := func(r survey.ByName) bool { return len(r.Keys) == 0 && slices.Contains(r.Names, ".env") }
	closed := slices.ContainsFunc(tool.ByName, closes) ||
		slices.ContainsFunc(tool.Presets, func(p survey.Preset) bool { return p.Name == "secrets" })
	for _, r := range tool.Rules {
		if r.Why == "" {
			t.Errorf("%s: %s has no reason", tool.Name, r.Path)
		}
	}
	if !closed || tool.About == "" {
		t.Errorf("%s: %+v", tool.Name, tool)
	}
}

// TestNothing: where nothing is known nothing is proposed.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "README.md", "make")
	if found, text := proposed(t, dir); len(found) > 0 || text != "" {
		t.Errorf("got %v\n%s", found, text)
	}
}

// words are those that a policy may have: texts of this program, and names of secret files.
var words = regexp.MustCompile(`^[\x20-\x7e\n]*$`)

// TestHostile: no text of a repository gets into the policy or the summary, for any names and contents
// of its files, and nothing is read that is too large, no file, or elsewhere.
func TestHostile(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	evil := "EVIL\x1b[31m\u202e\"]\n[tools.EVIL]\n"
	for _, name := range known {
		write(t, dir, name, `{"scripts":{"test":"EVIL","EVIL":"x"},"dependencies":{"EVIL":""}}`+evil)
	}
	write(t, dir, "package.json", `{"scripts":{"test":"EVIL","EVIL":"x"},"dependencies":{"EVIL":""}}`)
	for i := range 100 {
		write(t, dir, fmt.Sprintf(".env.%d", i), "")
	}
	for _, name := range []string{".env.EVIL\x1b", ".env.EVIL\"", ".env.EVIL\n", ".env.\u202eEVIL", "EVIL.mk"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Log(err) // a system that has no such names
		}
	}
	found, text := proposed(t, dir)
	if all := text + survey.Summary(found); strings.Contains(all, "EVIL") || !words.MatchString(all) {
		t.Errorf("the repository wrote into %s", all)
	}
	write(t, outside, "go.mod", "module x")
	for link, target := range map[string]string{"go.mod": filepath.Join(outside, "go.mod"), "Makefile": filepath.Join(dir, "nothing")} {
		if err := os.Remove(filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if found, _ := proposed(t, dir); slices.ContainsFunc(found, func(f survey.Found) bool { return f.File == "go.mod" }) {
		t.Error("a symlink counts as a file")
	}
}

// TestLarge: of a file of any size a part is read. The whole of one of these would fit into no memory.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"package.json", ".gitignore", "Makefile", "pyproject.toml"} {
		write(t, dir, name, "")
		if err := os.Truncate(filepath.Join(dir, name), 1<<40); err != nil {
			t.Skip(err)
		}
	}
	if found, _ := proposed(t, dir); len(found) != 3 {
		t.Errorf("got %v", found)
	}
}

// FuzzLook: for any content of a file, the policy has no findings and no text of it.
func FuzzLook(f *testing.F) {
	f.Add(uint(2), `{"scripts":{"test":"a"}}`)
	f.Add(uint(14), "test :\n\ta\n")
	f.Add(uint(9), "pytest")
	f.Add(uint(26), "/coverage\ndist/\n")
	dir := f.TempDir() // of each worker, which has one input at a time
	f.Fuzz(func(t *testing.T, which uint, content string) {
		name := known[which%uint(len(known))]
		write(t, dir, "package.json", `{"scripts":{"build":""}}`)
		write(t, dir, name, content)
		found, text := proposed(t, dir)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if all := text + survey.Summary(found); strings.ContainsFunc(all, func(c rune) bool { return unicode.IsControl(c) && c != '\n' || c > unicode.MaxASCII }) {
			t.Errorf("the file wrote into %q", all)
		}
	})
}

// TestProgramAtTheRoot: the program of a module that is one package goes into bin. Cause: go build wrote it beside the
// sources, which the first build of most programs was refused.
func TestProgramAtTheRoot(t *testing.T) {
	for name, want := range map[string]bool{"main.go": true, "a_test.go": false, "main.txt": false, "ignored.go": false} {
		dir, text := t.TempDir(), "// Command x\npackage main\n"
		if name == "ignored.go" {
			text = "//go:build ignore\n\n" + text
		}
		write(t, dir, "go.mod", "module x")
		write(t, dir, name, text)
		if _, text := proposed(t, dir); strings.Contains(text, `"go build -o bin/ ./..."`) != want {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestPrograms: go build writes bin, unless that may have scripts of the repository.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		has     bool
		ignored string
		want    bool
	}{{false, "", true}, {true, "", false}, {true, "/bin/\n", true}} {
		dir := t.TempDir()
		write(t, dir, "go.mod", "module x")
		write(t, dir, ".gitignore", tt.ignored)
		if tt.has {
			if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if _, text := proposed(t, dir); strings.Contains(text, `{ path = "bin", read = true, write = true }`) != tt.want {
			t.Errorf("%+v:\n%s", tt, text)
		}
	}
}
