//go:build linux

package attacks_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// waitFor lets the host wait until the tool has made a file, or has ended.
func waitFor(p *place, name string, stop <-chan struct{}) (there bool) {
	await.Until(p.t, name+" is there, or the tool has ended", func() bool {
		select {
		case <-stop:
			return true
		default:
		}
		_, err := os.Lstat(p.path(name))
		there = err == nil
		return there
	})
	return there
}

// tell writes into a fifo at which the tool waits, and returns when that has ended.
func (p *place) tell(name string, stop <-chan struct{}) {
	f, err := os.OpenFile(p.path(name), os.O_RDWR, 0)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer f.Close()
	_, err = f.WriteString("x\n")
	p.must(err)
	<-stop
}

// laps has a value after each round of a tool, which writes into a fifo; false once the tool has ended.
func (p *place) laps(name string, stop <-chan struct{}) func() bool {
	f, err := os.OpenFile(p.path(name), os.O_RDWR, 0)
	if err != nil {
		p.t.Error(err)
		return func() bool { return false }
	}
	go func() {
		<-stop
		f.Close()
	}()
	return func() bool {
		_, err := f.Read(make([]byte, 1))
		return err == nil
	}
}

// stay lets others go on for some turns.
func stay(turns int) {
	for range 20 * turns {
		goruntime.Gosched()
	}
}

// save writes a file as editors do: a new file beside it, then a rename over it.
func (p *place) save(tmp, name, content string) {
	tmp, name = p.path(tmp), p.path(name)
	if os.WriteFile(tmp, []byte(content), 0o644) == nil {
		os.Lchown(tmp, p.uid, p.uid)
		if os.Rename(tmp, name) != nil {
			os.Remove(tmp)
		}
	}
}

// deliver puts files of the user's into the inbox and looks whether they stay.
func deliver(p *place, stop <-chan struct{}) {
	until(stop, func(i int) {
		name := p.path(fmt.Sprintf("inbox/f%d", i%4))
		os.RemoveAll(name)
		tmp := p.path(fmt.Sprintf("kept/tmp%d", i%4))
		p.write(tmp, "the user's")
		err := os.Link(tmp, name)
		os.Remove(tmp)
		if err != nil {
			return
		}
		for range 20 {
			if data, err := os.ReadFile(name); err != nil || string(data) != "the user's" {
				p.t.Errorf("a file of the user's in inbox was changed to %q, %v", data, err)
				return
			}
		}
	})
}

// vanish moves a file in and out of a directory where nothing may be made.
func vanish(p *place, stop <-chan struct{}) {
	std, away := p.path("std/f"), p.path("kept-away")
	until(stop, func(i int) {
		if os.Rename(std, away) != nil {
			return
		}
		// A rename that has lost the file beneath it makes a name for the moment until it is taken back.
		await.Until(p.t, "the tool has no file in std", func() bool {
			_, err := os.Lstat(std)
			return err != nil
		})
		os.Rename(away, std)
	})
}

// carry moves the tool's working directory into a denied one, with a secret in it.
func carry(p *place, stop <-chan struct{}) {
	if !waitFor(p, "src/ready", stop) {
		return
	}
	p.must(os.Rename(p.path("deep/a/x"), p.path("deep/b/x")))
	p.must(os.Rename(p.path("deep/b/came"), p.path("deep/a/came")))
	for _, name := range []string{"deep/b/x/k", "deep/b/x/y/k", "deep/b/k"} {
		p.write(name, secret)
		p.before[p.path(name)] = markOf(p.path(name))
	}
	p.tell("src/moved", stop)
}

// belate makes the file that a rule denies as soon as its directory is there.
func belate(p *place, stop <-chan struct{}) {
	until(stop, func(i int) {
		name := p.path("late/.env")
		if os.WriteFile(name, []byte(secret), 0o644) == nil {
			os.Lchown(name, p.uid, p.uid)
		}
		goruntime.Gosched()
		os.Remove(name)
		os.Remove(p.path("late"))
	})
}

// noneIn is a verdict: nothing but files whose names begin with an f are in the directories.
func noneIn(dirs ...string) func(*testing.T, *place, string) {
	return func(t *testing.T, p *place, _ string) {
		for _, dir := range dirs {
			entries, _ := os.ReadDir(p.path(dir))
			for _, e := range entries {
				if !strings.HasPrefix(e.Name(), "f") {
					t.Errorf("%s/%s was made", dir, e.Name())
				}
			}
		}
	}
}

// programs puts a harmless program below bin.
func programs(p *place) {
	data, err := os.ReadFile("/bin/true")
	p.must(err)
	p.write("bin/ok", string(data))
	p.must(os.Chmod(p.path("bin/ok"), 0o755))
}

// listen has the user's own sockets answer, and reports the data that arrives there.
func listen(p *place, stop <-chan struct{}) {
	heard := func(where string, data []byte) {
		if len(data) > 0 {
			p.breach("%s heard %q", where, data)
		}
	}
	for _, where := range []string{p.ws + "/user/st", p.outside + "/st", "@accessc-attack"} {
		l, err := net.Listen("unix", where)
		if where[0] == '@' && errors.Is(err, syscall.EADDRINUSE) {
			continue // the scene is played elsewhere at the same time, and listens there
		}
		if err != nil {
			p.t.Error(err)
			continue
		}
		defer l.Close()
		if where[0] != '@' {
			p.must(os.Chmod(where, 0o777))
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 10)
				n, _ := c.Read(buf)
				c.Close()
				heard(strings.TrimPrefix(where, p.ws+"/"), buf[:n])
			}
		}()
	}
	d, err := net.ListenPacket("unixgram", p.ws+"/user/dg")
	if err != nil {
		p.t.Error(err)
		return
	}
	defer d.Close()
	p.must(os.Chmod(p.ws+"/user/dg", 0o777))
	go func() {
		buf := make([]byte, 10)
		n, _, _ := d.ReadFrom(buf)
		heard("user/dg", buf[:n])
	}()
	<-stop
}

// only is a verdict: a directory contains these names and no others.
func only(dir string, names ...string) func(*testing.T, *place, string) {
	return func(t *testing.T, p *place, _ string) {
		entries, _ := os.ReadDir(p.path(dir))
		for _, e := range entries {
			if !slices.Contains(names, e.Name()) {
				t.Errorf("%s/%s was made", dir, e.Name())
			}
		}
	}
}

// edit saves files where the tool may not look, and one where it may only look.
func edit(p *place, stop <-chan struct{}) {
	names := []string{".env", "secrets/k", "gen/f"}
	until(stop, func(i int) {
		name, text := names[i%3], secret
		if i%3 == 2 {
			text = "fine"
		}
		switch i / 3 % 3 {
		case 0:
			p.save("secrets/.swp", name, text)
		case 1:
			os.Rename(p.path(name), p.path("secrets/.bak"))
			p.write(name, text)
			os.Remove(p.path("secrets/.bak"))
		case 2:
			p.write("secrets/fresh/k", secret)
			os.Rename(p.path("secrets/fresh"), p.path("secrets/old"))
			os.RemoveAll(p.path("secrets/old"))
		}
	})
	for _, name := range names {
		data, _ := os.ReadFile(p.path(name))
		if want := p.before[p.path(name)].content; string(data) != want {
			p.t.Errorf("%s holds %q", name, data)
		}
		p.before[p.path(name)] = markOf(p.path(name))
	}
}

// relink replaces the granted directory by symlinks and back.
func relink(p *place, stop <-chan struct{}) {
	if !waitFor(p, "src/ready", stop) {
		return
	}
	work := p.path("work")
	link := []string{p.path("to-outside"), p.path("to-secrets")}
	aside := p.path("secrets/aside")
	until(stop, func(i int) {
		name := link[i%2]
		if os.Rename(work, aside) != nil || os.Rename(name, work) != nil {
			return
		}
		stay(i % 5)
		if os.Rename(work, name) != nil || os.Rename(aside, work) != nil {
			p.t.Error("the user's names were taken")
		}
		stay(i % 3)
	})
}

// turn moves a directory into an exception, puts a secret there, and takes both back.
func turn(p *place, stop <-chan struct{}) {
	if !waitFor(p, "src/ready", stop) {
		return
	}
	a, b := p.path("deep/a/x"), p.path("deep/b/x")
	until(stop, func(i int) {
		p.must(os.Rename(a, b))
		stay(i % 4)
		p.save("deep/b/.swp", b+"/k", secret) // a file of its own, each time
		p.symlink("k", b+"/s")
		stay(i % 5)
		p.must(os.Rename(b+"/k", p.path("deep/b/.old")))
		p.must(os.Remove(p.path("deep/b/.old")))
		p.must(os.Remove(b + "/s"))
		p.must(os.Rename(b, a))
		stay(i % 3)
	})
}

// initialize makes a repository and removes it again, and looks whether it stays meanwhile.
func initialize(p *place, stop <-chan struct{}) {
	until(stop, func(i int) {
		names := []string{".git/config", ".git/hooks/pre-commit"}
		for _, name := range names {
			p.write(name, "the user's")
		}
		stay(i % 4)
		for _, name := range names {
			if data, err := os.ReadFile(p.path(name)); err != nil || string(data) != "the user's" {
				p.t.Errorf("%s holds %q, %v", name, data, err)
			}
		}
		os.RemoveAll(p.path(".git"))
	})
}

// replace writes files as git and builds do: under another name first, then by a rename.
func replace(p *place, stop <-chan struct{}) {
	names := [][2]string{
		{".git/config.lock", ".git/config"}, {".git/config.worktree.lock", ".git/config.worktree"}, {".gitmodules.lock", ".gitmodules"},
		{"access/.accessc/s/new0", "access/manifest.json"}, {".git/index.lock", ".git/index"},
	}
	lap := p.laps("src/lap", stop)
	until(stop, func(int) {
		for _, n := range names {
			p.write(n[0], "the user's")
		}
		lap()
		for _, n := range names {
			p.must(os.Rename(p.path(n[0]), p.path(n[1])))
		}
		lap()
		for _, n := range names[:len(names)-1] {
			if data, err := os.ReadFile(p.path(n[1])); string(data) != "the user's" {
				p.t.Errorf("%s holds %q, %v", n[1], data, err)
			}
		}
	})
}

// git runs git as the user outside of the sandbox.
func (p *place) git(args ...string) {
	cmd := p.command(p.t.Context())
	git := exec.Command("git", args...)
	git.Dir, git.Env, git.SysProcAttr = p.ws, cmd.Env, cmd.SysProcAttr
	if out, err := git.CombinedOutput(); err != nil {
		p.t.Logf("git %v: %v\n%s", args, err, out)
	}
}

// unasked is a verdict: git on the host runs no program of the tool's.
func unasked(t *testing.T, p *place, _ string) {
	p.git("status")
	if _, err := os.Lstat(p.path("ran")); err == nil {
		t.Error("git ran a program that the tool named")
	}
}

// redirect has the approved symlink lead elsewhere and back.
func redirect(p *place, stop <-chan struct{}) {
	if !waitFor(p, "src/ready", stop) {
		return
	}
	fork, next := p.path("fork"), p.path("bin/next")
	until(stop, func(i int) {
		to := p.outside + "/" + []string{"other", "fork"}[i%2]
		p.symlink(to, next)
		os.Remove(fork)
		p.must(os.Rename(next, fork))
		stay(1 + i%5)
	})
}

// beside runs another tool and tells the first where that has its directories.
func beside(p *place, stop <-chan struct{}) {
	cmd := p.command(p.t.Context(), "exec", "-C", p.ws, "--no-prompt", "u")
	in, err := cmd.StdinPipe()
	p.must(err)
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	defer cmd.Wait()
	defer in.Close() // which the other tool waits for
	var said []string
	for lines := bufio.NewScanner(out); len(said) < 2 && lines.Scan(); {
		said = append(said, lines.Text())
	}
	if len(said) < 2 || !strings.Contains(said[1], "/tmp/accessc-") {
		p.t.Errorf("the other tool says %q", said)
		said = append(said, "", "")
	}
	made := said[0] + "/x"
	p.before[made] = markOf(made)
	p.write("src/paths", strings.Join(said, "\n"))
	p.tell("src/go", stop)
}

// approve approves an external rule by a policy that contains nothing else, which is then put
// back.
func (p *place) approve(name string) {
	file := p.path("accessc.toml")
	policy, err := os.ReadFile(file)
	p.must(err)
	p.write(file, "[tools.t]\nsource = \"local\"\ncommand = \"bin/tool\"\naccess.fs = [{ path = \""+name+"\", external = true, read = true }]\n")
	if out, err := p.command(p.t.Context(), "approve", "-C", p.ws, "--yes", name).CombinedOutput(); err != nil {
		p.t.Fatalf("%s%v", out, err)
	}
	p.write(file, string(policy))
}

// forget takes files that the tool may delete from those that must stay.
func (p *place) forget(names ...string) {
	for _, name := range names {
		delete(p.before, p.path(name))
	}
}
