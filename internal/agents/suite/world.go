package suite

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
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// Refusing imports a text with an answer to denies that are lost.
func (w *World) Refusing(from, text string, denies importer.Denies) (*importer.Result, error) {
	file := filepath.Join(w.In, fmt.Sprintf("denied%d", w.Next.Add(1)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return w.Imports(importer.Request{Files: []string{file}, From: from, Denies: denies, Patterns: importer.Existing})
}

// OnlyLines imports settings that are about commands alone, and asks about random ones.
func (w *World) OnlyLines(r *rand.Rand, name, from, text string) (lines, imported int64, err error) {
	res, err := w.RunAs(from, name, text, importer.Refuse)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", text, err)
	}
	lines, err = LinesAgree(r, w.Home, res.Text, text, res.Policy)
	return lines, 1, err
}

// Called are the tools of a server that a configuration lets be called.
func Called(t *testing.T, w *World, text, server string, tools ...string) string {
	t.Helper()
	res, err := importer.Compiled(text, w.Home)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range tools {
		if importer.Callable(res.Program, server, ir.Served(res.Program.Tools, server), name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// Several is from how many runs on a property expects what most runs have.
const Several = 500

// World is a home with a workspace that has files, for properties.
type World struct {
	// Home and Dir are the home and the workspace, In is a directory for documents to import.
	Home, Dir, In string
	// Next numbers documents.
	Next    atomic.Int64
	T       *testing.T
	formats []importer.Format
}

// NewWorld makes a world in which documents are imported in one of some formats.
func NewWorld(t *testing.T, formats ...importer.Format) *World {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Home: home, Dir: home + "/ws", In: t.TempDir(), T: t, formats: formats}
	for _, f := range []string{"ws/.env", "ws/a/.env", "ws/a/b/k.pem", "ws/a/.vscode/x", "ws/src/a/k.pem",
		"ws/src/.git/hooks/x", "ws/src/b/K.PEM", "ws/Docs/x", "x/y/k.pem", "x/.env"} {
		if err := os.MkdirAll(filepath.Dir(home+"/"+f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home+"/"+f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", w.Dir+"/link"); err != nil {
		t.Fatal(err)
	}
	return w
}

// Run imports a text under a name.
func (w *World) Run(name, text string, p importer.Patterns) (*importer.Result, error) {
	return w.RunAs("", name, text, p)
}

// RunAs imports a text in a format.
func (w *World) RunAs(from, name, text string, p importer.Patterns) (*importer.Result, error) {
	file := fmt.Sprintf("%s/in%d-%s", w.In, w.Next.Add(1), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	return w.Imports(importer.Request{Files: []string{file}, From: from, Patterns: p, Denies: importer.AskDenies})
}

// Imports imports files as the tool and the ruleset "agent".
func (w *World) Imports(req importer.Request) (*importer.Result, error) {
	req.Formats, req.Tool, req.Ruleset, req.Dir, req.Home = w.formats, "agent", "agent", w.Dir, w.Home
	return importer.Import(req)
}

// Drawn runs a property about settings that it draws, as often as irtest.Rounds says of a count. Each is imported,
// compiled and proved, on the disk, which takes ten times as long for some programs as for others. A full run has
// the same count for all.
func Drawn(t *testing.T, count int, property func(*rand.Rand) error) {
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

// Pick draws an element of a list.
func Pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Some draws at most n texts.
func Some(r *rand.Rand, n int, one func() string) []string {
	out := []string{}
	for range r.IntN(n + 1) {
		out = append(out, one())
	}
	return out
}

// SomePlace is a path of the world, as settings spell it.
func SomePlace(r *rand.Rand) string {
	return Pick(r, ".", "a", "a/b", "src", "./src/a", "link", "link/b", "~/x", "~/x/y", "~", "/", "/opt/z", "/etc",
		"/usr/share", "..", "x y", "a/b/k.pem", "src/**", ".git", ".vscode")
}

// SomeNames is a pattern.
func SomeNames(r *rand.Rand) string {
	return Pick(r, "**/.env", "*.pem", "a/*", "src/**/k.pem", "~/x/**/k*", "a/?", "/**/.env", "**/a/**", "x*/b",
		"~/x/*")
}

// Host has the facts about the world that an evaluation needs.
func (w *World) Host(p importer.Patterns) foreign.Host {
	return foreign.Host{Dir: w.Dir, Home: w.Home, Existing: p == importer.Existing,
		Follow: importer.Once(importer.Follow),
		Exists: importer.Once(func(abs string) bool { _, err := os.Lstat(abs); return err == nil })}
}

// Agrees asks a result and an evaluation at random.
func (w *World) Agrees(r *rand.Rand, res *importer.Result, text string, p foreign.Policy) error {
	c, err := importer.Compiled(res.Text, w.Home)
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
	k := importer.NewCheck(view, p, w.Host(importer.Refuse))
	for range 30 {
		abs := Pick(r, w.Dir, w.Dir, w.Home, w.Home+"/x", "/etc", "/opt")
		for range r.IntN(4) {
			abs += "/" + Pick(r, "a", "b", "src", "x", "y", ".env", "k.pem", "x y", "zz", ".git", "hooks", ".vscode",
				"passwd", "A", "SRC", "K.PEM", "Docs", "docs")
		}
		if importer.Follow(abs) != abs {
			continue
		}
		at := k.Location(abs)
		for _, cap := range ir.All.List() {
			if !view.Decide(ir.Access{Cap: cap, On: ir.Direct(at)}).Allowed() {
				continue
			}
			if !importer.Permits(p, cap, abs) {
				return fmt.Errorf("%s\n%s\npermits to %s %s", text, res.Text, cap, abs)
			}
		}
	}
	for range 30 {
		name := Pick(r, "a.test", "b.a.test", "z.b.a.test", "c.test", "10.0.0.1", "[::1]", "localhost", "q.test")
		port := Pick[uint16](r, 22, 80, 443, 8443)
		host, err := resolve.Host(name)
		if err != nil {
			return err
		}
		v := view.Decide(ir.Connect{To: ir.Endpoint{Scheme: Pick(r, "https", "http", ir.Stream), Host: host,
			Port: port}})
		if v.Allowed() && !p.Connects(strings.Trim(name, "[]"), port) {
			return fmt.Errorf("%s\n%s\npermits to connect to %s:%d", text, res.Text, name, port)
		}
	}
	return nil
}

// LinesAgree asks a ruleset and an evaluation about random lines, and counts those that both allow.
func LinesAgree(r *rand.Rand, home, toml, text string, p foreign.Policy) (int64, error) {
	c, err := importer.Compiled(toml, home)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, set := range c.Rulesets {
		for range 40 {
			line := Pick(r, "git", "npm", "ls", "make", "zz")
			for range r.IntN(4) {
				line += " " + Pick(r, "push", "log", "--force", "run", "-x", "zz", "git", "test")
			}
			if set.Decide(ruleset.Operation{Command: line, Dir: set.Root}, rulediff.Host()).Outcome != ruleset.Allow {
				continue
			}
			if n++; !p.Runs(line) {
				return n, fmt.Errorf("%s\n%s\nallows %q", text, toml, line)
			}
		}
		for range 10 {
			host := Pick(r, "a.test", "b.a.test", "z.b.a.test", "q.test")
			d := set.Decide(ruleset.Operation{Kind: ruleset.Fetch, URL: "https://" + host + "/"}, rulediff.Host())
			if d.Outcome == ruleset.Allow && !p.Fetches(host) {
				return n, fmt.Errorf("%s\n%s\nallows to fetch from %s", text, toml, host)
			}
		}
	}
	return n, nil
}

// SandboxSettings draws settings of srt, which Claude Code has as a part of its own.
func SandboxSettings(r *rand.Rand) string {
	paths := func() string {
		if r.IntN(4) == 0 {
			return SomeNames(r)
		}
		return SomePlace(r)
	}
	hosts := func() string {
		host := Pick(r, "a.test", "b.a.test", "*.a.test", "*.b.a.test", "c.test", "10.0.0.1", "[::1]", "localhost")
		return host + Pick(r, "", "", ":443", ":22", ":8443")
	}
	denied := func() string { return Pick(r, hosts(), hosts(), "*", "*:22") }
	doc := map[string]any{
		"filesystem": map[string]any{"denyRead": Some(r, 3, paths), "allowRead": Some(r, 2, paths),
			"allowWrite": Some(r, 3, paths), "denyWrite": Some(r, 3, paths)},
		"network": map[string]any{"allowedDomains": Some(r, 4, hosts), "deniedDomains": Some(r, 2, denied)},
	}
	if r.IntN(4) == 0 {
		doc["credentials"] = map[string]any{"envVars": []any{map[string]any{"name": Pick(r, "TERM", "X_TOKEN"),
			"mode": Pick(r, "deny", "mask")}}}
	}
	text, _ := json.Marshal(doc)
	return string(text)
}
