//go:build unix

package compiled

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// host is a workspace and its user, in directories of a test.
type host struct {
	*testing.T
	dir string
	key Key
}

const config = `extends = ["conf/*.toml"]
[tools.t]
source = "local"
command = "prog"
access.fs = [{ path = ".", read = true, write = true }, { path = "lib/x" }, { path = "fork", external = true, read = true }]
access.commands = { prog = {}, "./tool.sh" = {} }
`

func newHost(t *testing.T) *host {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t, dir, Key{Root: filepath.Join(dir, "ws"), Tool: "t"}}
	for name, text := range map[string]string{
		"ws/accessc.toml": config, "ws/conf/a.toml": "", "ws/v1/x": "1", "ws/.git/config": "[core]\n\thooksPath = hooks\n",
		"ws/src/deep/file": "", "ws/tool.sh": "#!/bin/sh\n", "bin/prog": "#!/bin/sh\n", "out/x": "", "home/f": "", "config/accessc/config.toml": "",
	} {
		h.write(name, text)
	}
	h.link("v1", "ws/lib")
	h.link("../out", "ws/fork")
	h.enter()
	_, err = approvals.Update(h.state().Approvals(), func(s *approvals.Store) error {
		return s.Approve(approvals.Mount{RulePath: "fork", CanonicalTarget: h.path("out")})
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// enter makes this the user of the process.
func (h *host) enter() {
	h.Setenv("HOME", h.path("home"))
	h.Setenv("XDG_STATE_HOME", h.path("state"))
	h.Setenv("XDG_CONFIG_HOME", h.path("config"))
	h.Setenv("PATH", h.path("bin"))
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

func (h *host) state() userdir.Dir {
	state, err := userdir.For(h.key.Root)
	if err != nil {
		h.Fatal(err)
	}
	return state
}

func (h *host) entry() string { return filepath.Join(h.state().Compiled(), h.key.name()) }

func (h *host) write(name, text string) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := testbuild.WriteFile(h.path(name), []byte(text), 0o755); err != nil {
		h.Fatal(err)
	}
}

func (h *host) link(target, name string) {
	h.Helper()
	if err := os.Symlink(target, h.path(name)); err != nil {
		h.Fatal(err)
	}
}

// compile compiles as a start does, and returns its view.
func (h *host) compile() *hostview.View {
	h.Helper()
	view := hostview.New()
	res, err := hostfacts.Compile(hostfacts.Options{
		Options: compiler.Options{Root: h.key.Root, Layers: source.Request{User: userdir.UserConfig(), Home: h.path("home")}, Platforms: []ir.Platform{hostfacts.Platform()}, Apart: true},
		View:    view, Resolve: true, Untested: true,
	})
	if err != nil || res.Program == nil || len(res.Program.Tools) != 1 || res.Findings.Failed() {
		h.Fatalf("%v %v", err, res.Findings)
	}
	t := res.Program.Tools[0]
	res.Facts(t)
	res.Reaches(t)
	return view
}

func (h *host) keep() hostview.Seen {
	h.Helper()
	view := h.compile()
	if err := Save(h.key, []byte("artifact"), []string{"a", "b"}, view); err != nil {
		h.Fatal(err)
	}
	seen, ok := view.Seen()
	if !ok {
		h.Fatal("the host is in motion")
	}
	return seen
}

func (h *host) holds() bool {
	e, ok := Load(h.key)
	return ok && e.Holds() && string(e.Artifact) == "artifact" && slices.Equal(e.Reaches, []string{"a", "b"})
}

// TestEachLookCounts: an entry whose answer to one question is not that of the host does not hold,
// question by question. Once a directory's times stood for its names: a tool that exchanged the directory around
// it during a compilation had a wrong answer kept for good.
func TestEachLookCounts(t *testing.T) {
	h := newHost(t)
	seen := h.keep()
	if !h.holds() {
		t.Fatal("the entry does not hold")
	}
	kinds := map[hostview.Kind]int{}
	for i, l := range seen.Looks {
		e, _ := Load(h.key)
		e.seen.Looks[i].Answer += "x"
		if e.Holds() {
			t.Errorf("another answer to %c %s %s is not noticed", l.Kind, l.Root, l.Path)
		}
		kinds[l.Kind]++
	}
	for _, kind := range "lksehdromvafn" {
		if kinds[hostview.Kind(kind)] == 0 && kind != 'd' {
			t.Errorf("no question of kind %c was asked", kind)
		}
	}
	t.Logf("%d questions, %d searches", len(seen.Looks), len(seen.Searches))
}

// TestEachInputCounts changes on the disk the input that each question is about, one at a time.
func TestEachInputCounts(t *testing.T) {
	h := newHost(t)
	seen := h.keep()
	changed := 0
	for _, l := range seen.Looks {
		path := l.Path
		if l.Root != "" {
			path = filepath.Join(l.Root, l.Path)
		}
		undo := h.change(l, path)
		if undo == nil {
			continue
		}
		changed++
		if h.holds() {
			t.Errorf("%c %s: the change is not noticed", l.Kind, path)
		}
		undo()
		if !h.holds() {
			// A thing that was put back may differ in the asked part, such as a directory's inode.
			h.keep()
		}
	}
	for name, value := range map[string]string{"HOME": "h", "XDG_CONFIG_HOME": "c", "PATH": "p"} {
		old := os.Getenv(name)
		t.Setenv(name, h.path(value))
		if h.holds() {
			t.Errorf("%s: the change is not noticed", name)
		}
		t.Setenv(name, old)
	}
	if changed < 40 {
		t.Errorf("changed %d inputs", changed)
	}
	t.Logf("changed %d inputs of %d", changed, len(seen.Looks))
}

// change makes another answer of a question about a place of the test, and returns how to undo
// that; nil for a place of the system, and for the directories that all of the test is in.
func (h *host) change(l hostview.Look, path string) (undo func()) {
	if !strings.HasPrefix(path, h.dir+"/") || path == h.key.Root || strings.HasPrefix(string(h.state()), path) && l.Kind != 'a' {
		return nil
	}
	aside := h.path("aside")
	put := func(make func() error) func() {
		there := os.Rename(path, aside) == nil
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			h.Fatal(err)
		}
		if err := make(); err != nil {
			h.Fatal(err)
		}
		return func() {
			if err := os.RemoveAll(path); err != nil {
				h.Fatal(err)
			}
			if there {
				if err := os.Rename(aside, path); err != nil {
					h.Fatal(err)
				}
			}
		}
	}
	switch l.Kind {
	case 'r', 'h':
		return put(func() error { return testbuild.WriteFile(path, []byte("#!/changed\n"), 0o755) })
	case 'a':
		return put(func() error { return os.WriteFile(path, []byte(`{"mounts":[]}`), 0o600) })
	case 'm', 'v', 'o', 'f', 'n':
		return nil
	case 'd':
		return put(func() error { return os.MkdirAll(filepath.Join(path, "new"), 0o755) })
	default: // about a name: it leads elsewhere
		return put(func() error { return os.Symlink("nowhere/"+filepath.Base(path), path) })
	}
}

// settle waits until the times of all directories tell of the next change to them.
func settle(t *testing.T, hosts ...*host) {
	t.Helper()
	newest := time.Time{}
	for _, h := range hosts {
		err := filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "directories have been as they are for two seconds", func() bool {
		return time.Now().After(newest.Add(2100 * time.Millisecond))
	})
}

// TestOldChange: a change that is long past counts as a new one does.
func TestOldChange(t *testing.T) {
	linked, sensitive := newHost(t), newHost(t)
	each := func(do func(*host)) {
		for _, h := range []*host{linked, sensitive} {
			h.enter()
			do(h)
		}
		settle(t, linked, sensitive)
	}
	each(func(h *host) { h.compile() })
	each(func(h *host) {
		h.keep()
		if !h.holds() {
			t.Error("nothing has changed")
		}
		if h == linked {
			h.change(hostview.Look{Kind: 'l'}, h.path("ws/lib"))
		} else {
			h.write("ws/src/deep/.env", "")
		}
	})
	if sensitive.holds() {
		t.Error("a sensitive path is not noticed")
	}
	if linked.enter(); linked.holds() {
		t.Error("a symlink that leads elsewhere is not noticed")
	}
}

// TestAsker: groups and capabilities decide which files the compiler sees, so an entry is for the same ones.
func TestAsker(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, which may change its groups")
	}
	h := newHost(t)
	h.keep()
	old, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setgroups([]int{4001}); err != nil {
		t.Fatal(err)
	}
	holds := h.holds()
	if err := syscall.Setgroups(old); err != nil {
		t.Fatal(err)
	}
	if holds {
		t.Error("other groups are not noticed")
	}
	if !h.holds() {
		t.Error("the entry does not hold with the old groups")
	}
}

// TestUnreadDirectory: a directory that could not be listed once is listed at the next start. It
// counted as one without names until it changed.
func TestUnreadDirectory(t *testing.T) {
	h := newHost(t)
	h.write("ws/shut/.env", "")
	h.compile()
	settle(t, h)
	h.keep()
	e, ok := Load(h.key)
	if !ok {
		t.Fatal("there is no entry")
	}
	for _, s := range e.seen.Searches {
		for name, d := range s.Directories {
			d.Identity, d.Covered, d.Below, d.Names = hostview.Identity{}, nil, nil, 0
			s.Directories[name] = d
		}
		s.Found = nil
	}
	if e.Holds() {
		t.Error("directories without an identity were not listed")
	}
}

// TestNoise: files that no pattern covers and that nothing of the policy is about change nothing,
// new directories included; a sensitive one does.
func TestNoise(t *testing.T) {
	h := newHost(t)
	h.keep()
	for i := range 40 {
		h.write(fmt.Sprintf("ws/src/new%d/deep/file", i), "")
		if !h.holds() {
			t.Fatalf("noise %d", i)
		}
	}
	h.write("ws/src/new7/deep/.env", "")
	if h.holds() {
		t.Error("a new sensitive path is not noticed")
	}
}

// TestForeignEntries: an entry that is damaged, of others, or in reach of others is none, and is
// replaced where it is this user's.
func TestForeignEntries(t *testing.T) {
	h := newHost(t)
	h.keep()
	whole, err := os.ReadFile(h.entry())
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if _, ok := decode(whole[:n]); ok {
			t.Fatalf("the first %d bytes of %d are an entry", n, len(whole))
		}
	}
	for i := range whole {
		damaged := slices.Clone(whole)
		damaged[i] ^= 1
		if _, ok := decode(damaged); ok {
			t.Fatalf("an entry with another byte %d is one", i)
		}
	}
	dir := h.state().Compiled()
	for name, amiss := range map[string]func() error{
		"readable by others":     func() error { return os.Chmod(h.entry(), 0o644) },
		"in an open directory":   func() error { return os.Chmod(dir, 0o755) },
		"of another user":        func() error { return os.Chown(h.entry(), 1, 1) },
		"in another's directory": func() error { return os.Chown(dir, 1, 1) },
		"a symlink": func() error {
			return firstError(os.Rename(h.entry(), h.path("entry")), os.Symlink(h.path("entry"), h.entry()))
		},
		"behind a symlink": func() error {
			return firstError(os.Rename(dir, h.path("compiled")), os.Symlink(h.path("compiled"), dir))
		},
		"a FIFO":          func() error { return firstError(os.Remove(h.entry()), syscall.Mkfifo(h.entry(), 0o600)) },
		"a directory":     func() error { return firstError(os.Remove(h.entry()), os.Mkdir(h.entry(), 0o700)) },
		"empty":           func() error { return os.Truncate(h.entry(), 0) },
		"that of another": func() error { h.key.Tool = "u"; old := h.entry(); h.key.Tool = "t"; return os.Rename(h.entry(), old) },
	} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		h.keep()
		if !h.holds() {
			t.Fatalf("%s: the entry did not hold before", name)
		}
		if err := amiss(); err != nil {
			if os.Geteuid() != 0 && strings.Contains(name, "another") {
				continue // only root gives files away
			}
			t.Fatal(err)
		}
		if name == "that of another" {
			h.key.Tool = "u"
		}
		if _, ok := Load(h.key); ok {
			t.Errorf("an entry that is %s was read", name)
		}
		h.key.Tool = "t"
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestAnotherProgram: another binary, user or place of accessc's own files has other entries.
func TestAnotherProgram(t *testing.T) {
	h := newHost(t)
	h.keep()
	e, ok := Load(h.key)
	if !ok {
		t.Fatal("no entry")
	}
	for _, name := range userdir.Variables() {
		old := os.Getenv(name)
		t.Setenv(name, old+"x")
		if stated, err := h.key.stated(); err != nil || stated == e.stated {
			t.Errorf("another %s is the same to it, %v", name, err)
		}
		t.Setenv(name, old)
	}
	for _, k := range []Key{{Root: h.key.Root + "x", Tool: "t"}, {Root: h.key.Root, Tool: "u"}, {Root: h.key.Root, Tool: "t", Flags: []string{"--shared"}}} {
		if stated, err := k.stated(); err != nil || stated == e.stated || k.name() == h.key.name() {
			t.Errorf("%v is the same to it, %v", k, err)
		}
	}
}

// TestTogether: starts that compile at the same time leave a whole entry, and no other files.
func TestTogether(t *testing.T) {
	h := newHost(t)
	h.keep()
	view := h.compile()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := Save(h.key, []byte("artifact"), []string{"a", "b"}, view); err != nil {
					t.Error(err)
				}
				if e, ok := Load(h.key); !ok || string(e.Artifact) != "artifact" {
					t.Error("no entry")
				}
			}
		})
	}
	all.Wait()
	entries, err := os.ReadDir(h.state().Compiled())
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestBounded: the oldest entries go.
func TestBounded(t *testing.T) {
	h := newHost(t)
	view := h.compile()
	for i := range maxEntries + 10 {
		h.key.Tool = fmt.Sprint("t", i)
		if err := Save(h.key, []byte("artifact"), nil, view); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(h.state().Compiled()); err != nil || len(entries) != maxEntries {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if _, ok := Load(h.key); !ok {
		t.Error("the newest entry is gone")
	}
}

// TestRoundTrip: an entry is read as it was written.
func TestRoundTrip(t *testing.T) {
	h := newHost(t)
	view := h.compile()
	seen, _ := view.Seen()
	e := &Entry{Artifact: []byte{0, 1}, Reaches: []string{"", "é"}, stated: "x", seen: seen}
	got, ok := decode(e.encode())
	if !ok || !reflect.DeepEqual(got, e) {
		t.Errorf("%v %v, want %v", ok, got, e)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Entry{Artifact: []byte("x"), seen: hostview.Seen{Looks: []hostview.Look{{Kind: 'l', Path: "/"}}}}).encode())
	f.Fuzz(func(_ *testing.T, data []byte) {
		decode(data)
		r := reader{rest: string(data)}
		for range r.count() {
			r.search()
		}
	})
}
