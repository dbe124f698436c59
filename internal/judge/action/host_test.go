package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/testbuild"
)

// TestInPlace: the operands of a program that writes in place are files that it changes, wherever links lead. They were
// operands of no meaning, so that a formatter wrote where touch was denied.
func TestInPlace(t *testing.T) {
	j := subject(t, nil)
	root := j.Files.Dir
	for _, name := range []string{"out/kept.js", "out/a", "out/dot/a", "out/dot/kept"} {
		_ = os.Mkdir(filepath.Dir(filepath.Join(root, name)), 0o755)
		if err := testbuild.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(root, "out/link")); err != nil {
		t.Fatal(err)
	}
	tool := *j.Files.View.Tool
	for _, kept := range []string{"out/dot/kept", "out/kept.js"} {
		tool.FS = append(tool.FS, ir.FSRule{Written: kept, At: ir.In(kept), Caps: ir.Caps(ir.Read)})
	}
	facts := ir.Facts{Bindings: j.Files.Roots, Base: []ir.FSRule{}, Located: true}
	j.Files.View = ir.NewView(&tool, ir.Linux, facts)
	names := strings.Fields("gofmt goimports rustfmt clang-format black isort ruff eslint prettier golangci-lint " +
		"go cargo git terraform deno cmake meson dos2unix javac tsc")
	rule := allow(names...)
	rule.Matcher = ruleset.Any{rule.Matcher, ruleset.Prefix{
		{"deno", "fmt"}, {"terraform", "fmt"}, {"meson", "setup"}, {"git", "clean"}, {"python3", "-m", "black"}, {"python3", "-m", "venv"},
	}}
	j.Rules = &ruleset.Set{Name: "dev", Root: root, Shell: shell.Bash, Rules: []*ruleset.Rule{rule}}

	for _, writer := range strings.Split("gofmt -w|goimports -l -w|rustfmt|clang-format -i|black -q|isort|ruff check --fix|ruff format|eslint --fix|"+
		"prettier --write|prettier -w|golangci-lint run --fix|golangci-lint fmt|go fmt|cargo fmt --|python3 -m black|deno fmt|terraform fmt|"+
		"git rm -f|git checkout|git checkout HEAD --|git restore|git restore --staged --worktree|git clean -f|gofmt -w out/a --|dos2unix", "|") {
		for file, want := range map[string]Outcome{
			"out/a": Allow, "out/link/a": Deny, "out/link/../src/a": Deny, "out/a out/link/a": Deny, "out/dot/kept": Deny, "out/*": Unknown,
		} {
			line := writer + " " + file
			got := j.Command(Command{Line: line})
			if strings.Contains(file, "..") && got.Outcome == Unknown {
				continue // the program itself may doubt it
			}
			if got.Outcome != want {
				t.Errorf("%s: got %s (%s), want %s", line, got.Outcome, got.Reason, want)
			}
		}
	}
	for line, want := range map[string]Outcome{
		"gofmt -l out/link/a": Allow, "black --check out/link/a": Allow, "ruff check out/link/a": Allow, "rustfmt --check out/link/a": Allow,
		"prettier --check out/link/a": Allow, "clang-format out/link/a": Allow, "cargo fmt -- --check": Allow, "git rm --cached src/a": Allow,
		"git restore --staged src/a": Allow, "git checkout src -- out/a": Allow, "git checkout -b src": Allow, "git mv out/a out/b": Allow,
		"git mv out/a src/b": Unknown, "git mv src/a out/b": Deny, "git checkout main": Unknown, "go fmt ./out/...": Allow, "go fmt ./...": Unknown,
		// A compiler writes beside its operands.
		"javac out/A.java": Allow, "javac out/link/a.java": Unknown, "javac -d out out/link/a.java": Allow, "javac src/*.java": Unknown,
		"javac out/*.java": Allow, "tsc out/link/a.tsx": Unknown, "tsc --noEmit out/link/a.ts": Allow, "tsc out/kept.ts": Deny,
		// A directory stands for the files of a formatter's language, and for all files where a program writes any.
		"black out/dot": Allow, "prettier --write out/dot": Unknown, "git rm -r out/dot": Unknown, "git checkout -- out": Unknown,
		"git rm 'out/*'": Unknown, "git rm :/src": Unknown, "git -C src rm a": Deny,
		"cmake -S . -B out/build": Allow, "cmake -S . -B out/dot": Unknown, "cmake -S . -B src": Unknown,
		"meson setup out/build": Allow, "meson setup out/dot": Unknown, "python3 -m venv --clear out/dot": Unknown,
	} {
		if got := j.Command(Command{Line: line}); got.Outcome != want {
			t.Errorf("%s: got %s (%s), want %s", line, got.Outcome, got.Reason, want)
		}
	}
}
