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

// writing are commands that change the file behind them.
const writing = `gofmt -w|goimports -l -w|rustfmt|clang-format -i|black -q|isort|ruff check --fix|ruff format
eslint --fix|prettier --write|prettier -w|golangci-lint run --fix|golangci-lint fmt|go fmt|cargo fmt --
python3 -m black|deno fmt|terraform fmt|git rm -f|git checkout|git checkout HEAD --|git restore
git restore --staged --worktree|git clean -f|gofmt -w out/a --|dos2unix`

// inPlace are lines by their verdict.
var inPlace = map[Outcome]string{
	Allow: `gofmt -l out/link/a|black --check out/link/a|ruff check out/link/a|rustfmt --check out/link/a
prettier --check out/link/a|clang-format out/link/a|cargo fmt -- --check|git rm --cached src/a
git restore --staged src/a|git checkout src -- out/a|git checkout -b src|git mv out/a out/b|go fmt ./out/...
black out/dot|cmake -S . -B out/build|meson setup out/build
javac out/A.java|javac -d out out/link/a.java|javac out/*.java|tsc --noEmit out/link/a.ts`,
	// A directory stands for the files of a formatter's language, and for all files where a program writes any. A name
	// without a file may be that of a branch.
	Unknown: `git mv out/a src/b|git checkout main|go fmt ./...|prettier --write out/dot|git rm -r out/dot
git checkout -- out|git rm 'out/*'|git rm :/src|cmake -S . -B out/dot|cmake -S . -B src|meson setup out/dot
python3 -m venv --clear out/dot|javac out/link/a.java|javac src/*.java|tsc out/link/a.tsx`,
	Deny: `git mv src/a out/b|git -C src rm a|tsc out/kept.ts`,
}

func lines(text string) []string { return strings.Split(strings.ReplaceAll(text, "\n", "|"), "|") }

// TestInPlace: the operands of a program that writes in place are files that it changes, wherever links lead. They were
// operands of no meaning, so that a formatter wrote where touch was denied.
func TestInPlace(t *testing.T) {
	j := editing(t)
	for _, writer := range lines(writing) {
		for file, want := range map[string]Outcome{
			"out/a": Allow, "out/link/a": Deny, "out/link/../src/a": Deny, "out/a out/link/a": Deny, "out/dot/kept": Deny,
			"out/*": Unknown,
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
	for want, text := range inPlace {
		for _, line := range lines(text) {
			if got := j.Command(Command{Line: line}); got.Outcome != want {
				t.Errorf("%s: got %s (%s), want %s", line, got.Outcome, got.Reason, want)
			}
		}
	}
}

// editing is a judge whose rules allow programs that write. Below out two files may be read alone, and a link leads
// where the tool may do nothing.
func editing(t *testing.T) *Judge {
	t.Helper()
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
	rule := allow(strings.Fields("gofmt goimports rustfmt clang-format black isort ruff eslint prettier golangci-lint " +
		"go cargo git cmake dos2unix javac tsc")...)
	rule.Matcher = ruleset.Any{rule.Matcher, ruleset.Prefix{
		{"deno", "fmt"}, {"terraform", "fmt"}, {"meson", "setup"}, {"git", "clean"},
		{"python3", "-m", "black"}, {"python3", "-m", "venv"},
	}}
	j.Rules = &ruleset.Set{Name: "dev", Root: root, Shell: shell.Bash, Rules: []*ruleset.Rule{rule}}
	return j
}
