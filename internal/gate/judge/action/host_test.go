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

// byOperand are lines by their verdict: of programs that delete, make and change what their operands name, and of those
// that no table has, or that have an option which no table has and a rule spells out.
var byOperand = map[Outcome]string{
	Allow: `rm out/a|rm -rf out/d|rm out/link|rm out/d/*.o|rm -r out/d/*|unlink out/a|rmdir out/d|shred -u out/a
chmod +x out/a|chmod -R 700 out/d|chown me:us out/a|chgrp us out/a|install -m 644 src/a out/b|install -d out/n
mv out/d out/e|touch out/n|mkdir -p out/n/m|truncate -s 0 out/a|mkfifo out/f|cp src/a out/b
cp -r src out/d|shfmt -w out/a|shfmt -w out/d/*.sh|yapf -i out/a|python3 -m yapf -i out/a|sed -i s/a/b/ out/a
perltidy -b out/a|npx reformat --write out/a|ruff check --fix-only out/a|just test|shfmt -w name`,
	Unknown: `rm out/*|rm -r out/dot|rm out/link/*|rm */a|rm {out,src}/a|mv out/dot out/e|chmod -R 700 out/dot
chmod 700 src|shfmt -w src/a|shfmt -w src/*.sh|shfmt -w out/link/a|shfmt src/new|yapf -i src/a|python3 -m yapf -i src/a
sed -i s/a/b/ src/a|sed -i -e s/a/b/ src/a|perl -pi -e s/a/b/ src/a|perltidy -b src/a|npx reformat --write src/a
npx reformat --write out/a src/a|ruff check --fix-only src/a|cp -r src out/dot|cp -t src out/a|ln -s a out/b
xargs rm|xargs shfmt -w|install -s src/a out/b|find out -name a -exec rm {} +|chmod 700 out/*|rm -r out/d/../*`,
	Deny: `rm src/a|rm out/a src/a|rm -rf src|rm out/link/a|rm out/dot/kept|cd src && rm a|rm -rf .|rm -r out/link/
sudo rm src/a|env rm src/a|find src -exec rm src/a \;|unlink src/a|rmdir src|shred src/a|shred -u src/a|chmod +x src/a
chown me src/a|chgrp us src/a|install out/a src/b|install -m 644 out/a src|mv src/a out/b|mv out/a src/b|touch src/a
touch src/new|mkdir src/d|truncate -s 0 src/a|mkfifo src/f|cp out/a src/b|ln -s src/a src/b|ln -sf a src/a`,
}

// TestByOperand: a program that deletes or changes the files that its operands name is judged by the file rules, also
// where a rule spells the program and its options out. rm and chmod did as they liked, and so did shfmt.
func TestByOperand(t *testing.T) {
	j := editing(t)
	for want, text := range byOperand {
		for _, line := range lines(text) {
			if got := j.Command(Command{Line: line}); got.Outcome != want {
				t.Errorf("%s: got %s (%s), want %s", line, got.Outcome, got.Reason, want)
			}
		}
	}
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
	for _, name := range []string{"out/kept.js", "out/a", "out/dot/a", "out/dot/kept", "out/d/a"} {
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
		"go cargo git cmake dos2unix javac tsc rm rmdir unlink shred chmod chown chgrp install mv touch " +
		"mkdir truncate mkfifo cp ln sed perl env sudo find xargs")...)
	rule.Matcher = ruleset.Any{rule.Matcher, ruleset.Prefix{
		{"deno", "fmt"}, {"terraform", "fmt"}, {"meson", "setup"}, {"git", "clean"},
		{"shfmt", "-w"}, {"shfmt"}, {"yapf", "-i"}, {"python3", "-m", "yapf", "-i"}, {"sed", "-i"}, {"sed", "-i", "-e"},
		{"perltidy", "-b"}, {"npx", "reformat", "--write"}, {"ruff", "check", "--fix-only"}, {"just", "test"}, {"cp", "-r"},
		{"cp", "-t"}, {"install", "-d"}, {"sudo", "rm"}, {"perl", "-pi", "-e"}, {"ln", "-s", "src/a", "src/b"},
		{"python3", "-m", "black"}, {"python3", "-m", "venv"},
	}}
	j.Rules = &ruleset.Set{Name: "dev", Root: root, Shell: shell.Bash, Rules: []*ruleset.Rule{rule}}
	return j
}
