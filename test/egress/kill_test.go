//go:build linux

package egress_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
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

// find waits for a part of a run, and returns the oldest process that is one.
func find(t *testing.T, x part, ended <-chan struct{}) int {
	for {
		list := others(t)
		for _, pid := range slices.Sorted(maps.Keys(list)) {
			if x.is(list[pid]) {
				return pid
			}
		}
		select {
		case <-ended:
			return 0
		default:
		}
	}
}

// within waits until a condition holds.
func within(long time.Duration, condition func() bool) bool {
	for end := time.Now().Add(long); ; time.Sleep(10 * time.Millisecond) {
		if condition() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// TestKilled kills a part of a run at some moment: all connections end, no process and no file
// stays behind, and nothing is reached that the policy denies.
func TestKilled(t *testing.T) {
	w := need(t)
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	toml, v := policy(t, []grant{{host: "echo.example.test", scheme: ir.Stream, port: portEcho}})
	for _, u := range []user{root, ordinary} {
		t.Run(string(u), func(t *testing.T) {
			p := newPlace(t, w, u, toml)
			p.cc("hold")
			p.holds(t)
			for _, x := range []part{partProxy, partSupervisor, partTool} {
				t.Run(string(x), func(t *testing.T) {
					for range max(irtest.Times(1000)/60, 1) {
						p.kill(t, x, v)
					}
				})
			}
		})
	}
}

// kill makes a run and kills a part of it.
func (p *place) kill(t *testing.T, x part, v *ir.View) {
	t.Helper()
	temp, err := os.MkdirTemp(p.dir, "temp-")
	p.must(err)
	p.must(os.Chmod(temp, 0o777))
	before := p.w.window(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := p.exec(ctx, "", "kill.jsonl", p.ws+"/hold", "echo.example.test", strconv.Itoa(portEcho), "203.0.113.178")
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p.must(cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	// Half of the moments are at the start.
	after := time.Duration(rand.IntN(150)) * time.Millisecond << (2 * rand.IntN(2))
	time.Sleep(after)
	pid := find(t, x, ended)
	begin := time.Now()
	if pid > 0 {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	problems := append(p.remains(t, ended), before.wrong(t, v)...)
	if x == partProxy && strings.Count(out.String(), "up\n") != strings.Count(out.String(), "closed\n") {
		problems = append(problems, "connections of the tool stayed open")
	}
	// The process that removes the directory is there once the tool starts. See RATIONALE D66.
	if files, _ := os.ReadDir(temp); len(files) > 0 && strings.Contains(out.String(), "up\n") {
		problems = append(problems, fmt.Sprintf("files stayed: %v", files))
	}
	for _, problem := range problems {
		t.Errorf("%s killed after %s: %s\n%s", x, after, problem, out.String())
	}
	t.Logf("killed after %s, all ended %s later: %q", after, time.Since(begin).Round(time.Millisecond), out.String())
}

// remains says which processes and connections stay behind of a run that is to end.
func (p *place) remains(t *testing.T, ended <-chan struct{}) (out []string) {
	select {
	case <-ended:
	case <-time.After(25 * time.Second):
		out = append(out, "exec did not return")
	}
	var left map[int][]string
	if !within(10*time.Second, func() bool { left = others(t); return len(left) == 0 }) {
		out = append(out, fmt.Sprintf("processes stayed: %v", left))
		for pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if !within(5*time.Second, func() bool { return p.w.serving.Load() == 0 }) {
		out = append(out, fmt.Sprintf("%d connections of hosts stayed open", p.w.serving.Load()))
	}
	return out
}
