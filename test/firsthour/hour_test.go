//go:build linux

// Package firsthour_test measures how real programs get from nothing to a policy under which they
// work. They run accessc as a user does. See decision D170.
package firsthour_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"

	"github.com/accessc/accessc/test/testbuild"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
)

// bin is the directory of the program under test.
var bin string

// pages is a server of this host, for the tools that reach one.
var pages *httptest.Server

func TestMain(m *testing.M) {
	// No command asks the user that runs the tests.
	_, _ = syscall.Setsid()
	if !measures() {
		os.Exit(m.Run())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "hour-bin-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	if err := os.Chmod(bin, 0o755); err != nil {
		panic(err)
	}
	if err := testbuild.Program(filepath.Join(bin, "accessc"), "cmd/accessc"); err != nil {
		panic(err)
	}
	pages = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "page") }))
	defer pages.Close()
	return m.Run()
}

// all is true where every scenario runs, not only the quick ones.
func all() bool { return os.Getenv("ACCESSC_FIRSTHOUR") != "" }

// measures is true where scenarios run at all.
func measures() bool { return all() || irtest.Full() }

// A row is the measurement of one scenario.
type row struct {
	name, skipped string
	ran           bool
	hand          fit
	init, learn   outcome
}

// An outcome is a way from nothing to a policy that works.
type outcome struct {
	rounds int // 0 if it never worked
	rules  int
	fit    fit
	why    string // the reason why it never worked
}

// most is how many rounds a user may need.
const most = 3

// held fails where more rounds were needed than a user may need and no reason is known, and where
// fewer sufficed although one is.
func (o outcome) held(t *testing.T, way, known string) {
	t.Helper()
	switch fine := o.rounds > 0 && o.rounds <= most; {
	case fine && known != "":
		t.Errorf("by %s: works in %d rounds by now, the scenario says: %s", way, o.rounds, known)
	case !fine && known == "":
		t.Errorf("by %s: %d rounds\n%s", way, o.rounds, o.why)
	case !fine:
		t.Logf("by %s: %s", way, known)
	}
}

func (o outcome) String() string {
	if o.rounds == 0 {
		return "∞"
	}
	return fmt.Sprint(o.rounds)
}

// TestFirstHour lays out every scenario, holds its hand-written policy against the program, and
// counts the rounds until it works without.
func TestFirstHour(t *testing.T) {
	if !measures() {
		t.Skip("task firsthour runs it, and a soak the quick ones")
	}
	if start.ABI() == 0 || !start.ThisHost().Supervises {
		t.Skip("needs Landlock and a supervisor")
	}
	if !notesReads(t) {
		t.Skip("the file system does not note reads")
	}
	var rows []*row
	t.Run("scenario", func(t *testing.T) {
		for _, s := range scenarios(t) {
			r := &row{name: s.name}
			rows = append(rows, r)
			t.Run(s.name, func(t *testing.T) {
				if !s.quick && !all() {
					r.skipped = "task firsthour runs it"
					t.Skip(r.skipped)
				}
				if m := s.missing(); m != "" {
					r.skipped = "needs " + m
					t.Skip(r.skipped)
				}
				t.Parallel()
				s.measure(t, r)
			})
		}
	})
	t.Log("\n" + table(rows))
}

// measure fills a row.
func (s *scenario) measure(t *testing.T, r *row) {
	if s.refused != "" {
		s.isRefused(t)
		return
	}
	r.ran = true
	r.hand = s.byHand(t)
	r.init = s.byInit(t)
	r.init.held(t, "init and denials", s.byHandOnly["init"])
	r.learn = s.byLearning(t)
	r.learn.held(t, "learn", s.byHandOnly["learn"])
}

// byHand starts the tool under its hand-written policy.
func (s *scenario) byHand(t *testing.T) fit {
	p := newPlace(t, s)
	p.configure(p.policy)
	if out, err := p.sh(p.hand); err != nil {
		t.Fatalf("hand: %v\n%s", err, out)
	}
	if len(p.approve) > 0 {
		if out, status := p.accessc(append([]string{"approve", "--yes"}, p.approve...)...); status != 0 {
			t.Fatalf("approve: %s", out)
		}
	}
	before := p.take()
	if works, said := p.try(); !works {
		t.Fatalf("under the hand-written policy:\n%s", said)
	}
	return p.fit(before)
}

// isRefused starts a tool that cannot do its work under any policy that is proposed.
func (s *scenario) isRefused(t *testing.T) {
	p := newPlace(t, s)
	p.configure(p.policy)
	if works, said := p.try("--trace"); works {
		t.Fatalf("works:\n%s", said)
	}
	if out, _ := p.accessc("denials", "t"); !strings.Contains(out, p.refused) {
		t.Fatalf("denials does not say %q:\n%s", p.refused, out)
	}
}

// tries is how often a user tries before giving up.
const tries = 4

// byInit begins with the policy that "accessc init" writes, or with a tool that extends presets, and
// follows the proposals of accessc denials after each run that fails.
func (s *scenario) byInit(t *testing.T) outcome {
	p := newPlace(t, s)
	p.begin()
	var flags []string
	var said string
	for n := 1; n <= tries; n++ {
		var works bool
		before := p.take()
		if works, said = p.try(flags...); works {
			return outcome{rounds: n, rules: p.rules(), fit: p.fit(before)}
		}
		if p.follow() {
			continue
		}
		if flags != nil {
			break
		}
		flags = []string{"--trace"} // accessc denials advises it
	}
	out, _ := p.accessc("denials", p.tool)
	return outcome{why: said + "\n" + out}
}

// begin has accessc init make the tool, or makes one, and approves the places of its presets.
func (p *place) begin() {
	p.Helper()
	presets := p.presets
	if p.scenario.init == "" {
		extends := ""
		for _, name := range presets {
			extends += fmt.Sprintf("access.extends = [%q]\n", "preset:"+name)
		}
		p.configure(extends + p.start)
	} else {
		p.tool = p.scenario.init
		said, _ := p.accessc("init")
		text, err := os.ReadFile(p.ws + "/accessc.toml")
		if err != nil || !strings.Contains(string(text), "[tools."+p.tool+"]") {
			p.Fatalf("init makes no tool %s: %s\n%s", p.tool, said, text)
		}
		presets = nil
		for _, m := range regexp.MustCompile(`(?m)^ *"preset:([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(presets, m[1]) {
				presets = append(presets, m[1])
			}
		}
	}
	for _, name := range presets {
		if out, status := p.accessc("approve", "--yes", "preset:"+name); status != 0 {
			p.Logf("approve preset:%s: %s", name, out)
		}
	}
}

// follow carries out the commands that accessc denials proposes, false if there is none.
func (p *place) follow() (applied bool) {
	p.Helper()
	out, err := p.command(bin+"/accessc", "denials", "--format", "json", p.tool).Output()
	if err != nil || len(out) == 0 {
		return false // no refusals are kept
	}
	var doc struct {
		Proposals []struct{ Command string }
	}
	p.must(json.Unmarshal(out, &doc))
	for _, x := range doc.Proposals {
		if x.Command == "" {
			continue
		}
		if out, err := p.sh("PATH=" + bin + ":$PATH\n" + x.Command + " --yes"); err != nil {
			p.Logf("%s: %v\n%s", x.Command, err, out)
			continue
		}
		applied = true
	}
	return applied
}

// byLearning begins without a configuration. accessc learn watches the command under the default
// policy, and makes a tool of it, until that tool works, each time in a fresh workspace.
func (s *scenario) byLearning(t *testing.T) outcome {
	p := newPlace(t, s)
	words := []string{"learn", "--apply", "--yes"}
	for _, gap := range p.accept {
		words = append(words, "--accept", gap)
	}
	said := ""
	for n := 1; n <= tries; n++ {
		run := []string{"--from", "default", "t", "--", "sh", "-e", "-c", p.expand(p.run)}
		learned, _ := p.accessc(append(words[:len(words):len(words)], run...)...)
		if _, err := os.Stat(p.ws + "/.accessc/local.toml"); err != nil {
			return outcome{why: learned}
		}
		p.discreet(learned)
		p.again()
		before := p.take()
		var works bool
		if works, said = p.try(); works {
			return outcome{rounds: n, rules: p.rules(), fit: p.fit(before)}
		}
		said = learned + "\nthen: " + said
		p.again()
	}
	return outcome{why: said}
}

// discreet fails if the policy of t reaches a place that no proposal may reach.
func (p *place) discreet(learned string) {
	p.Helper()
	var denied []string
	for dir, files := range map[string][]string{p.ws: sensitive.ws, p.user: sensitive.user} {
		for _, f := range files {
			f = filepath.Join(dir, f)
			if _, err := os.Stat(f); err == nil {
				denied = append(denied, "read "+f, "update "+f)
			}
		}
	}
	for _, f := range []string{"accessc.toml", ".accessc/local.toml", ".git/hooks/pre-commit", ".git/config", ".mcp.json", ".github/workflows/ci.yml", ".vscode/settings.json"} {
		f = filepath.Join(p.ws, f)
		denied = append(denied, "create "+f, "update "+f, "delete "+f)
	}
	var asked []question
	for _, q := range denied {
		op, target, _ := strings.Cut(q, " ")
		asked = append(asked, question{op, target, true, q})
	}
	for _, a := range p.ask(asked) {
		if a.Verdict != "deny" {
			p.Errorf("learned to %s\n%s", a.ID, learned)
		}
	}
}

// rules counts the rules of the layers that the user may have written.
func (p *place) rules() (n int) {
	for _, name := range []string{"accessc.toml", ".accessc/local.toml"} {
		text, _ := os.ReadFile(p.ws + "/" + name)
		for _, list := range []string{"fs", "net", "env"} {
			n += strings.Count(string(text), ".access."+list+"]]")
		}
	}
	return n
}

// table shows the rows that ran, and names the others.
func table(rows []*row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tby hand: used of read, written\tinit: rounds\trules\tused of read, written\tlearn: rounds\trules\tused of read, written")
	var skipped []string
	for _, r := range rows {
		if r.skipped != "" {
			skipped = append(skipped, r.name+": "+r.skipped)
		}
		if !r.ran {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\n", r.name, r.hand, r.init, r.init.rules, r.init.fit, r.learn, r.learn.rules, r.learn.fit)
	}
	_ = w.Flush()
	b.WriteString(sum("init", rows, func(r *row) outcome { return r.init }) + sum("learn", rows, func(r *row) outcome { return r.learn }))
	for _, s := range skipped {
		b.WriteString("not run: " + s + "\n")
	}
	return b.String()
}

// sum counts the programs that a way has led to a policy.
func sum(way string, rows []*row, of func(*row) outcome) string {
	ran, once, few, tight := 0, 0, 0, 0
	for _, r := range rows {
		if !r.ran {
			continue
		}
		ran++
		o := of(r)
		if o.rounds == 0 || o.rounds > most {
			continue
		}
		few++
		if o.rounds == 1 {
			once++
		}
		if o.fit.tightness() >= r.hand.tightness() {
			tight++
		}
	}
	return fmt.Sprintf("%s: of %d programs %d work after 1 round, %d after at most %d; %d of these policies are no wider than by hand\n", way, ran, once, few, most, tight)
}
