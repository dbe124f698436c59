package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset/shell"
)

// render writes a tree as one line: programs and files, doubts behind ?, opaque parts in ⟨⟩.
func render(p *shell.Part) string {
	var out string
	switch p.Kind {
	case shell.Group:
	case shell.Program:
		var words []string
		for _, w := range p.Words {
			words = append(words, [...]string{w.Text, w.Text + "*", "…"}[w.Form])
		}
		out = strings.Join(words, " ")
		for _, d := range p.Doubts {
			if d.Word == shell.Always {
				out += " ?"
			} else {
				out += fmt.Sprintf(" ?%d", d.Word)
			}
		}
		if p.ToShell {
			out += " →sh"
		}
	case shell.File:
		out = p.Access.String() + " " + p.Path
	case shell.Change:
		out = "cd " + strings.Join(p.Dirs, "|")
	case shell.Opaque:
		out = "⟨" + p.Why + "⟩"
	}
	var inside []string
	for _, q := range p.Parts {
		inside = append(inside, render(q))
	}
	if len(inside) > 0 {
		out += "[" + strings.Join(inside, "; ") + "]"
	}
	return out
}

const nowhere = "⟨the working directory is not known⟩"

// TestAnalyze: the trees of typical lines.
func TestAnalyze(t *testing.T) {
	for line, want := range map[string]string{
		// Lists, pipes and quotes.
		`git status`:                 `git status`,
		`a; b && c | d`:              `[a; [b; [c; d]]]`,
		`(a; b) & { c; }`:            `[[a; b]; [c]]`,
		`echo "a b" 'c'\d e""`:       `echo a b cd e`,
		`echo *.go ~/x {a,b} HEAD~1`: `echo * * * HEAD~1`,
		`echo src/* a=~ x:~`:         `echo src/* a=* x:*`,
		`time a`:                     `a`,
		`! a`:                        `a`,
		`echo $X`:                    `echo … ?`,
		`echo $(rm x)`:               `echo … ?[rm x[` + nowhere + "]]",
		`echo "a$(rm x)" <(rm y)`:    "echo … … ? ?[rm x[" + nowhere + "]; rm y[" + nowhere + "]]",
		// The parser puts the text in braces into a word of its own.
		`echo {a,$(rm x)} b{c,{"$X",d}}`: `echo … … ? ?[rm x[` + nowhere + "]]",
		// bash pairs braces in another way than the parser.
		`a x{b}c,-delete} {b}..c HEAD@{1} {} "{a,b}" {"a,b"}`: `a x* * HEAD@{1} {} {a,b} {a,b} ?1 ?2 ?3 ?4 ?5 ?6[` +
			"perhaps change /w/HEAD@{1}; perhaps change /w/{}; perhaps change /w/{a,b}; perhaps change /w/{a,b}]",
		`find . {*,-delete} x{[a],-b} y{~,z,-b}`: `find . * x* y* ?2`,
		// Behind a quote in parentheses the parser takes # for a comment.
		"(a 'b'# ; rm x\n)":           `[⟨a comment begins inside of a word⟩; [a b ?1]]`,
		"a 'b'# ; rm x":               `[a b# ?1; rm x[remove /w/x]]`,
		"(a # b\n)":                   `[a]`,
		`find . ["-"]delete`:          `find . * ?2`, // a bracket before a quote begins a pattern too
		`X=1 a`:                       `a ?`,
		`X=$(rm x)`:                   `⟨a variable is set⟩[rm x[` + nowhere + "]]",
		`if a; then b; fi`:            `⟨control flow is not followed⟩[a; b]`,
		`f() { rm x; }`:               `⟨a function changes the meaning of a name⟩[[rm x[` + nowhere + "]]]",
		`a '`:                         `⟨this is no complete command of the shell⟩`,
		``:                            `⟨there is no command⟩`,
		"a \\\nb":                     `⟨a backslash stands before the end of a line⟩[a b ?1]`,
		"a\tb":                        `⟨a character is not visible⟩[a b ?1]`,
		"a \u202e":                    "⟨a character is not visible⟩[a \u202e ?1]",
		strings.Repeat("a", 10_001):   `⟨the line has more than 10,000 characters⟩`,
		`a $[1] "x$[1]" '$[1]' \$[1]`: `a … … $[1] $* ?1 ?2 ?3 ? ?[perhaps change /w/$[1]; perhaps change /w/.]`,
		"cat <<E\n$[1]\nE":            `[cat; ⟨arithmetic can run commands⟩]`,
		`a "$"`:                       `a $ ?1`,
		"cat <<E\nx\nE":               `cat`,
		"cat <<E\n$(rm x)\nE":         `[cat; ⟨the output of a command is not known⟩[rm x[` + nowhere + "]]]",
		"cat <<'E'\n$(rm x)\nE":       `cat`,
		"cat <<$'E'\nE\n":             `[cat; ⟨the end of a here-document is not literal⟩]`, // without a text there is none to walk
		`[ -f x ]`:                    `[ -f x ]`,
		`printf -v x y`:               `printf -v x y ?1[perhaps change /w/x; perhaps change /w/y]`,
		`printf %5n x`:                `printf %5n x ?1`,
		// Files and directories.
		`a > x 2>&1 < y`:           `[a; write /w/x; read /w/y]`,
		`a > /dev/null`:            `[a; ]`,
		`a <> ../x`:                `[a; read and write /w/../x]`,
		`a > $X`:                   `[a; ⟨the value of a variable is not known⟩]`,
		`a 0<&-""`:                 `[a; ⟨the target of a descriptor may be a file⟩]`, // bash starts a with an argument
		`a 12> x`:                  `[a; ⟨shells differ about the number of a descriptor⟩]`,
		`cd x && a > y`:            `[cd /w/x; [a; write /w/x/y]]`,
		`cd x; a > y`:              `[cd /w/x; [a; [write /w/y; write /w/x/y]]]`,
		`cd x || a > y`:            `[cd /w/x; [a; [write /w/y; write /w/x/y]]]`,
		`cd a && cd ../b && c > d`: `[[cd /w/a; cd /w/b]; [c; write /w/b/d]]`,
		`(cd x); a > y`:            `[[cd /w/x]; [a; write /w/y]]`,
		`cd x | a > y`:             `[cd /w/x; [a; write /w/y]]`,
		`cd $X; a > y`:             `[cd … ? ?; [a; ⟨the working directory is not known⟩]]`,
		`pushd x && a > y`:         `[pushd x ?; [a; ⟨the working directory is not known⟩]]`,
		`sort -uo x y`:             `sort -uo x y[write /w/x]`,
		`tee x y`:                  `tee x y[write /w/x; write /w/y]`,
		`a >/dev/tcp/h/1`:          `[a; ⟨bash connects to a host⟩]`,
		// Programs that run others.
		`nice -n 5 timeout 3 a b`:       `nice -n 5 timeout 3 a b[timeout 3 a b[a b ?1]]`,
		`env X=1 a`:                     `env X=1 a ?1[a]`,
		`sudo -u x a`:                   `sudo -u x a ?3[a]`,
		`xargs -n 1 a b`:                `xargs -n 1 a b ?3[a b … ?1 ?2]`,
		`find . -exec a {} \;`:          `find . -exec a {} ;[a .* ?1]`,
		`find . -execdir a {} +`:        `find . -execdir a {} +[cd /w/.; a … ?1]`,
		`find -name x -exec a {} \;`:    `find -name x -exec a {} ;[a .* ?1]`, // "." itself, not only the files below it
		`find . -delete`:                `find . -delete ?2[perhaps change /w/.]`,
		`bash -lc 'a; b'`:               `bash -lc a; b[[a; b]]`,
		`bash x`:                        `bash x ?1`,
		`bash -c "$X"`:                  `bash -c … ?2 ?2 ?`,
		`eval a "b c"`:                  `eval a b c ?[a b c ?1[perhaps change /w/c]]`,
		`zsh -c a`:                      `zsh -c a[⟨the language of this shell is not known⟩[a]]`,
		`python3 x`:                     `python3 x ?1`,
		`git -C x log --output=y`:       `git -C x log --output=y ?4[cd /w/x]`,
		`git -c a=b log`:                `git -c a=b log ?1 ?2 ?3`,
		`git evil`:                      `git evil ?1`,
		`rg --pre x y`:                  `rg --pre x y ?1[perhaps change /w/x; perhaps change /w/y]`,
		`watch 'a; b'`:                  `watch a; b ?1[[a; b]]`,
		`curl x | sudo bash`:            `[curl x →sh; sudo bash ?1[bash ?]]`,
		`curl x | python3 -m json.tool`: `[curl x; python3 -m json.tool ?1 ?2]`,
		`bash <(curl x)`:                `bash … ?1 ?1 ?[curl x →sh]`,
		`curl x | xargs sh -c`:          `[curl x →sh; xargs sh -c ?1[sh -c … ?2 ?2]]`,
	} {
		if got := render(shell.Analyze(line, shell.Bash, "/w")); got != want {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
	}
}

// TestDialects: sh reads some lines in another way than bash, other shells are not read.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		line    string
		dialect shell.Dialect
		want    string
	}{
		{`a &> x`, shell.Bash, `[a; write /w/x]`},
		{`a &> x`, shell.POSIX, `[⟨this is no complete command of the shell⟩; [a; write /w/x]]`},
		{`a $'b' $[c]`, shell.POSIX, `[a $b $* ?1[perhaps change /w/.]; a … … ?1 ?2 ? ?]`},
		{`a; b`, shell.POSIX, `[a; b]`},
		{`a`, shell.Foreign, `⟨the language of this shell is not known⟩[a]`},
		{`cat <<< x`, shell.POSIX, `[⟨this is no complete command of the shell⟩; cat]`},
	} {
		if got := render(shell.Analyze(c.line, c.dialect, "/w")); got != c.want {
			t.Errorf("%q: got %s, want %s", c.line, got, c.want)
		}
	}
	for name, want := range map[string]shell.Dialect{"bash": shell.Bash, "/bin/sh": shell.POSIX, "zsh": shell.Foreign, "": shell.Foreign} {
		if got := shell.DialectOf(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

// TestLinear: lines that nest as deep as they can take no exponential time, which would have no end.
func TestLinear(t *testing.T) {
	for name, line := range map[string]string{
		"eval":    strings.Repeat("eval ", 1900),
		"sh":      strings.Repeat("nice ", 1990) + "a",
		"parens":  strings.Repeat("(", 4000) + "a" + strings.Repeat(")", 4000),
		"subst":   strings.Repeat("$(", 3000) + "a" + strings.Repeat(")", 3000),
		"braces":  strings.Repeat("{a,", 3000) + strings.Repeat("}", 900),
		"quotes":  "bash -c " + strings.Repeat(`"`, 4000),
		"dirs":    strings.Repeat("cd a;", 1900),
		"wrapped": strings.Repeat("env a=b ", 1200),
	} {
		t.Log(name)
		shell.Analyze(line, shell.Bash, "/w")
	}
}

// FuzzAnalyze: any text has a tree, of parts that can be judged.
func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"a; b", `find . -exec a {} \;`, "cat <<E\n$(a)\nE", "bash -c 'a > b'", "cd x && git -C y log -n", `env -S "a b" c`} {
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, line string, dialect uint8) {
		shell.Analyze(line, shell.Dialect(dialect%3), "/w").Each(func(p *shell.Part) {
			switch {
			case p.Kind == shell.Program && len(p.Words) == 0,
				p.Kind == shell.File && !strings.HasPrefix(p.Path, "/"),
				p.Kind == shell.Opaque && p.Why == "":
				t.Errorf("%q: %+v", line, p)
			}
		})
	})
}
