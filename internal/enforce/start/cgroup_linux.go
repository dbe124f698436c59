package start

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// delegation is the directory where this process may make cgroups, and the controllers it may
// use there.
type delegation struct {
	dir         string
	controllers []string
}

// delegated looks for a place to make groups in: this process's own group, if that hands
// controllers down, or the one above it. A group that holds processes hands nothing down, but
// for the root, so below systemd it is the one above.
// See decision D62.
func delegated() delegation {
	own, top, ok := ownGroup()
	if !ok {
		return delegation{}
	}
	for _, dir := range []string{own, filepath.Dir(own)} {
		if dir != top && !strings.HasPrefix(dir, top+"/") {
			break
		}
		handed, err := os.ReadFile(dir + "/cgroup.subtree_control")
		may := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK, unix.AT_EACCESS) == nil &&
			unix.Faccessat(unix.AT_FDCWD, dir+"/cgroup.procs", unix.W_OK, unix.AT_EACCESS) == nil
		if list := strings.Fields(string(handed)); err == nil && may && len(list) > 0 {
			return delegation{dir, list}
		}
	}
	return delegation{}
}

// ownGroup is the directory of this process's group in the second version's hierarchy,
// and that of the hierarchy's visible top.
func ownGroup() (own, top string, ok bool) {
	line := ""
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for l := range strings.Lines(string(groups)) {
		if rest, found := strings.CutPrefix(l, "0::"); found {
			line = strings.TrimSuffix(rest, "\n")
		}
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil || line == "" || strings.HasPrefix(line, "/..") {
		return "", "", false
	}
	defer mounts.Close()
	for s := bufio.NewScanner(mounts); s.Scan(); {
		// proc_pid_mountinfo(5): root and mount point are the fourth and fifth field.
		before, after, _ := strings.Cut(s.Text(), " - ")
		f := strings.Fields(before)
		if len(f) < 5 || !strings.HasPrefix(after, "cgroup2 ") || strings.Contains(f[4], `\`) {
			continue
		}
		if rel, found := strings.CutPrefix(line, strings.TrimSuffix(f[3], "/")); found {
			return filepath.Join(f[4], rel), f[4], true
		}
	}
	return "", "", false
}

// controls reports whether the delegation has the controller for a limit.
func (d delegation) controls(kind string) bool {
	c := controller(kind)
	return c != "" && slices.Contains(d.controllers, c)
}

// group is the cgroup of one run.
type group struct {
	dir string
	// procs is the list of processes that the joining ones write to.
	procs *os.File
	// kinds are the limits that the group enforces.
	kinds []string
	// joined is true where this process is in the group; the sweeper then waits for its end.
	joined bool
}

// makeGroup makes the group of a run for those of its limits that can be enforced there, nil
// where there are none.
func makeGroup(d delegation, name string, limits []backends.Limit) (*group, error) {
	g := &group{dir: filepath.Join(d.dir, name)}
	settings := map[string]string{}
	for _, l := range limits {
		if !d.controls(l.Kind) {
			continue
		}
		g.kinds = append(g.kinds, l.Kind)
		value := strconv.FormatUint(l.Value, 10)
		switch l.Kind {
		case ir.LimitMemory.String():
			// Without these the kernel would swap out the excess, or kill one process and leave
			// the others in the middle of something.
			settings["memory.max"], settings["memory.swap.max"], settings["memory.oom.group"] = value, "0", "1"
		case ir.LimitProcesses.String():
			settings["pids.max"] = value
		}
	}
	if g.kinds == nil {
		return nil, nil
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	err := g.set(settings)
	if err == nil {
		g.procs, err = os.OpenFile(g.dir+"/cgroup.procs", os.O_WRONLY, 0)
	}
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

func (g *group) set(settings map[string]string) error {
	for file, value := range settings {
		err := os.WriteFile(g.dir+"/"+file, []byte(value), 0)
		// Kernels without swap have no setting for it.
		if err != nil && !(file == "memory.swap.max" && errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// enforces reports whether the group enforces a limit.
func (g *group) enforces(kind string) bool { return g != nil && slices.Contains(g.kinds, kind) }

// killed reports whether the kernel has killed processes of the group for its memory
// (cgroup-v2.rst, memory.events).
func (g *group) killed() bool {
	events, _ := os.ReadFile(g.dir + "/memory.events")
	return slices.ContainsFunc(strings.Split(string(events), "\n"), func(l string) bool {
		n, counts := strings.CutPrefix(l, "oom_kill ")
		return counts && n != "0"
	})
}

// remove kills the processes left in the group and removes it.
func (g *group) remove() {
	if g != nil && !g.joined {
		endGroup(g.dir, true)
	}
}

// endGroup removes the group of a run when it is empty: after killing its processes (Linux
// 5.14), or when they have ended by themselves.
func endGroup(dir string, kill bool) {
	const tries = 500
	pause := 10 * time.Millisecond
	for i := 0; !kill || i < tries; i++ {
		if kill {
			_ = os.WriteFile(dir+"/cgroup.kill", []byte("1"), 0)
		}
		if err := unix.Rmdir(dir); err != unix.EBUSY {
			return
		}
		time.Sleep(pause)
		if !kill {
			pause = min(2*pause, time.Second)
		}
	}
}

// isGroup reports whether a directory is the cgroup of a run.
func isGroup(dir string) bool {
	var st unix.Statfs_t
	return strings.HasPrefix(filepath.Base(dir), runPrefix) && unix.Statfs(dir, &st) == nil && st.Type == unix.CGROUP2_SUPER_MAGIC
}
