//go:build linux

package egress_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// A part is a process of a run that can end before the others.
type part string

const (
	partProxy      part = "proxy"
	partSupervisor part = "supervisor"
	partTool       part = "tool"
)

// is reports whether a command line is a part's.
func (x part) is(args []string) bool {
	switch x {
	case partProxy:
		return len(args) == 2 && args[1] == "__egress"
	case partSupervisor:
		return len(args) > 2 && args[1] == "exec"
	case partTool:
		return len(args) > 1 && strings.HasSuffix(args[0], "/hold")
	}
	return false
}

// others lists the processes of the world's network, which are this one's descendants, by their
// command lines.
func others(t *testing.T) map[int][]string {
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]string{}
	for _, dir := range list {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if at, err := os.Readlink(dir + "/ns/net"); err != nil || at != own || pid == os.Getpid() {
			continue
		}
		if line, _ := os.ReadFile(dir + "/cmdline"); len(line) > 0 { // a process that has ended has none
			out[pid] = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		}
	}
	return out
}

// find returns the oldest process of a part, 0 for none.
func find(t *testing.T, x part) int {
	list := others(t)
	for _, pid := range slices.Sorted(maps.Keys(list)) {
		if x.is(list[pid]) {
			return pid
		}
	}
	return 0
}

// TestKilled kills a part of a run at some moment: all connections end, no process and no file
// stays behind, and nothing is reached that the policy denies.
func TestKilled(t *testing.T) {
	w := need(t)
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	toml, v := policy(t, []grant{{host: "echo.example.test", scheme: ir.Stream, port: portEcho}})
	for _, u := range users() {
		t.Run(string(u), func(t *testing.T) {
			p := newPlace(t, w, u, toml)
			p.cc("hold")
			p.holds(t)
			for _, x := range []part{partProxy, partSupervisor, partTool} {
				t.Run(string(x), func(t *testing.T) {
					draws := epoch.Rand(t)
					moments := slices.Sorted(maps.Keys(moments))
					for range max(irtest.Times(1000)/60, 1) {
						p.kill(t, x, moments[draws.IntN(len(moments))], v)
					}
				})
			}
		})
	}
}

// moments are those at which a part can be killed, once it is there.
var moments = map[string]func(p *place, said string) bool{
	"the part is there":                func(*place, string) bool { return true },
	"a host has a connection":          func(p *place, _ string) bool { return p.w.serving.Load() > 0 },
	"the tool has all its connections": func(_ *place, said string) bool { return strings.Contains(said, "up\n") },
}

// told is output that can be read while more of it comes.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *told) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// kill makes a run and kills a part of it at a moment.
func (p *place) kill(t *testing.T, x part, moment string, v *ir.View) {
	t.Helper()
	temp, err := os.MkdirTemp(p.dir, "temp-")
	p.must(err)
	p.must(os.Chmod(temp, 0o777))
	before := p.w.window(t)
	ctx := await.Context(t)
	cmd := p.exec(ctx, "", "kill.jsonl", p.ws+"/hold", "echo.example.test", strconv.Itoa(portEcho), "203.0.113.178")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	var out told
	cmd.Stdout, cmd.Stderr = &out, &out
	p.must(cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	over := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	pid := 0
	await.Until(t, moment, func() bool {
		pid = find(t, x)
		return pid > 0 && moments[moment](p, out.String()) || over()
	})
	if pid > 0 {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	p.ends(t, ended)
	problems := before.wrong(t, v)
	if x == partProxy && strings.Count(out.String(), "up\n") != strings.Count(out.String(), "closed\n") {
		problems = append(problems, "connections of the tool stayed open")
	}
	// The process that removes the directory is there once the tool starts. See decision D63.
	if files, _ := os.ReadDir(temp); len(files) > 0 && strings.Contains(out.String(), "up\n") {
		problems = append(problems, fmt.Sprintf("files stayed: %v", files))
	}
	for _, problem := range problems {
		t.Errorf("%s killed when %s: %s\n%s", x, moment, problem, out.String())
	}
	t.Logf("%s killed when %s: %q", x, moment, out.String())
}

// ends waits until no process and no connection of a run that is to end is left.
func (p *place) ends(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	defer func() {
		if left := others(t); t.Failed() && len(left) > 0 {
			t.Logf("processes stayed: %v", left)
			for pid := range left {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}()
	await.Receive(t, "the return of exec", ended)
	await.Until(t, "no process is left", func() bool { return len(others(t)) == 0 })
	await.Until(t, "no connection of a host is open", func() bool { return p.w.serving.Load() == 0 })
}
