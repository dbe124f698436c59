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

// runPrefix starts the name of every run's directory.
const runPrefix = "accessc-"

// contextFile is where the Context lies in the temporary directory.
const contextFile = "/context.json"

// directories makes the private home, and the run's directory: the temporary
// directory with the Context in it. The run's directory itself is the canary.
func (r *run) directories() error {
	if r.spec.Home != "" {
		if err := os.MkdirAll(r.spec.Home, 0o700); err != nil {
			return failed("the private home: %w", err)
		}
		if err := private(r.spec.Home); err != nil {
			return failed("the private home %s: %w", r.spec.Home, err)
		}
	}
	dir, err := os.MkdirTemp("", runPrefix+"*")
	if err != nil {
		return failed("the temporary directory: %w", err)
	}
	r.dir = dir
	if r.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return failed("the temporary directory: %w", err)
	}
	r.tmp = r.dir + "/tmp"
	if err := os.Mkdir(r.tmp, 0o700); err != nil {
		return failed("the temporary directory: %w", err)
	}
	if err := os.WriteFile(r.tmp+contextFile, []byte(r.spec.Context), 0o600); err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// private refuses a directory that somebody else owns or can write to.
func private(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("not a directory")
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("belongs to another user")
	case st.Mode&0o022 != 0:
		return fmt.Errorf("others can write to it")
	}
	return nil
}

// discard removes the run's directory after a supervised tool or a start that failed.
// The sandbox may be in force already, in which case the sweeper does it.
func (r *run) discard() {
	if r.dir == "" {
		return
	}
	_, _ = unix.Unlink(r.tmp+contextFile), unix.Rmdir(r.tmp)
	if unix.Rmdir(r.dir) != nil {
		_ = os.RemoveAll(r.dir)
	}
}

// Sweep removes the directory of a run that has ended, or ends what is left of it first
// where the further words ask for that.
func Sweep(dir string, further ...string) error {
	if !strings.HasPrefix(filepath.Base(dir), runPrefix) || !filepath.IsAbs(dir) {
		return fmt.Errorf("%s is not the directory of a run", dir)
	}
	if len(further) > 0 && further[0] == survivors {
		endSurvivors(dir)
	}
	return os.RemoveAll(dir)
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
			if err == nil && unread == nil && pid != os.Getpid() && bytes.Contains(env, []byte("="+dir+"/")) {
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
