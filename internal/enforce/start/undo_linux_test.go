package start_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/undo"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// modeKept starts a tool whose originals are kept beside the specification, modeUndo takes its run in a workspace back.
const modeKept, modeUndo = "kernel-kept", "kernel-undo"

// undoLatest takes back the latest run in the workspace of a directory, and ends this process.
func undoLatest(dir string) {
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	state, err := userdir.For(filepath.Join(dir, inWorkspace))
	if err == nil {
		_, err = undo.Store(state.Undo()).Undo(0, nil, false)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// pictured is everything that an undo brings back of a tree.
func pictured(top string) (out []string, err error) {
	names := map[uint64]string{}
	err = filepath.WalkDir(top, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		if names[st.Ino] == "" {
			names[st.Ino] = p
		}
		line := fmt.Sprintf("%s %o %d:%d %d %d.%d as %s", p, st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim.Sec,
			st.Mtim.Nsec, names[st.Ino])
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", data)
		case unix.S_IFLNK:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			line += " to " + to
		}
		out = append(out, line)
		return nil
	})
	return out, err
}

// TestUndoOfSequences: after any sequence of a tool's calls under any policy, which the kernel and the supervisor
// answer, an undo by the same user leaves the workspace as it was: names, types, contents, modes, owners, times, links.
func TestUndoOfSequences(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	needsFiles(t)
	base := filepath.Join(workspace(t), aboveAll)
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	users(t, func(t *testing.T, who identity) {
		seed, runs := epoch.Seed(t), irtest.Times(1000)
		counts, undone := newSequenceTally(), 0
		for run := range runs {
			dir := filepath.Join(base, filepath.Base(t.Name())+strconv.Itoa(run))
			is, err := undoOf(t, dir, who, seed, run, counts)
			if err != nil {
				t.Fatalf("run %d of seed %d: %v", run, seed, err)
			}
			if is {
				undone++
			}
		}
		fmt.Printf("property %s: seed %d, %d sequences, %d undone, %s\n", t.Name(), seed, runs, undone, counts.drawn())
		if undone < runs/2 {
			t.Errorf("only %d of %d sequences changed anything", undone, runs)
		}
	})
}

// undoOf makes one sequence and takes it back; false where it has changed nothing.
func undoOf(t *testing.T, dir string, who identity, seed uint64, run int, counts *sequenceTally) (bool, error) {
	s, err := newSequence(dir, who, epoch.Source(seed, uint64(run)), counts)
	if err != nil {
		return false, err
	}
	s.policy.Undo, s.mode = true, modeKept
	if err := s.compile(); err != nil {
		return false, err
	}
	defer s.end()
	if err := s.begin(t); err != nil {
		return false, err
	}
	before, err := pictured(filepath.Join(dir, inWorkspace))
	if err != nil {
		return false, err
	}
	for range 6 {
		list := make([]step, 1+s.IntN(12))
		ahead := s.tree.clone()
		for i := range list {
			list[i] = s.step(ahead)
			if o := ahead.judge(s.by, list[i]); o.done() && o.apply != nil {
				o.apply()
			}
		}
		s.threads++
		r, err := s.exchange(request{Thread: s.threads % 8, Steps: list})
		if err != nil {
			return false, err
		}
		for i, e := range r.Answers {
			counts.add(list[i], e == 0)
			s.history = append(s.history, list[i])
			if o := s.tree.judge(s.by, list[i]); e == 0 && o.apply != nil {
				o.apply()
			}
		}
	}
	s.tool.stop()
	said := s.tool.errs.String()
	s.tool = nil
	after, err := pictured(filepath.Join(dir, inWorkspace))
	if err != nil {
		return false, err
	}
	cmd := exec.Command(binary, modeUndo, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	out, err := cmd.CombinedOutput()
	if err != nil && slices.Equal(before, after) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s%s%+v", err, out, said, s.history)
	}
	now, err := pictured(filepath.Join(dir, inWorkspace))
	if err == nil && !slices.Equal(now, before) {
		err = fmt.Errorf("%s\n%s\nafter\n%s", strings.Join(now, "\n"), strings.Join(before, "\n"),
			strings.Join(after, "\n"))
	}
	return true, err
}
