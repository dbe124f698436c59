package start

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/files/rmtree"
)

// SweepCommand is the hidden command that removes the directory of a run.
const SweepCommand = "__sweep"

// survivors, behind the directory, has the command first kill the processes left of the run.
const survivors = "survivors"

// These start the words that name the cgroup of the run, its shared memory and the mark of
// its processes.
const (
	ofGroup  = "group:"
	ofShared = "shared:"
	ofMark   = "mark:"
)

// beside are the words about a cgroup, shared memory and a mark, those left out that are empty.
func beside(group, shared string, mark *supervisor.Mark) (out []string) {
	if group != "" {
		out = append(out, ofGroup+group)
	}
	if shared != "" {
		out = append(out, ofShared+shared)
	}
	if mark != nil {
		out = append(out, ofMark+mark.String())
	}
	return out
}

// Sweep removes the directory of a run that has ended. Further words name more to remove: the
// processes left of the run, which are killed first, by their mark where it is given, its
// shared memory and its cgroup.
func Sweep(dir string, further ...string) error {
	if !isRun(dir) {
		return fmt.Errorf("%s is not the directory of a run", dir)
	}
	kill, group, shared := false, "", ""
	var mark *supervisor.Mark
	for _, word := range further {
		kill = kill || word == survivors
		if g, ok := strings.CutPrefix(word, ofGroup); ok && isGroup(g) {
			group = g
		}
		if s, ok := strings.CutPrefix(word, ofShared); ok && isRun(s) && filepath.Dir(s) == sharedMemory {
			shared = s
		}
		if text, ok := strings.CutPrefix(word, ofMark); ok {
			if m, ok := supervisor.ParseMark(text); ok {
				mark = m
			}
		}
	}
	if kill {
		endSurvivors(dir, mark)
	}
	if kill && group != "" {
		endGroup(group, true)
	}
	supervisor.RemoveObjects(dir)
	err := rmtree.Remove(dir)
	if shared != "" {
		err = errors.Join(err, rmtree.Remove(shared))
	}
	if !kill && group != "" {
		endGroup(group, false)
	}
	return err
}

// endSurvivors kills the processes of a run until there are none: those that carry its mark,
// which they cannot put off, and those that have its temporary directory in their environment.
func endSurvivors(dir string, mark *supervisor.Mark) {
	const long = 10 * time.Second
	none := 0
	for end := time.Now().Add(long); none < 2 && time.Now().Before(end); {
		none++
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			remains := func() bool {
				env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
				is := mark != nil && mark.Carries(pid) || names(env, dir)
				if is {
					none = 0
				}
				return is
			}
			supervisor.KillIf(pid, remains)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// names reports whether a variable is a directory or a path in it.
func names(env []byte, dir string) bool {
	return bytes.Contains(env, []byte("="+dir+"/")) || bytes.Contains(env, []byte("="+dir+"\x00"))
}
