package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Sweep removes the directory of a run that has ended. Further words say what else: what
// is left of the run is ended first, and its cgroup is removed.
func Sweep(dir string, further ...string) error {
	if !isRun(dir) {
		return fmt.Errorf("%s is not the directory of a run", dir)
	}
	kill, group := false, ""
	for _, word := range further {
		kill = kill || word == survivors
		if g, ok := strings.CutPrefix(word, ofGroup); ok && isGroup(g) {
			group = g
		}
	}
	if kill {
		endSurvivors(dir)
	}
	if kill && group != "" {
		endGroup(group, true)
	}
	err := os.RemoveAll(dir)
	if !kill && group != "" {
		endGroup(group, false)
	}
	return err
}

// endSurvivors kills the processes that have the temporary directory of a run in their
// environment, until there are none. One that hides has lost its supervisor and has the
// floor.
func endSurvivors(dir string) {
	const tries = 50
	for range tries {
		found := false
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range environs {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			env, unread := os.ReadFile(file)
			if err == nil && unread == nil && pid != os.Getpid() && names(env, dir) {
				found = true
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// names reports whether a variable is a directory or a path in it.
func names(env []byte, dir string) bool {
	return bytes.Contains(env, []byte("="+dir+"/")) || bytes.Contains(env, []byte("="+dir+"\x00"))
}
