package rulediff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
)

// draw is a source of random rulesets and command lines.
type draw struct{ *rand.Rand }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

func (d draw) some(n int, words ...string) []string {
	var out []string
	for range 1 + d.IntN(n) {
		out = append(out, d.of(words...))
	}
	return out
}

var programs = []string{"git", "rm", "p", "make", "go", "./ci.sh"}

// named draws a condition that names a program, by itself or with a condition that narrows it.
func (d draw) named() ruleset.Matcher {
	var m ruleset.Matcher
	switch d.IntN(5) {
	case 0:
		m = ruleset.Group(d.of(ruleset.GroupNames()...))
	case 1, 2:
		c := ruleset.Command{Names: d.some(2, programs...)}
		if d.IntN(2) == 0 {
			c.Subcommands = d.some(2, "push", "log", "stash list", "a")
		}
		m = c
	default:
		var p ruleset.Prefix
		for _, text := range d.some(2, "git push", "git log", "git log -p", "rm", "rm -r", "p a b", "p a", "go test", "make all", "nice make all", "git --no-pager", "sudo rm", "sh -c git_push") {
			p = append(p, words(text))
		}
		m = p
	}
	if d.IntN(2) == 0 {
		return m
	}
	n := d.narrowing()
	if d.IntN(4) == 0 {
		n = ruleset.Not{Matcher: n}
	}
	return ruleset.All{m, n}
}

// words splits a text; an underscore stands for a blank inside of a word.
func words(text string) []string {
	out := strings.Fields(text)
	for i, w := range out {
		out[i] = strings.ReplaceAll(w, "_", " ")
	}
	return out
}

func (d draw) narrowing() ruleset.Matcher {
	switch d.IntN(5) {
	case 0:
		return ruleset.PipedToShell{}
	case 1:
		return ruleset.Within(Root + "/" + d.of("src", "src/a", "doc"))
	case 2:
		return ruleset.Args{d.some(3, "a", "push", "-f", "x"), {"a", "**"}}
	default:
		return ruleset.Flags(d.some(2, "-f", "-r", "--force", "-p"))
	}
}

// rule draws a rule that names a program.
func (d draw) rule() *ruleset.Rule {
	r := &ruleset.Rule{Outcome: []ruleset.Outcome{ruleset.Allow, ruleset.Deny}[d.IntN(2)], Matcher: d.named()}
	if d.IntN(4) == 0 {
		r.Matcher = ruleset.Any{d.named(), d.named()}
	}
	if d.IntN(8) == 0 {
		r.Kinds, r.Matcher = []ruleset.Kind{ruleset.Read, ruleset.Edit}, ruleset.Within(Root+"/"+d.of("src", "src/a", "doc"))
	}
	if d.IntN(8) == 0 {
		r.Kinds, r.Matcher = []ruleset.Kind{ruleset.Fetch}, ruleset.Hosts(d.some(2, "*", "example.com", "*.example.com", "a.example.com", "*.a.example.com"))
	}
	return r
}

// pair draws two rulesets, of which the second is the first with some changes.
func (d draw) pair() (*ruleset.Set, *ruleset.Set) {
	old, new := &ruleset.Set{Root: Root, Shell: shell.Bash}, &ruleset.Set{Root: Root, Shell: shell.Bash}
	for range 1 + d.IntN(4) {
		r := d.rule()
		switch d.IntN(4) {
		case 0:
			old.Rules = append(old.Rules, r)
		case 1:
			new.Rules = append(new.Rules, r)
		default:
			old.Rules, new.Rules = append(old.Rules, r), append(new.Rules, r)
		}
	}
	if d.IntN(3) == 0 {
		d.Shuffle(len(new.Rules), func(i, j int) { new.Rules[i], new.Rules[j] = new.Rules[j], new.Rules[i] })
	}
	for side, s := range map[string]*ruleset.Set{"old": old, "new": new} {
		for i, r := range s.Rules {
			named := *r
			named.Origin = ir.Origin{Path: fmt.Sprintf("%s[%d]", side, i)}
			s.Rules[i] = &named
		}
	}
	return old, new
}

// operation draws an operation, of which most are command lines.
func (d draw) operation() ruleset.Operation {
	op := ruleset.Operation{Dir: Root + d.of("", "", "", "/src", "/src/a", "/other")}
	switch d.IntN(12) {
	case 0:
		op.Kind, op.Paths = []ruleset.Kind{ruleset.Read, ruleset.Edit, ruleset.Delete}[d.IntN(3)], d.some(2, "src/x", "/workspace/src/a/b", "doc", "../x", "/etc")
		return op
	case 1:
		op.Kind, op.URL = ruleset.Fetch, d.of("https://example.com/", "http://a.example.com", "https://b.a.example.com", "https://x.org/", "")
		return op
	}
	var b strings.Builder
	for i := range 1 + d.IntN(2) {
		if i > 0 {
			b.WriteString(d.of(" && ", " | ", "; "))
		}
		b.WriteString(d.of("", "", "", "", "", "cd src && ", "X=1 ", "nice ", "sudo ", "git -C sub ", "sh -c '"))
		b.WriteString(d.of(append(programs, "./git", "nice make all", "git log", "git push", "p a b", "sh", "ls")...))
		quoted := strings.Count(b.String(), "'")%2 > 0
		for range d.IntN(4) {
			b.WriteString(" " + d.of("push", "log", "stash list", "a", "b", "-f", "-r", "-rf", "-p", "--force", "--forc", "--no-pager", "--weird", "all", "x", "test", "status", "*", "a*", "$X", "src/q", "../y", "branch", "-a"))
		}
		if quoted {
			b.WriteString("'")
		}
	}
	op.Command = b.String()
	return op
}

// TestClasses: an operation about which two rulesets differ is of a class that was found, or the
// comparison says that it took samples and, for a ruleset that is wider, that this may be. The example of
// each class is an operation about which they differ.
func TestClasses(t *testing.T) {
	var differ, beside, unseen atomic.Int64
	irtest.Many(t, 10_000, func(r *rand.Rand) error {
		d := draw{r}
		old, new := d.pair()
		found := Compare(old, new)
		for _, c := range found.Classes {
			was, is := old.Decide(c.Example, Host()), new.Decide(c.Example, Host())
			if was.Outcome == is.Outcome {
				return fmt.Errorf("%+v is %s in both", c.Example, is.Outcome)
			}
			if len(c.Regions) == 0 {
				return fmt.Errorf("the class of %+v has no region", c.Example)
			}
			if c.Beside {
				beside.Add(1)
			}
		}
		for range 50 {
			op := d.operation()
			was, is := old.Decide(op, Host()), new.Decide(op, Host())
			if was.Outcome == is.Outcome {
				continue
			}
			differ.Add(1)
			if !known(found, differing(&was, &is, part{})[:1]) {
				if len(found.Sampled) > 0 && (found.Open || rank(is.Outcome) < rank(was.Outcome)) {
					unseen.Add(1)
					continue
				}
				return fmt.Errorf("no class has %+v\nold %s: %s\nnew %s: %s", op, was.Outcome, text(old), is.Outcome, text(new))
			}
		}
		return nil
	})
	t.Logf("%d operations differed, %d of them in no class of a comparison that took samples", differ.Load(), unseen.Load())
	irtest.Happened(t, map[string]int{"a class beside others": int(beside.Load())}, "a class beside others")
	if differ.Load() == 0 || beside.Load() == 0 && irtest.Full() || unseen.Load() > differ.Load()/500 {
		t.Errorf("%d operations differed, %d classes were beside others, %d were in none", differ.Load(), beside.Load(), unseen.Load())
	}
}

// TestClassesOfTruncatedForms: with too many combinations of options, no line with an unusual word
// was asked about, and the class of "git push *" was missing.
func TestClassesOfTruncatedForms(t *testing.T) {
	narrowed := ruleset.Any{
		ruleset.All{ruleset.Prefix{{"rm", "-r"}, {"p", "a"}}, ruleset.Within(Root + "/src/a")},
		ruleset.All{ruleset.Command{Names: []string{"git"}}, ruleset.Not{Matcher: ruleset.Flags{"-p", "--force"}}},
	}
	log := allow(ruleset.All{ruleset.Prefix{{"sudo", "rm"}, {"git", "log"}}, ruleset.Flags{"-f"}})
	piped := ruleset.All{ruleset.Prefix{{"git", "log"}}, ruleset.PipedToShell{}}
	old := set(shell.Bash, deny(ruleset.Any{ruleset.Prefix{{"git", "push"}}, piped}), log)
	new := set(shell.Bash, deny(ruleset.All{ruleset.Group("read_only_git"), ruleset.Flags{"-r", "-f"}}), log, deny(narrowed))
	for i, r := range slices.Concat(old.Rules, new.Rules) {
		r.Origin = ir.Origin{Path: fmt.Sprint(i)}
	}
	found := Compare(old, new)
	op := ruleset.Operation{Command: "git push branch *", Dir: Root}
	was, is := old.Decide(op, Host()), new.Decide(op, Host())
	if !known(found, differing(&was, &is, part{})[:1]) || len(found.Sampled) == 0 {
		t.Errorf("old %s, new %s, sampled %v: no class", was.Outcome, is.Outcome, found.Sampled)
	}
}

// TestClassesByAnotherPath: no line was asked about that is unusual in two ways, and the class of
// "./git $X" was missing: a rule that allows is not about another path, a rule that denies may be about the word.
func TestClassesByAnotherPath(t *testing.T) {
	git := ruleset.Command{Names: []string{"git"}}
	old := set(shell.Bash, allow(git), deny(ruleset.Prefix{{"git", "log"}}))
	new := set(shell.Bash, allow(git), deny(git))
	for i, r := range slices.Concat(old.Rules, new.Rules) {
		r.Origin = ir.Origin{Path: fmt.Sprint(i)}
	}
	found := Compare(old, new)
	for _, line := range []string{"./git", "./git $X", "nice ./git $X"} {
		op := ruleset.Operation{Command: line, Dir: Root}
		was, is := old.Decide(op, Host()), new.Decide(op, Host())
		if was.Outcome == is.Outcome || !known(found, differing(&was, &is, part{})[:1]) {
			t.Errorf("%s: old %s, new %s: no class", line, was.Outcome, is.Outcome)
		}
	}
}

// TestClassOfADecidingPart: a line's difference was owed to its first part with another judgement, though
// the verdict on that part was unknown for both, and not to the part that decides.
func TestClassOfADecidingPart(t *testing.T) {
	old := set(shell.Bash, deny(ruleset.Prefix{{"nice", "make", "all"}}))
	new := set(shell.Bash, deny(ruleset.Prefix{{"git", "log"}}))
	new.Rules[0].Match = []string{"nice make *; git log"}
	found := Compare(old, new)
	for _, c := range found.Classes {
		if c.Old.Outcome == ruleset.Unknown && c.Old.Rule != nil {
			t.Errorf("%q is of a class that is unknown by a rule and %s then", c.Example.Command, c.New.Outcome)
		}
	}
	op := ruleset.Operation{Command: "nice make *; git log", Dir: Root}
	was, is := old.Decide(op, Host()), new.Decide(op, Host())
	if parts := differing(&was, &is, part{}); len(parts) != 1 || !known(found, parts) {
		t.Errorf("%d parts decide, or their class is missing", len(parts))
	}
}

func set(d shell.Dialect, rules ...*ruleset.Rule) *ruleset.Set {
	return &ruleset.Set{Root: Root, Shell: d, Rules: rules}
}

func allow(m ruleset.Matcher) *ruleset.Rule {
	return &ruleset.Rule{Outcome: ruleset.Allow, Matcher: m}
}
func deny(m ruleset.Matcher) *ruleset.Rule { return &ruleset.Rule{Outcome: ruleset.Deny, Matcher: m} }

// crowd is more rules than can be compared in full.
func crowd() []*ruleset.Rule {
	var out []*ruleset.Rule
	for i := range 300 {
		out = append(out, allow(ruleset.All{ruleset.Command{Names: []string{fmt.Sprint("p", i)}}, ruleset.Flags{"-a", "-b", "-c", "-d", "-e"}}))
	}
	return out
}

// TestSampled: where only examples are compared, the comparison says so, and whether the new
// ruleset may be wider: hidden behind many options, an operation could be allowed unseen.
func TestSampled(t *testing.T) {
	ls, rm := ruleset.Command{Names: []string{"ls"}}, ruleset.Command{Names: []string{"rm"}}
	var many ruleset.Flags
	for c := 'a'; c <= 'z'; c++ {
		many = append(many, "-"+string(c))
	}
	for _, c := range []struct {
		name          string
		old, new      *ruleset.Set
		sampled, open bool
	}{
		{"the same", set(shell.Bash, allow(ls)), set(shell.Bash, allow(ls)), false, false},
		{"rules that name programs", set(shell.Bash, allow(ls)), set(shell.Bash, deny(rm), allow(ls)), false, false},
		{"a denying rule without a program", set(shell.Bash, allow(ls)), set(shell.Bash, deny(ruleset.PipedToShell{}), allow(ls)), true, false},
		{"such a rule that is gone", set(shell.Bash, deny(ruleset.PipedToShell{}), allow(ls)), set(shell.Bash, allow(ls)), true, true},
		{"such a rule behind another one", set(shell.Bash, deny(ruleset.PipedToShell{}), allow(ls)), set(shell.Bash, allow(ls), deny(ruleset.PipedToShell{})), false, false},
		{"an allowing rule without a program", set(shell.Bash), set(shell.Bash, allow(ruleset.Not{Matcher: rm})), true, true},
		{"many options", set(shell.Bash), set(shell.Bash, allow(ruleset.All{rm, many})), true, true},
		{"many programs with options", set(shell.Bash), set(shell.Bash, crowd()...), true, true},
		{"a shell that reads more", set(shell.POSIX, allow(ls)), set(shell.Bash, allow(ls)), true, true},
		{"a shell that reads less", set(shell.Bash, allow(ls)), set(shell.POSIX, allow(ls)), true, false},
	} {
		found := Compare(c.old, c.new)
		if (len(found.Sampled) > 0) != c.sampled || found.Open != c.open {
			t.Errorf("%s: sampled %v, open %v", c.name, found.Sampled, found.Open)
		}
	}
}

// TestRegions: the regions of a class, each with the verdicts before and after.
func TestRegions(t *testing.T) {
	git := func(subs ...string) ruleset.Matcher {
		return ruleset.Command{Names: []string{"git"}, Subcommands: subs}
	}
	within := func(dir string) ruleset.Matcher { return ruleset.Within(Root + "/" + dir) }
	rm := ruleset.Command{Names: []string{"rm"}}
	for _, c := range []struct {
		name     string
		old, new *ruleset.Set
		want     string
	}{
		{"a subcommand", set(shell.Bash, allow(git("log"))), set(shell.Bash, allow(git("log", "push"))), "unknown→allow git push …"},
		{"an exception", set(shell.Bash, allow(git())), set(shell.Bash, deny(git("push")), allow(git())), "allow→deny git push …"},
		{"options together", set(shell.Bash, deny(ruleset.All{rm, ruleset.Flags{"-r", "-f"}})), set(shell.Bash), "deny→unknown rm … with -r and -f"},
		{"a pipe", set(shell.Bash), set(shell.Bash, deny(ruleset.All{rm, ruleset.PipedToShell{}})), "unknown→deny rm … piped to a shell"},
		{"a directory", set(shell.Bash), set(shell.Bash, allow(ruleset.All{rm, within("src")})), "unknown→allow rm … in src"},
		{"words spelled out", set(shell.Bash, allow(ruleset.Prefix{{"sudo", "ls"}})), set(shell.Bash), "allow→unknown sudo ls …"},
		{"all but one", set(shell.Bash), set(shell.Bash, deny(git("stash list")), allow(git())), "unknown→allow git … but git stash list …; unknown→deny git stash list …"},
		{"a ruleset that is new", nil, set(shell.Bash, allow(ruleset.Prefix{{"ls"}})), "unknown→allow ls …"},
		{"a program that no list has", nil, set(shell.Bash, allow(ruleset.Prefix{{"a"}})), "unknown→allow a"},
	} {
		var got []string
		for _, x := range Compare(c.old, c.new).Classes {
			if x.Beside {
				continue
			}
			for _, r := range x.Regions {
				text := x.Old.Outcome.String() + "→" + x.New.Outcome.String() + " " + r.Where
				if len(r.Except) > 0 {
					text += " but " + strings.Join(r.Except, ", ")
				}
				got = append(got, text)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: found %s, want %s", c.name, text, c.want)
		}
	}
}

// known reports whether some differing part is of a class.
func known(found Comparison, parts []part) bool {
	for _, p := range parts {
		for _, c := range found.Classes {
			if same(c.Old, p.Old) && same(c.New, p.New) {
				return true
			}
		}
	}
	return false
}

func same(a, b Side) bool {
	return a.Outcome == b.Outcome && (a.Rule == nil) == (b.Rule == nil) && (a.Rule == nil || a.Rule.Origin == b.Rule.Origin)
}

func text(s *ruleset.Set) string {
	var b strings.Builder
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "\n  %s %v %T%v", r.Outcome, r.Kinds, r.Matcher, r.Matcher)
	}
	return b.String()
}
