//go:build linux

// Package attacks_test runs hostile tools under policies and looks whether a promise of
// SECURITY.md breaks. It knows accessc by its command line alone.
package attacks_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// secret is in every file that a tool must not read. A tool prints it only in a leak.
const secret = "TOP-SECRET"

// A scene is one attack: a policy, a tool that fights it, and the user at work beside it.
type scene struct {
	name string
	// toml defines the tool t without its command; empty is the policy named workspace.
	toml string
	// denied are questions as accessc can takes them that must be answered no before the
	// attack, so that a success is a broken promise; allowed are those of the controls.
	denied, allowed []string
	// setup makes files beside those of every place.
	setup func(*place)
	// tool is a source below testdata without its suffix, or a script that begins with #!.
	tool string
	args []string
	// host acts for the user outside of the sandbox until stop is closed.
	host func(p *place, stop <-chan struct{})
	// good are the controls: operations that the tool must report as done, or the attack proves
	// nothing.
	good []string
	// verdict looks at the disk afterwards, beside the checks that every scene gets.
	verdict func(*testing.T, *place, string)
	// root is set where root can try more than another user, and so plays the scene in the gate as well.
	root bool
	// tmp is set where temporary directories are the scene's own.
	tmp bool
	// mayFail is set where the tool need not end with status 0.
	mayFail bool
	// means is another program that confines the tool, nil for none.
	means *means
	// leaks are those that its ledger foretells.
	leaks leaks
}

// A place is the disk of one scene for one user.
type place struct {
	disk
	outside string // the user's files outside of the workspace
	before  map[string]mark
}

// A mark is the state of a file that no tool may change.
type mark struct {
	content string
	mode    fs.FileMode
	mtime   time.Time
	links   uint64
}

// build makes the tools of scenes.
func build(t *testing.T, scenes []scene) string {
	var sources []string
	for _, s := range scenes {
		if !strings.HasPrefix(s.tool, "#!") {
			sources = append(sources, s.tool)
		}
	}
	return hostile(t, sources...)
}

// players are the users that scenes are played as: the current one or, where that is root, an ordinary one. At full count, and
// where root can try more, root plays as well.
func players(root bool) map[string]int {
	switch {
	case os.Getuid() != 0:
		return map[string]int{"user": os.Getuid()}
	case root || irtest.Full():
		return map[string]int{"root": 0, "nobody": nobody}
	}
	return map[string]int{"nobody": nobody}
}

// run plays each scene as every player.
func run(t *testing.T, scenes []scene) {
	bin := build(t, scenes)
	for _, s := range scenes {
		for user, uid := range players(s.root) {
			t.Run(user+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				play(t, s, bin, uid)
			})
		}
	}
}

// play plays a scene in a place of its own and judges it.
func play(t *testing.T, s scene, bin string, uid int) {
	p := newPlace(t, s, bin, uid)
	if _, done := asked.LoadOrStore(s.name+s.toml, true); !done {
		p.ask(t, p.places(s.denied), p.places(s.allowed))
	}
	p.before = p.marks()

	ctx := await.Context(t)
	cmd := p.starting(ctx, s)
	around := p.around()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if s.host != nil {
			s.host(p, stop)
		}
	}()
	out, err := cmd.CombinedOutput()
	close(stop)
	<-done
	p.compare()
	for _, name := range p.around() {
		if !slices.Contains(around, name) {
			p.breach("%s was made", name)
		}
	}
	text := p.told(string(out))
	if ctx.Err() != nil {
		t.Errorf("the run does not end")
	}
	if err != nil && !s.mayFail {
		t.Errorf("the run failed: %v", err)
	}
	for line := range strings.Lines(text) {
		if (strings.HasPrefix(line, "LEAK") || strings.Contains(line, secret)) && !s.leaks.foretold(line) {
			t.Errorf("%s", strings.TrimSpace(line))
		}
	}
	if leak := s.leaks.missing(text); leak != "" {
		t.Errorf("the ledger foretells more than there is: %s", leak)
	}
	for _, g := range s.good {
		if !strings.Contains(text, "GOOD "+g+"\n") {
			t.Errorf("the control did not succeed: %s", g)
		}
	}
	if s.verdict != nil {
		s.verdict(t, p, text)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%.6000s", text)
	}
}

// newPlace lays a scene out: the files of the policy workspace, those of setup, and the tool.
func newPlace(t *testing.T, s scene, bin string, uid int) *place {
	d := newDisk(t, bin, "bin/tool", uid)
	p := &place{disk: d, outside: d.dir + "/outside"}
	p.make(p.outside)
	if s.tmp {
		p.make(d.dir + "/tmp")
		p.tmp = d.dir + "/tmp"
	}
	toml := s.toml
	if toml == "" {
		toml = workspace
		p.write(".env", secret)
		p.write("secrets/k", secret)
		p.write("secrets/open/f", "fine")
		p.write("gen/f", "fine")
		p.write("gen/out/f", "fine")
		p.write("src/a", "fine")
		p.write("src/d/k", "fine")
		p.write("inbox/old", "fine")
		p.write("kept/f", "fine")
	}
	p.write(p.outside+"/private", secret)
	p.write("accessc.toml", "[tools.t]\nsource = \"local\"\ncommand = \"bin/tool\"\n"+toml)
	program := []byte(s.tool)
	if !strings.HasPrefix(s.tool, "#!") {
		data, err := os.ReadFile(filepath.Join(bin, s.tool))
		if err != nil {
			t.Fatal(err)
		}
		program = data
	}
	p.write("bin/tool", string(program))
	p.must(os.Chmod(p.ws+"/bin/tool", 0o755))
	if s.setup != nil {
		s.setup(p)
	}
	return p
}

// places replaces each % in questions by the directory outside.
func (p *place) places(questions []string) (out []string) {
	for _, q := range questions {
		out = append(out, strings.ReplaceAll(q, "%", p.outside))
	}
	return out
}

func (p *place) must(err error) {
	if err != nil {
		p.t.Error(err)
	}
}

// path is a name in the workspace, unless it is absolute.
func (p *place) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.ws, name)
}

// mkdir makes a directory that is the user's, with those above it.
func (p *place) mkdir(name string) { p.make(p.path(name)) }

// write makes a file that is the user's, with the directories above it.
func (p *place) write(name, content string) {
	name = p.path(name)
	p.mkdir(filepath.Dir(name))
	p.must(os.WriteFile(name, []byte(content), 0o644))
	p.must(os.Lchown(name, p.uid, p.uid))
}

// fifo makes a fifo that is the user's.
func (p *place) fifo(name string) {
	p.mkdir(filepath.Dir(p.path(name)))
	p.must(syscall.Mkfifo(p.path(name), 0o666))
	p.must(os.Chmod(p.path(name), 0o666))
	p.must(os.Lchown(p.path(name), p.uid, p.uid))
}

// symlink makes a link that is the user's.
func (p *place) symlink(to, name string) {
	p.must(os.Symlink(to, p.path(name)))
	p.must(os.Lchown(p.path(name), p.uid, p.uid))
}

// marks takes the state of all files that must stay as they are: the secret ones, and those
// below gen, bin and kept but not below gen/out.
func (p *place) marks() map[string]mark {
	m := map[string]mark{}
	filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		data, _ := os.ReadFile(path)
		rel, _ := filepath.Rel(p.ws, path)
		fixed := strings.HasPrefix(rel, "gen/") && !strings.HasPrefix(rel, "gen/out/") ||
			strings.HasPrefix(rel, "bin/") || strings.HasPrefix(rel, "kept/")
		if !fixed && !bytes.Contains(data, []byte(secret)) {
			return nil
		}
		m[path] = markOf(path)
		return nil
	})
	return m
}

// markOf takes the state of one file.
func markOf(path string) mark {
	info, err := os.Lstat(path)
	if err != nil {
		return mark{}
	}
	data, _ := os.ReadFile(path)
	return mark{string(data), info.Mode(), info.ModTime(), uint64(info.Sys().(*syscall.Stat_t).Nlink)}
}

// compare notes changes of the marked files, and files with the secret that are new.
func (p *place) compare() {
	after := p.marks()
	name := func(path string) string { return strings.TrimPrefix(path, p.dir+"/") }
	for path, want := range p.before {
		got, ok := after[path]
		if !ok {
			p.breach("%s is gone, or no longer what it was", name(path))
		} else if got != want {
			got.content, want.content = "", ""
			p.breach("%s was changed: %+v, before %+v", name(path), got, want)
		}
	}
	for path := range after {
		if _, ok := p.before[path]; !ok {
			p.breach("%s has appeared", name(path))
		}
	}
}

// around are the names beside the workspace: those of its directory, of the user's files, and of approvals. A tool of root that finds a directory of its own there may
// make them in it, and not on the disk. Sockets are the host's.
func (p *place) around() (names []string) {
	for _, pattern := range []string{p.dir + "/*", p.outside + "/*", p.home + "/.state/accessc/workspaces/*/approvals.json"} {
		found, err := filepath.Glob(pattern)
		p.must(err)
		for _, name := range found {
			if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSocket == 0 {
				names = append(names, name)
			}
		}
	}
	return names
}

// until calls step again and again until stop is closed, and lets others go on in between.
func until(stop <-chan struct{}, step func(i int)) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
			step(i)
			goruntime.Gosched()
		}
	}
}
