package start

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/internal/files/rmtree"
)

// wrapperPaths are the places where bwrap is looked for. PATH is not asked: a directory of it may be
// one where a tool writes.
var wrapperPaths = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

var errNoWrapper = errors.New("bubblewrap is not installed")

// wrapper is a bubblewrap that can be used.
type wrapper struct {
	file string
	// descriptors is true if it takes places by descriptors (--bind-fd, --ro-bind-fd), which distributions have given
	// to older versions as well.
	descriptors bool
}

// findWrapper finds the first usable bubblewrap of a list. The error is that of the first one that is there.
func findWrapper(paths []string) (wrapper, error) {
	err := errNoWrapper
	for _, p := range paths {
		w, why := usable(p)
		if why == nil {
			return w, nil
		}
		if errors.Is(err, errNoWrapper) && !errors.Is(why, os.ErrNotExist) {
			err = why
		}
	}
	return wrapper{}, err
}

// usable returns a bubblewrap, or why it is of no use. It must be root's alone, as is its directory,
// also behind symbolic links. A set-user-id one refuses to forbid further namespaces. Its options are asked for and not
// its version, which says nothing about what a distribution has changed.
func usable(file string) (wrapper, error) {
	w := wrapper{file: file}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return w, err
	}
	for _, p := range []string{filepath.Dir(file), filepath.Dir(real), real} {
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			return w, err
		}
		if st.Uid != 0 || st.Mode&0o022 != 0 {
			return w, fmt.Errorf("%s can be changed by other users than root", p)
		}
		if p == real && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
			return w, fmt.Errorf("%s is set-user-id, and then cannot forbid further namespaces", file)
		}
	}
	out, err := exec.Command(file, "--help").Output()
	if err != nil {
		return w, fmt.Errorf("%s does not say its options: %w", file, err)
	}
	options := strings.Fields(string(out))
	if !slices.Contains(options, "--disable-userns") {
		return w, fmt.Errorf("%s cannot forbid further namespaces: it has no --disable-userns", file)
	}
	w.descriptors = slices.Contains(options, "--bind-fd") && slices.Contains(options, "--ro-bind-fd")
	return w, nil
}

// wrapperName is the finding's name.
const wrapperName = "bubblewrap"

// unneeded is the finding about a wrapper on a host that confines tools by itself: there is nothing to mend.
// See decision D256.
func (f Finding) unneeded() Finding {
	if f.State == Missing {
		f.State, f.Fix = Unneeded, ""
		f.Detail = "Landlock confines tools here; " + f.Detail
	}
	return f
}

// wrapperFinding says whether tools can be started by bubblewrap here, by having it start a program in
// the namespaces that a tool gets.
func wrapperFinding() Finding {
	f := Finding{Name: wrapperName, State: Missing}
	w, err := findWrapper(wrapperPaths)
	switch {
	case errors.Is(err, errNoWrapper):
		f.Detail, f.Fix = "not installed; exec --means bubblewrap uses it where there is no Landlock", "install bubblewrap 0.8 or newer"
		return f
	case err != nil:
		f.Detail, f.Fix = err.Error(), "install bubblewrap 0.8 or newer as root, not set-user-id"
		return f
	}
	// The version is for the reader alone.
	out, _ := exec.Command(w.file, "--version").Output()
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "bubblewrap ")
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, "/", 0, unix.STATX_MNT_ID, &x); err != nil || !tellsMounts(&x) {
		f.Detail, f.Fix = errNoRoots.Error(), "start a newer kernel"
		return f
	}
	if said, err := w.try(); err != nil {
		f.Detail = version + ", which cannot make a sandbox here: " + said
		f.Fix = "allow user namespaces (sysctl user.max_user_namespaces; AppArmor's userns restriction; the container's seccomp profile)"
		return f
	}
	f.State = Partial
	f.Detail = version + ": exec --means bubblewrap works, and holds less than Landlock; it says which gaps a tool needs, such as fs.execute"
	if !w.descriptors {
		f.Detail += "; it takes no places by descriptors, so a start is refused where another process exchanges them"
	}
	if w.followsOut() {
		f.Detail += "; it follows symlinks to the host's files while it makes a sandbox (CVE-2026-87766): accessc looks for them before " +
			"a start, and arguments that are used without accessc are not safe where another process writes"
		f.Fix = "install a bubblewrap with the repair, which is in 0.12"
	}
	return f
}

// try has bubblewrap start a program in the namespaces that a tool gets, and returns what it said.
func (w wrapper) try() (said string, err error) {
	args := slices.DeleteFunc(bubblewrap.Frame(), func(a string) bool { return a == "--seccomp" || a == bubblewrap.Filter })
	root, err := os.OpenFile("/", unix.O_PATH, 0)
	if err != nil {
		return err.Error(), err
	}
	defer root.Close()
	bind := []string{"--ro-bind", "/", "/"}
	if w.descriptors {
		bind = []string{"--ro-bind-fd", "3", "/"}
	}
	cmd := exec.Command(w.file, slices.Concat(args, bind, []string{"--proc", "/proc", "--", "/bin/sh", "-c", "exit 0"})...)
	cmd.Env, cmd.ExtraFiles = []string{}, []*os.File{root}
	out, err := cmd.CombinedOutput()
	said, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(said, "bwrap: "), err
}

// followsOut reports whether bubblewrap makes a place on the host that a symlink in the sandbox's tree leads to: it
// still has the host's files below /oldroot then.
func (w wrapper) followsOut() bool {
	dir, err := os.MkdirTemp("", "accessc-")
	if err != nil {
		return false
	}
	defer rmtree.Remove(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil || os.Mkdir(dir+"/host", 0o700) != nil || os.Mkdir(dir+"/seen", 0o700) != nil ||
		os.Symlink("/oldroot"+dir+"/host", dir+"/seen/link") != nil {
		return false
	}
	cmd := exec.Command(w.file, "--unshare-user", "--ro-bind", "/", "/", "--bind", dir+"/seen", "/mnt", "--dir", "/mnt/link/made", "--", "/bin/true")
	cmd.Env = []string{}
	_ = cmd.Run() // it fails where the link is not followed
	_, err = os.Lstat(dir + "/host/made")
	return err == nil
}
