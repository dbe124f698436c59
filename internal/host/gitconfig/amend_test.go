package gitconfig_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/host/gitconfig"
	"github.com/accessc/accessc/test/irtest"
)

const plain = "[core]\n\tbare = false\n\tpager = less # mine\n[remote \"origin\"]\n\turl = ../o\n" +
	"[branch \"main\"]\n\tremote = origin\n\tmergeoptions = --no-ff\n[alias]\n\tx = \"!f() { a; }; f\"\n"

// TestAmends: a change that git makes for a branch is one, and no other is.
func TestAmends(t *testing.T) {
	branch := func(lines string) string { return plain + "[branch \"x\"]\n" + lines }
	for _, good := range []string{
		plain, branch(""), branch("\tremote = origin\n\tmerge = refs/heads/main\n"),
		branch("\tremote = .\n\tmerge = refs/heads/main\n"),
		branch("\trebase = true\n"), branch("\tdescription = a \\\"b\\\"\\nc\n"),
		branch("\tvscode-merge-base = origin/main\n"),
		strings.Replace(plain, "[branch \"main\"]\n\tremote = origin\n\tmergeoptions = --no-ff\n", "", 1),
		strings.Replace(plain, "\tmergeoptions = --no-ff\n", "\tmerge = refs/heads/main\n", 1),
		plain + "[branch \"a\\\"b\\\"];#c\"]\n\tremote = origin\n",
	} {
		if err := gitconfig.Amends([]byte(plain), []byte(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", plain + "[core]\n\tfsmonitor = x\n", plain + "\ty = z\n", "[core]\n" + plain, plain + "\x00",
		branch("\tremote = https://x/y\n"), branch("\tremote = ext::sh\n"), branch("\tremote = other\n"),
		branch("\tremote\n"),
		branch("\tmerge = main\n"), branch("\tmerge = refs/heads/--x y\n"), branch("\tmergeoptions = --no-ff\n"),
		branch("\tpushremote = origin\n"),
		branch("\trebase = x\n"), branch("\tremote = origin \\\n\tx\n"), branch("\tdescription = a\\\n"),
		branch("\tdescription = \"a\n"),
		branch("\tdescription = a\n[core]\n\tfsmonitor = x\n"), branch("\tdescription = a\r[core]\n"),
		branch("\tdescription = a ; b\n"),
		plain + "[branch \"x\"] remote = origin\n", plain + "[branch \"x\"] [core]\n",
		plain + "[branch.x]\n\tremote = origin\n", plain + "[branch]\n\tx = y\n",
		plain + "[branch \"x\" \"y\"]\n\tremote = origin\n", plain + "[Branch \"x\"]\n\tsshcommand = x\n",
		plain + "[branchx \"x\"]\n\tremote = origin\n",
		strings.Replace(plain, "\tbare = false\n", "[branch \"x\"]\n\tbare = false\n", 1),
		strings.Replace(plain, "[alias]\n", "[branch \"x\"]\n", 1),
		strings.Replace(plain, "[alias]\n", "", 1), plain + "[branch \"x\"]\n\tremote = origin\x00\n", "\ufeff" + plain,
	} {
		if gitconfig.Amends([]byte(plain), []byte(bad)) == nil {
			t.Errorf("%q was permitted", bad)
		}
	}
}

// byHand are configurations as people write them, by the unusual in them.
var byHand = []string{
	plain, strings.ReplaceAll(plain, "\n", "\r\n"), "\ufeff" + plain, "# a [core]\n\n" + plain + "; end",
	plain[:len(plain)-1],
	"[core] bare = false ; x\n[Branch \"a\"] remote = origin\n\t[branch.b]\n\tmerge = refs/heads/\\\n\t  b\n" + plain,
	plain + "[branch \"a\"] # a\n\tmerge = \"refs/heads/a\" # b\n\tRebase\n\n  # c\n",
	"[remote \"origin\"]url=\"a;b\\\\\"\n\n[user]\n\tname = A \\\r\n\tB\n[include]\n\tpath = x",
}

// TestAmendsByHand: git changes a branch in a configuration that a person wrote.
func TestAmendsByHand(t *testing.T) {
	const added = "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n"
	for _, text := range byHand {
		ended := text
		if !strings.HasSuffix(text, "\n") {
			ended += "\n"
		}
		for _, to := range [][2]string{{text, ended + added}, {ended + added, text}} {
			if err := gitconfig.Amends([]byte(to[0]), []byte(to[1])); err != nil {
				t.Errorf("%q to %q: %v", to[0], to[1], err)
			}
		}
		for _, bad := range []string{
			"[core]\n\tx = y\n" + text, ended + added + "\tpushRemote = x\n", strings.Replace(ended, "o", "x", 1),
		} {
			if gitconfig.Amends([]byte(text), []byte(bad)) == nil {
				t.Errorf("%q to %q was permitted", text, bad)
			}
		}
	}
}

// TestAmendsNothingElse: whatever bytes are put anywhere, git itself reads nothing differently but permitted variables
// of branches.
//
// Cause: the head of a section was read up to the last bracket of its line, so `[branch "a"][core]x = y\"]` was the
// head of a branch.
func TestAmendsNothingElse(t *testing.T) {
	g := &reader{t: t, dir: t.TempDir(), read: map[string][]string{}}
	for _, seed := range []string{
		`[branch "a"][core]hooksPath = hk\"]`, `[branch "a"]hooksPath = hk\"]`, `[branch "a"]#\"]`,
		`[branch "a\"][core]x = "]`,
		`[branch "a" ]`, `[branch  "a"]`, `[branch "a"] `, `[branch "a\x"]`, `[branch ""][core]x=\"]`, `[branch"a"]`,
		`[branch "a"` + "\r]",
		"[branch \"a\"]\n\tdescription = a\\\n[core]", "[branch \"a\"]\n\tdescription = \"a\"\"b\"",
		"[branch \"a\"]\n\tdescription = a\r",
	} {
		for _, base := range byHand {
			g.judged(t.Fatalf, base, base+"\n"+seed+"\n\thooksPath = hk\n")
			g.judged(t.Fatalf, base, seed+"\n"+base)
		}
		if gitconfig.Amends([]byte(plain), []byte(plain+seed+"\n")) == nil {
			t.Errorf("%q was permitted", seed)
		}
	}
	junk := func(rt *rapid.T) string {
		parts := []string{
			"\"]", "\\\"]", "[core]", "x = y", "\\", "\\\n", "\n", "\t", " ", "\"", "]", "#", ";", "\r", "\r\n",
			"\ufeff", "\x00", "a",
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(rt, "junk"), "")
	}
	irtest.Check(t, 40_000, 1, func(rt *rapid.T) {
		base := rapid.SampledFrom(byHand).Draw(rt, "base")
		at := rapid.IntRange(0, len(base)).Draw(rt, "at")
		drop := rapid.IntRange(0, min(20, len(base)-at)).Draw(rt, "drop")
		put := junk(rt)
		if rapid.IntRange(0, 3).Draw(rt, "lines") > 0 {
			at, drop = strings.LastIndexByte(base[:at], '\n')+1, 0
			put = "[branch \"a" + junk(rt) + "\"]" + rapid.SampledFrom([]string{"\n", "\n", put}).Draw(rt, "end")
			for range rapid.IntRange(0, 2).Draw(rt, "variables") {
				put += rapid.SampledFrom([]string{"\tremote = origin", "\tmerge = refs/heads/x", "\tdescription = a"}).Draw(rt, "v")
				put += rapid.SampledFrom([]string{"\n", "\n", junk(rt)}).Draw(rt, "end")
			}
		}
		g.judged(rt.Fatalf, base, base[:at]+put+base[at+drop:])
	})
}

// reader reads configurations by git.
type reader struct {
	t    *testing.T
	dir  string
	read map[string][]string
}

// judged fails if a change is permitted by which git reads another variable than those.
func (g *reader) judged(fail func(string, ...any), before, after string) {
	if before == after || gitconfig.Amends([]byte(before), []byte(after)) != nil {
		return
	}
	was, is := g.variables(before), g.variables(after)
	if got, want := others(is), others(was); !slices.Equal(got, want) {
		fail("%q:\n%q\nwant\n%q", after, got, want)
	}
	for _, v := range is {
		if !ofBranch(v) || slices.Contains(was, v) {
			continue
		}
		name, value, _ := strings.Cut(v, "\n")
		key := name[strings.LastIndexByte(name, '.')+1:]
		if !slices.Contains(gitconfig.Keys[:], key) || key == "remote" && value != "origin" && value != "." {
			fail("%q: %q", after, v)
		}
	}
}

func others(all []string) []string { return slices.DeleteFunc(slices.Clone(all), ofBranch) }

func ofBranch(v string) bool { return strings.HasPrefix(v, "branch.") }

// variables are those that git reads.
func (g *reader) variables(text string) []string {
	if got, ok := g.read[text]; ok {
		return got
	}
	cmd := exec.Command("git", "config", "-z", "--list", "--file", "-")
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(text)
	out, err := cmd.Output()
	got := strings.Split(string(out), "\x00")
	if err != nil {
		got = append(got, err.Error())
	}
	g.read[text] = got
	return got
}
