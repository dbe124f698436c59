package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/cmd/accessc/early"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
	"github.com/accessc/accessc/test/testbuild"
)

// TestKeptStartsAreNeverStale: after any change of anything that a policy is compiled from, a start
// from a kept compilation is the start that a compilation would have made, and as silent.
func TestKeptStartsAreNeverStale(t *testing.T) {
	n := irtest.Times(2_500)
	if irtest.Full() {
		n = 100_000
	}
	for _, seed := range epoch.Seeds(t) {
		keptStarts(t, n, seed)
	}
}

func keptStarts(t *testing.T, n int, seed uint64) {
	fmt.Printf("property %s: %d edits, seed %d\n", t.Name(), n, seed)
	w := newKeptWorld(t, epoch.Source(seed, 0))
	hits, refused := 0, 0
	for i := range n {
		if i%max(50, n/100) == 0 {
			w.settle()
		}
		edit := w.edit()
		hit, ok := w.start(fmt.Sprintf("edit %d of seed %d, %s", i, seed, edit))
		if hit {
			hits++
		}
		if !ok {
			refused++
		}
	}
	fmt.Printf("kinds %s: %d starts from kept compilations, %d compiled, %d of these refused or with something to say\n", t.Name(), hits, n-hits, refused)
	// Edits build on each other, so few of them say little of how often a policy compiles.
	if least := n / 20; irtest.Full() && (hits < least || n-hits-refused < least) {
		t.Errorf("too few of a kind: %d of %d starts were kept ones, %d refused", hits, n, refused)
	}
	irtest.Happened(t, map[string]int{"a kept start": hits, "a compiled start": n - hits - refused, "a refused start": refused},
		"a kept start", "a compiled start", "a refused start")
}

// keptWorld is a workspace with all around it, and the edits of it.
type keptWorld struct {
	t   *testing.T
	r   *rand.Rand
	dir string
	// first is how each place is when all is well: a text, "/" for a directory, "-> x" for a symlink,
	// empty for nothing.
	first map[string]string
	// places are its keys; texts and targets may be there as well.
	places, texts, targets []string
	// approved is the store of approvals when all is well.
	approved []byte
}

const keptConfig = `extends = ["conf/*.toml"]
[tools.t]
source = "local"
command = "prog x"
access.fs = [
  { path = ".", read = true, write = true, execute = true },
  { path = "lib/x", read = true },
  { path = "fork", external = true, read = true },
]
access.commands = { prog = {}, "./tool.sh" = {}, other = {} }
access.sensitive_paths = ["**/*.pem"]
`

func newKeptWorld(t *testing.T, r *rand.Rand) *keptWorld {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { enter(dir) })
	w := &keptWorld{t: t, r: r, dir: dir, first: map[string]string{
		"ws/accessc.toml": keptConfig, "ws/.accessc/local.toml": "", "ws/.jp/config.toml": "",
		"ws/conf/a.toml": "[tools.t.access.limits]\nopen_files = 100\n", "ws/conf/b.toml": "", "ws/conf": "/",
		"ws/lib": "-> lib.v1", "ws/lib.v1": "/", "ws/lib.v1/x": "1", "ws/lib.v2/x": "2", "ws/fork": "-> ../out",
		"ws/.git": "/", "ws/.git/config": "[core]\n\thooksPath = hooks\n", "ws/.git/commondir": "", "ws/.git/HEAD": "x",
		"ws/tool.sh": "#!/bin/sh\n", "ws/src": "/", "ws/src/deep": "/", "ws/src/deep/key.pem": "", "ws/src/.env": "", "ws/.mcp.json": "", "ws/.claude": "",
		"ws/noise": "", "ws/src/noise": "", "ws/src/deep/noise": "", "ws/src/new": "",
		"bin/prog": "#!/bin/sh\n", "bin/other": "-> prog", "bin2/prog": "", "out": "/", "out/x": "x", "out2": "/", "out2/.env": "",
		"user/home/.ssh": "", "user/config/accessc/config.toml": "", "user/config2/accessc/config.toml": "[tools.t.access.limits]\nopen_files = 7\n",
	}}
	for p := range w.first {
		w.places = append(w.places, p)
	}
	slices.Sort(w.places) // a directory before what is in it
	w.texts = []string{
		"#!/bin/sh\n", "#!/usr/bin/env sh\n", "#!" + dir + "/bin/prog\n", "x", "gitdir: " + dir + "/gd\n", "[core]\n\thooksPath = \"h2\"\n", "[include]\n\tpath = ../src/noise\n",
		"../..\n", "[tools.t.access.limits]\nopen_files = 100\n", "[tools.t.access.limits]\nopen_files = 101\n", "[[tools.t.access.fs]]\npath = \"src/deep\"\n",
		"[[tools.t.access.fs]]\npath = \"src/new\"\nread = true\n", "[[tools.t.access.env]]\nname = \"PATH\"\nread = false\n", "not toml",
		"[tools.t]\nrun = \"unattended\"\n", "[tools.t.access]\nhome = \"shared\"\n", "[tools.t.access]\nprotected = \"none\"\n", "[tools.t]\nenable = false\n",
		strings.Replace(keptConfig, "lib/x", "lib", 1), strings.Replace(keptConfig, "prog x", "prog y", 1), strings.Replace(keptConfig, `conf/*`, `conf/**/*`, 1),
	}
	w.targets = []string{"lib.v1", "lib.v2", "../out", "../out2", "src", "noise", dir + "/ws/src", dir + "/out2", dir + "/bin/prog", "prog", ".", "nowhere", dir + "/gd"}
	leaveTerminal()
	if err := os.Mkdir(filepath.Join(dir, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "ws"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "user/state"))
	w.reset()
	return w
}

// reset makes everything as it was first.
func (w *keptWorld) reset() {
	for _, p := range w.places {
		w.put(p, w.first[p])
	}
	for name, value := range map[string]string{"HOME": "user/home", "XDG_CONFIG_HOME": "user/config", "PATH": "bin"} {
		w.t.Setenv(name, w.path(value))
	}
	state, err := userdir.For(filepath.ToSlash(w.path("ws")))
	if err != nil {
		w.t.Fatal(err)
	}
	_ = os.Chmod(state.Compiled(), 0o700)
	if w.approved == nil {
		w.approve("fork", "out")
		if w.approved, err = os.ReadFile(state.Approvals()); err != nil {
			w.t.Fatal(err)
		}
	}
	_ = os.MkdirAll(string(state), 0o700)
	_ = os.WriteFile(state.Approvals(), w.approved, 0o600)
	_ = os.Chmod(state.Approvals(), 0o600)
}

func (w *keptWorld) path(p string) string { return filepath.Join(w.dir, p) }

// put makes a place as said, unless earlier edits are in the way.
func (w *keptWorld) put(p, text string) {
	at := w.path(p)
	_ = os.Chmod(filepath.Dir(at), 0o755)
	enter(at)
	_ = os.RemoveAll(at)
	_ = os.MkdirAll(filepath.Dir(at), 0o755)
	switch target, link := strings.CutPrefix(text, "-> "); {
	case link:
		_ = os.Symlink(target, at)
	case text == "/":
		_ = os.MkdirAll(at, 0o755)
	case text != "":
		_ = testbuild.WriteFile(at, []byte(text), 0o755)
	}
}

// enter lets directories be removed.
func enter(at string) {
	if info, err := os.Lstat(at); err != nil || !info.IsDir() || os.Chmod(at, 0o755) != nil {
		return
	}
	entries, _ := os.ReadDir(at)
	for _, e := range entries {
		enter(filepath.Join(at, e.Name()))
	}
}

func (w *keptWorld) approve(rule, target string) {
	state, err := userdir.For(filepath.ToSlash(w.path("ws")))
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = approvals.Update(state.Approvals(), func(s *approvals.Store) error {
		if target == "" {
			s.Forget(rule)
			return nil
		}
		return s.Approve(approvals.Mount{RulePath: rule, CanonicalTarget: filepath.ToSlash(w.path(target))})
	})
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// edit changes one thing, and says which. Most edits put something back, so that most starts are
// of a policy that compiles.
func (w *keptWorld) edit() string {
	p := pick(w.r, w.places)
	switch n := w.r.IntN(26); {
	case n >= 22:
		w.reset()
		return "all as first"
	case n >= 20:
		return "nothing"
	case n < 9:
		w.put(p, w.first[p])
		return "first " + p
	case n < 11:
		text := pick(w.r, w.texts)
		w.put(p, text)
		return fmt.Sprintf("%s has %q", p, text)
	case n == 11:
		target := pick(w.r, w.targets)
		w.put(p, "-> "+target)
		return p + " -> " + target
	case n == 12:
		w.put(p, pick(w.r, []string{"", "/"}))
		return "none or a directory at " + p
	case n == 13:
		to := pick(w.r, w.places)
		err := os.Rename(w.path(p), w.path(to))
		return fmt.Sprintf("rename %s %s: %v", p, to, err)
	case n == 14:
		mode := pick(w.r, []os.FileMode{0o755, 0o644, 0o000, 0o777})
		err := os.Chmod(w.path(p), mode)
		return fmt.Sprintf("chmod %v %s: %v", mode, p, err)
	case n == 15:
		return "as before, " + w.disguise(p)
	case n == 16:
		return w.variable()
	case n == 17:
		target := pick(w.r, []string{"out", "out", "out2", ""})
		w.approve("fork", target)
		return "approved for fork: " + target
	case n == 18:
		return w.meddle()
	default:
		noise := pick(w.r, []string{"ws/noise", "ws/src/noise", "ws/src/deep/noise"})
		w.put(noise, fmt.Sprint(w.r.IntN(100)+1))
		return "noise " + noise
	}
}

// disguise changes a byte of a file and keeps its size, its time and its inode.
func (w *keptWorld) disguise(p string) string {
	info, err := os.Stat(w.path(p))
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "nothing"
	}
	data, err := os.ReadFile(w.path(p))
	if err != nil {
		return "unreadable"
	}
	at := bytes.LastIndexByte(data, '1')
	if at < 0 {
		at = w.r.IntN(len(data))
	}
	data[at] = pick(w.r, []byte("012"))
	_ = os.WriteFile(w.path(p), data, 0o644)
	_ = os.Chtimes(w.path(p), time.Time{}, info.ModTime())
	return fmt.Sprintf("a byte of %s", p)
}

// settled is longer than a directory must have stood for its times to tell of the next change (package hostview).
const settled = 2100 * time.Millisecond

// settle has a start keep a compilation in which unchanged directories stand for the names in them:
// those that have not changed for two seconds.
func (w *keptWorld) settle() {
	w.t.Helper()
	w.reset()
	w.start("a reset") // makes the state
	made := time.Now()
	await.Until(w.t, "the directories have stood for two seconds", func() bool { return time.Since(made) > settled })
	state, err := userdir.For(filepath.ToSlash(w.path("ws")))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.RemoveAll(state.Compiled()); err != nil {
		w.t.Fatal(err)
	}
	if hit, ok := w.start("a reset"); hit || !ok {
		w.t.Fatalf("the first state: kept %v, silent %v", hit, ok)
	}
	if hit, _ := w.start("a reset"); !hit {
		w.t.Fatal("the first state is not kept")
	}
}

func (w *keptWorld) variable() string {
	name, values := "PATH", []string{w.path("bin"), w.path("bin"), w.path("bin2") + ":" + w.path("bin"), "", "bin:src"}
	switch w.r.IntN(3) {
	case 0:
		name, values = "XDG_CONFIG_HOME", []string{w.path("user/config"), w.path("user/config"), w.path("user/config2"), "relative"}
	case 1:
		name, values = "HOME", []string{w.path("user/home"), w.path("user/home"), w.path("out")}
	}
	value := pick(w.r, values)
	w.t.Setenv(name, value)
	return name + "=" + value
}

// meddle changes accessc's own files.
func (w *keptWorld) meddle() string {
	state, err := userdir.For(filepath.ToSlash(w.path("ws")))
	if err != nil {
		return err.Error()
	}
	switch w.r.IntN(5) {
	case 0:
		_ = os.WriteFile(state.Approvals(), []byte("{"), 0o600)
		return "malformed approvals"
	case 1:
		_ = os.Chmod(state.Approvals(), pick(w.r, []os.FileMode{0o600, 0o666}))
		return "permissions of the approvals"
	case 2:
		_ = os.RemoveAll(string(state))
		w.approve("fork", "out")
		return "new state"
	case 3:
		_ = os.Chmod(state.Compiled(), pick(w.r, []os.FileMode{0o700, 0o700, 0o755}))
		return "permissions of the entries"
	default:
		entries, _ := os.ReadDir(state.Compiled())
		for _, e := range entries {
			name := filepath.Join(state.Compiled(), e.Name())
			data, err := os.ReadFile(name)
			if err != nil || len(data) == 0 {
				continue
			}
			data[w.r.IntN(len(data))] ^= 1 << w.r.IntN(8)
			_ = os.WriteFile(name, data[:len(data)-w.r.IntN(2)], 0o600)
		}
		return "damaged entries"
	}
}

// start starts the tool up to its sandbox: from a kept compilation if there is one, which must then
// be as a compilation.
func (w *keptWorld) start(after string) (hit, ok bool) {
	w.t.Helper()
	kept, hit := early.Kept([]string{"--no-prompt", "t"})
	c := execCmd{Tool: "t", Means: meansLandlock, NoPrompt: true, NoCache: hit}
	var said bytes.Buffer
	g := globals{streams: streams{stdin: strings.NewReader(""), stdout: &said, stderr: &said}}
	var req start.Request
	err := c.policyOf(&g, &req)
	ok = err == nil && said.Len() == 0
	if !hit {
		return hit, ok
	}
	if !ok {
		w.t.Fatalf("after %s: started from a kept compilation; compiled, it says %v: %s", after, err, &said)
	}
	if !reflect.DeepEqual(kept.Spec, req.Spec) {
		w.t.Fatalf("after %s: started from a stale compilation", after)
	}
	return hit, ok
}
