package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// TestServeTooManyDescriptors: a client whose descriptors the kernel drops is cut off, and leaves none.
func TestServeTooManyDescriptors(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	fds := make([]int, 40)
	s.send(`{"id":1,"method":"start","params":{"tool":"alone"}}`+"\n", fds...)
	if _, err := s.in.ReadByte(); err == nil {
		t.Error("the client was answered")
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServeLimits: a client that asks for too much is told so, and one that takes no events stops its tool and nothing else.
func TestServeLimits(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	run, pid := s.begin(`{"tool":"alone","command":["sh","-c","while :; do echo 0123456789012345678901234567890123456789; done"],"stdout":"data"}`)
	// It sleeps in its write, and neither it nor the server goes on, time after time.
	const often = 20
	var used int64
	same := 0
	await.Until(t, "the tool waits for its client", func() bool {
		was := used
		used = processorTime(t, pid) + processorTime(t, s.cmd.Process.Pid)
		if same++; used != was || !sleeps(pid) {
			same = 0
		}
		return same == often
	})
	if rss := resident(t, s.cmd.Process.Pid); rss > 200<<20 {
		t.Errorf("the server has %d MB", rss>>20)
	}
	if got := s.must("events", "{}"); len(got) < 10000 || len(got) > 4<<20 {
		t.Errorf("got %d bytes of events", len(got))
	}
	for i := range 65 {
		s.send(fmt.Sprintf(`{"id":"w%d","method":"wait","params":{"run":%d}}`+"\n", i, run))
	}
	if got := s.read(); got.reason() != "limit" || string(got.ID) != `"w64"` {
		t.Errorf("got %+v", got)
	}
	s.send(`{"id":"w0","method":"can","params":{}}` + "\n")
	if got := s.read(); got.reason() != "request" {
		t.Errorf("an id twice: got %+v", got)
	}
	s.send(fmt.Sprintf(`{"id":"k","method":"signal","params":{"run":%d,"signal":"KILL"}}`+"\n", run))
	if got := s.read(); got.reason() != "limit" {
		t.Errorf("got %+v", got) // 64 requests wait
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if got := s.read(); !strings.Contains(string(got.Result), `"signal":"KILL"`) {
			t.Fatalf("got %+v", got)
		}
	}
}

// TestServeManyRuns: a connection has so many runs, and room again when one was waited for.
func TestServeManyRuns(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	children := func() int {
		left, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
		n := 0
		for _, f := range left {
			text, _ := os.ReadFile(f)
			n += len(strings.Fields(string(text)))
		}
		if err != nil || len(left) == 0 {
			t.Fatal(err)
		}
		return n
	}
	s.begin(`{"tool":"watched"}`)
	s.must("wait", `{"run":1}`)
	s.begin(`{"tool":"alone"}`)
	s.must("wait", `{"run":2}`)
	// The helper stays, with its socket.
	before, kept := s.files(), children()
	for range 64 {
		s.begin(`{"tool":"alone","command":["sleep","60"]}`)
	}
	if got := s.request("start", `{"tool":"alone"}`); got.reason() != "limit" {
		t.Errorf("got %+v", got)
	}
	s.must("signal", `{"run":3,"signal":"KILL"}`)
	s.must("wait", `{"run":3}`)
	await.Until(t, "there is room", func() bool { return s.request("start", `{"tool":"alone","command":["true"]}`).Error == nil })
	for run := 4; run <= 67; run++ {
		s.request("signal", fmt.Sprintf(`{"run":%d,"signal":"KILL"}`, run))
		s.must("wait", fmt.Sprintf(`{"run":%d}`, run))
	}
	await.Until(t, "the descriptors are closed", func() bool { return s.files() <= before })
	if n := children(); n != kept {
		t.Errorf("%d children are left, %d before", n, kept)
	}
}

// TestServeLost: a tool that is refused more than a run may tell of does not wait, and its client learns how much it lacks.
func TestServeLost(t *testing.T) {
	t.Parallel()
	s := serveHere(t)
	const tries = 5000
	path := strings.Repeat("./", 2000) + "secret"
	run, pid := s.begin(fmt.Sprintf(`{"tool":"watched","command":["sh","-c","i=0; while [ $i -lt %d ]; do true <%s; i=$((i+1)); done; exit 3"],"events":true}`, tries, path))
	await.Until(t, "the tool has ended and waited for no client", func() bool { return !running(pid) })
	denied, lost, ended := 0, 0, false
	for !ended {
		var list struct {
			Events []struct {
				Event   string
				Refusal struct {
					Event string
					Count int
				}
			}
		}
		if err := json.Unmarshal([]byte(s.must("events", "{}")), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Events {
			ended = ended || e.Event == "ended"
			lost += e.Refusal.Count
			if e.Refusal.Event == "denied" {
				denied++
			}
		}
	}
	if got := s.must("wait", fmt.Sprintf(`{"run":%d}`, run)); !strings.Contains(got, `"exit":3`) {
		t.Errorf("got %s", got)
	}
	if denied < 1000 || lost == 0 || denied+lost != tries {
		t.Errorf("%d denied, %d lost, %d tried", denied, lost, tries)
	}
}

// sleeps reports whether a process waits.
func sleeps(pid int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(state, []byte(") S "))
}

func processorTime(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var user, system int64
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	return user + system
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// TestServeEnds: the tools of a client that is gone end, and those of a server that is killed, also tools that ignore
// signals and have children; nothing of a run is left behind.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *servedHere){
		"client gone":   func(s *servedHere) { s.conn.Close() },
		"client half":   func(s *servedHere) { s.send(`{"id":77,"method":"st`); s.conn.Close() },
		"server told":   func(s *servedHere) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"server killed": func(s *servedHere) { _ = s.cmd.Process.Kill() },
		"client deaf": func(s *servedHere) {
			_ = s.conn.CloseRead()
			s.send(`{"id":78,"method":"can","params":{}}` + "\n")
			s.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveHere(t)
			var pids []int
			for _, tool := range []string{"alone", "watched"} {
				_, pid := s.begin(`{"tool":"` + tool + `","command":["sh","-c","trap '' TERM HUP INT; echo ready; while :; do sleep 1; done"],"stdout":"data"}`)
				pids = append(pids, pid)
				s.must("events", "{}")
			}
			end(s)
			for _, pid := range pids {
				await.Until(t, "the tool has ended", func() bool { return !running(pid) })
			}
			_ = s.cmd.Wait()
			await.Until(t, "the directory is empty", func() bool {
				left, err := os.ReadDir(s.tmp)
				return err == nil && len(left) == 0
			})
		})
	}
}
