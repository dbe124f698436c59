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
)

// wrapperPaths are the places where bwrap is looked for. PATH is not asked: a directory of it may be
// one where a tool writes.
var wrapperPaths = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

var errNoWrapper = errors.New("bubblewrap is not installed")

// findWrapper finds the first usable bubblewrap of a list. The error is that of the first one that is there.
func findWrapper(paths []string) (file, version string, err error) {
	err = errNoWrapper
	for _, p := range paths {
		version, why := usable(p)
		if why == nil {
			return p, version, nil
		}
		if errors.Is(err, errNoWrapper) && !errors.Is(why, os.ErrNotExist) {
			err = why
		}
	}
	return "", "", err
}

// usable returns the version of a bubblewrap, or why it is of no use. It must be root's alone, as is its directory,
// also behind symbolic links. A set-user-id one refuses to forbid further namespaces, and one before 0.8 cannot (NEWS of
// bubblewrap).
func usable(file string) (version string, err error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	for _, p := range []string{filepath.Dir(file), filepath.Dir(real), real} {
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			return "", err
		}
		if st.Uid != 0 || st.Mode&0o022 != 0 {
			return "", fmt.Errorf("%s can be changed by other users than root", p)
		}
		if p == real && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
			return "", fmt.Errorf("%s is set-user-id, and then cannot forbid further namespaces", file)
		}
	}
	out, err := exec.Command(file, "--version").Output()
	version, named := strings.CutPrefix(strings.TrimSpace(string(out)), "bubblewrap ")
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || !named || n != 2 {
		return "", fmt.Errorf("%s does not say its version", file)
	}
	if major == 0 && minor < 8 {
		return "", fmt.Errorf("%s has the version %s, and this takes 0.8", file, version)
	}
	return version, nil
}

// wrapperFinding says whether tools can be started by bubblewrap here, by having it start a program in
// the namespaces that a tool gets.
func wrapperFinding() Finding {
	f := Finding{Name: "bubblewrap", State: Missing}
	file, version, err := findWrapper(wrapperPaths)
	switch {
	case errors.Is(err, errNoWrapper):
		f.Detail, f.Fix = "not installed; exec --means bubblewrap uses it where there is no Landlock", "install bubblewrap 0.8 or newer"
		return f
	case err != nil:
		f.Detail, f.Fix = err.Error(), "install bubblewrap 0.8 or newer as root, not set-user-id"
		return f
	}
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, "/", 0, unix.STATX_MNT_ID, &x); err != nil || !tellsMounts(&x) {
		f.Detail, f.Fix = errNoRoots.Error(), "start a newer kernel"
		return f
	}
	args := slices.DeleteFunc(bubblewrap.Frame(), func(a string) bool { return a == "--seccomp" || a == bubblewrap.Filter })
	cmd := exec.Command(file, append(args, "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/sh", "-c", "exit 0")...)
	cmd.Env = []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		f.Detail = version + ", which cannot make a sandbox here: " + strings.TrimPrefix(said, "bwrap: ")
		f.Fix = "allow user namespaces (sysctl user.max_user_namespaces; AppArmor's userns restriction; the container's seccomp profile)"
		return f
	}
	f.State = Partial
	f.Detail = version + ": exec --means bubblewrap works, and holds less than Landlock; it says which gaps a tool needs, such as fs.execute"
	return f
}
