package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// world is a home with a workspace that has files, for properties.
type world struct {
	home, dir, in string
	next          atomic.Int64
	t             *testing.T
}

func newWorld(t *testing.T) *world {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: home, dir: home + "/ws", in: t.TempDir(), t: t}
	for _, f := range []string{"ws/.env", "ws/a/.env", "ws/a/b/k.pem", "ws/a/.vscode/x", "ws/src/a/k.pem", "ws/src/.git/hooks/x", "ws/src/b/K.PEM", "ws/Docs/x", "x/y/k.pem", "x/.env"} {
		if err := os.MkdirAll(filepath.Dir(home+"/"+f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home+"/"+f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", w.dir+"/link"); err != nil {
		t.Fatal(err)
	}
	return w
}

// run imports a text under a name.
func (w *world) run(name, text string, p Patterns) (*Result, error) {
	return w.runAs("", name, text, p)
}

// runAs imports a text in a format.
func (w *world) runAs(from, name, text string, p Patterns) (*Result, error) {
	file := fmt.Sprintf("%s/in%d-%s", w.in, w.next.Add(1), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	return Import(Request{Files: []string{file}, From: from, Tool: "agent", Ruleset: "agent", Patterns: p, Denies: AskDenies, Dir: w.dir, Home: w.home})
}

// drawn runs a property about settings that it draws, as often as irtest.Rounds says of a count. Each is imported,
// compiled and proved, on the disk, which takes ten times as long for some programs as for others. A full run has
// the same count for all.
func drawn(t *testing.T, count int, property func(*rand.Rand) error) {
	t.Helper()
	if irtest.Full() {
		count = 10_000
	}
	n := irtest.Rounds(t, count)
	for _, seed := range epoch.Seeds(t) {
		for i := range n {
			if err := property(epoch.Source(seed, uint64(i))); err != nil {
				t.Fatalf("run %d of seed %d: %v", i, seed, err)
			}
		}
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func some(r *rand.Rand, n int, one func() string) []string {
	out := []string{}
	for range r.IntN(n + 1) {
		out = append(out, one())
	}
	return out
}

// place is a path of the world, as settings spell it.
func place(r *rand.Rand) string {
	return pick(r, ".", "a", "a/b", "src", "./src/a", "link", "link/b", "~/x", "~/x/y", "~", "/", "/opt/z", "/etc", "/usr/share", "..", "x y", "a/b/k.pem", "src/**", ".git", ".vscode")
}

// names is a pattern.
func names(r *rand.Rand) string {
	return pick(r, "**/.env", "*.pem", "a/*", "src/**/k.pem", "~/x/**/k*", "a/?", "/**/.env", "**/a/**", "x*/b", "~/x/*")
}

func srtSettings(r *rand.Rand) string {
	paths := func() string {
		if r.IntN(4) == 0 {
			return names(r)
		}
		return place(r)
	}
	hosts := func() string {
		host := pick(r, "a.test", "b.a.test", "*.a.test", "*.b.a.test", "c.test", "10.0.0.1", "[::1]", "localhost")
		return host + pick(r, "", "", ":443", ":22", ":8443")
	}
	denied := func() string { return pick(r, hosts(), hosts(), "*", "*:22") }
	doc := map[string]any{
		"filesystem": map[string]any{"denyRead": some(r, 3, paths), "allowRead": some(r, 2, paths), "allowWrite": some(r, 3, paths), "denyWrite": some(r, 3, paths)},
		"network":    map[string]any{"allowedDomains": some(r, 4, hosts), "deniedDomains": some(r, 2, denied)},
	}
	if r.IntN(4) == 0 {
		doc["credentials"] = map[string]any{"envVars": []any{map[string]any{"name": pick(r, "TERM", "X_TOKEN"), "mode": pick(r, "deny", "mask")}}}
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any settings of srt, the result permits nothing that they do not: asked at random places, not at
// those that the proof chooses.
func TestSRTNothingWider(t *testing.T) {
	w := newWorld(t)
	var done atomic.Int64
	drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := srtSettings(r), pick(r, Existing, Close)
		res, err := w.run("srt.json", text, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		done.Add(1)
		return w.agrees(r, res, text, w.srt(text, patterns))
	})
	if done.Load() == 0 {
		t.Error("nothing was imported")
	}
}

// srt reads settings without the importer.
func (w *world) srt(text string, p Patterns) *foreign.SRT {
	var doc struct {
		Filesystem struct{ DenyRead, AllowRead, AllowWrite, DenyWrite []string }
		Network    struct{ AllowedDomains, DeniedDomains []string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		w.t.Error(err)
	}
	spelled := func(list []string) []foreign.Spelled {
		var out []foreign.Spelled
		for _, s := range list {
			out = append(out, foreign.Spelled{Path: s})
		}
		return out
	}
	return &foreign.SRT{
		Host:     w.host(p),
		DenyRead: spelled(doc.Filesystem.DenyRead), AllowRead: spelled(doc.Filesystem.AllowRead),
		AllowWrite: spelled(doc.Filesystem.AllowWrite), DenyWrite: spelled(doc.Filesystem.DenyWrite),
		AllowedDomains: doc.Network.AllowedDomains, DeniedDomains: doc.Network.DeniedDomains,
	}
}

func (w *world) host(p Patterns) foreign.Host {
	return foreign.Host{Dir: w.dir, Home: w.home, Existing: p == Existing, Follow: once(follow),
		Exists: once(func(abs string) bool { _, err := os.Lstat(abs); return err == nil })}
}

// agrees asks a result and an evaluation at random.
func (w *world) agrees(r *rand.Rand, res *Result, text string, p foreign.Policy) error {
	c, err := compiled(res.Text, w.home)
	if err != nil {
		return err
	}
	for _, e := range res.Entries {
		if e.Fate == 0 {
			return fmt.Errorf("%s: nothing became of %s %s", text, e.Key, e.Text)
		}
	}
	if len(c.Program.Tools) == 0 {
		return nil
	}
	view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
	k := &check{t: &translation{host: w.host(Refuse)}, view: view}
	for range 30 {
		abs := pick(r, w.dir, w.dir, w.home, w.home+"/x", "/etc", "/opt")
		for range r.IntN(4) {
			abs += "/" + pick(r, "a", "b", "src", "x", "y", ".env", "k.pem", "x y", "zz", ".git", "hooks", ".vscode", "passwd", "A", "SRC", "K.PEM", "Docs", "docs")
		}
		if follow(abs) != abs {
			continue
		}
		at := k.location(abs)
		for _, cap := range ir.All.List() {
			if !view.Decide(ir.Access{Cap: cap, On: ir.Direct(at)}).Allowed() {
				continue
			}
			if !permits(p, cap, abs) {
				return fmt.Errorf("%s\n%s\npermits to %s %s", text, res.Text, cap, abs)
			}
		}
	}
	for range 30 {
		name := pick(r, "a.test", "b.a.test", "z.b.a.test", "c.test", "10.0.0.1", "[::1]", "localhost", "q.test")
		port := pick[uint16](r, 22, 80, 443, 8443)
		host, err := resolve.Host(name)
		if err != nil {
			return err
		}
		v := view.Decide(ir.Connect{To: ir.Endpoint{Scheme: pick(r, "https", "http", ir.Stream), Host: host, Port: port}})
		if v.Allowed() && !p.Connects(strings.Trim(name, "[]"), port) {
			return fmt.Errorf("%s\n%s\npermits to connect to %s:%d", text, res.Text, name, port)
		}
	}
	return nil
}

// For any permission profile of Codex, the result permits nothing that it does not.
func TestCodexNothingWider(t *testing.T) {
	w := newWorld(t)
	drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := codexSettings(r), pick(r, Existing, Close)
		tr := &translation{req: &Request{Patterns: patterns}, host: w.host(patterns)}
		policy := readCodexConfig(tr, []*document{{name: "config.toml", text: []byte(text)}})
		res, err := w.run("config.toml", text, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return w.agrees(r, res, text, policy)
	})
}

func codexSettings(r *rand.Rand) string {
	if r.IntN(5) == 0 {
		return fmt.Sprintf("sandbox_mode = %q\n[sandbox_workspace_write]\nwritable_roots = [%q]\n", pick(r, "read-only", "workspace-write", "danger-full-access"), pick(r, "~/x", "/opt/z", "~/x/y"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "default_permissions = \"p\"\n[permissions.p]\nextends = %q\n[permissions.p.filesystem]\n", pick(r, ":read-only", ":workspace"))
	for _, p := range without(some(r, 4, func() string {
		return pick(r, ":root", ":minimal", ":tmpdir", "~/x", "~/x/y", "/opt/z", "/etc", "/usr/share", "~", "~/x/*", "~/x/**")
	})) {
		mode := pick(r, "read", "write", "deny")
		if strings.HasSuffix(p, "/*") {
			mode = "deny"
		}
		if p == ":minimal" {
			mode = "read"
		}
		fmt.Fprintf(&b, "%q = %q\n", p, mode)
	}
	b.WriteString("[permissions.p.filesystem.\":workspace_roots\"]\n")
	for _, p := range without(some(r, 5, func() string {
		return pick(r, ".", "a", "a/b", "src", "link", "link/b", "x y", ".git", "**/.env", "a/*", "src/**")
	})) {
		mode := pick(r, "read", "write", "write", "none")
		if strings.HasPrefix(p, "**") || strings.HasSuffix(p, "/*") {
			mode = "deny"
		}
		fmt.Fprintf(&b, "%q = %q\n", p, mode)
	}
	fmt.Fprintf(&b, "[permissions.p.network]\nenabled = %t\nmode = %q\n[permissions.p.network.domains]\n", r.IntN(4) > 0, pick(r, "full", "full", "limited"))
	for _, h := range without(some(r, 4, func() string {
		return pick(r, "a.test", "*.a.test", "**.a.test", "b.a.test", "c.test", "localhost", "10.0.0.1")
	})) {
		fmt.Fprintf(&b, "%q = %q\n", h, pick(r, "allow", "allow", "deny"))
	}
	fmt.Fprintf(&b, "[shell_environment_policy]\ninherit = %q\nexclude = [%q]\n", pick(r, "all", "core", "none"), pick(r, "AWS_*", "T*", "lang", "*"))
	return b.String()
}

func claudeSettings(r *rand.Rand) string {
	word := func() string { return pick(r, "git", "push", "log", "--force", "npm", "run", "ls", "make", "-x") }
	bash := func() string {
		spec := strings.Join(append([]string{pick(r, "git", "npm", "ls", "make")}, some(r, 2, word)...), " ")
		switch r.IntN(6) {
		case 0:
			return "Bash(" + spec + ":*)"
		case 1:
			return "Bash(" + spec + " *)"
		case 2:
			return "Bash(" + spec + "*)"
		case 3:
			return "Bash(" + strings.Replace(spec, " ", pick(r, " * ", "* ", " *"), 1) + ")"
		case 4:
			return pick(r, "Bash", "Bash(*)", "Bash(* "+word()+")")
		}
		return "Bash(" + spec + ")"
	}
	file := func() string {
		spec := pick(r, place(r), "/src/**", "//"+strings.TrimPrefix("etc/x", "/"), "~/x/**", "./a/**",
			"**/.env", ".env", "*.pem", "/a/b", "**", "src/*", "/docs", "/Docs/**", "docs/*", "~/X",
			"/{src,docs}", "./a/{b,{x,y}/**}", "src/{*.pem,x}", "{a,b}")
		return pick(r, "Read", "Edit", "Edit", "Write") + pick(r, "("+spec+")", "("+spec+")", "("+spec+")", "")
	}
	rule := func() string {
		return pick(r, bash(), bash(), file(), file(), "WebFetch(domain:"+pick(r, "a.test", "b.a.test", "*.a.test")+")", "WebFetch", "mcp__x__y")
	}
	doc := map[string]any{"permissions": map[string]any{
		"allow": some(r, 6, rule), "ask": some(r, 3, rule), "deny": some(r, 3, rule),
		"defaultMode":           pick(r, "default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"),
		"additionalDirectories": some(r, 1, func() string { return "~/x" }),
	}}
	if r.IntN(2) == 0 {
		var box map[string]any
		_ = json.Unmarshal([]byte(srtSettings(r)), &box)
		box["enabled"], box["autoAllowBashIfSandboxed"] = r.IntN(4) > 0, r.IntN(4) > 0
		doc["sandbox"] = box
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any settings of Claude Code, random command lines, places and hosts are never permitted by the
// result alone.
func TestClaudeNothingWider(t *testing.T) {
	w := newWorld(t)
	var allowed atomic.Int64
	drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := claudeSettings(r), pick(r, Existing, Close)
		docs := []*document{{name: "settings.json", path: w.dir + "/.claude/settings.json", text: []byte(text)}}
		if err := docs[0].json(); err != nil {
			return err
		}
		t := &translation{req: &Request{Patterns: patterns}, host: w.host(patterns), draft: draft{tool: "agent", ruleset: "agent"}}
		policy := readClaude(t, docs)
		res, err := w.run("settings.json", text, patterns)
		if err != nil && (strings.Contains(err.Error(), "as the file is spelled") || strings.Contains(err.Error(), "folds case")) {
			return nil // rules cannot be about two spellings
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := w.agrees(r, res, text, policy); err != nil {
			return err
		}
		n, err := linesAgree(r, w.home, res.Text, text, policy)
		allowed.Add(n)
		return err
	})
	if allowed.Load() == 0 {
		t.Error("no line was allowed")
	}
}

// linesAgree asks a ruleset and an evaluation about random lines, and counts those that both allow.
func linesAgree(r *rand.Rand, home, toml, text string, p foreign.Policy) (int64, error) {
	c, err := compiled(toml, home)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, set := range c.Rulesets {
		for range 40 {
			line := pick(r, "git", "npm", "ls", "make", "zz")
			for range r.IntN(4) {
				line += " " + pick(r, "push", "log", "--force", "run", "-x", "zz", "git", "test")
			}
			if set.Decide(ruleset.Operation{Command: line, Dir: set.Root}, rulediff.Host()).Outcome != ruleset.Allow {
				continue
			}
			if n++; !p.Runs(line) {
				return n, fmt.Errorf("%s\n%s\nallows %q", text, toml, line)
			}
		}
		for range 10 {
			host := pick(r, "a.test", "b.a.test", "z.b.a.test", "q.test")
			d := set.Decide(ruleset.Operation{Kind: ruleset.Fetch, URL: "https://" + host + "/"}, rulediff.Host())
			if d.Outcome == ruleset.Allow && !p.Fetches(host) {
				return n, fmt.Errorf("%s\n%s\nallows to fetch from %s", text, toml, host)
			}
		}
	}
	return n, nil
}
