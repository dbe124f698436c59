package start_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
)

// TestSupervisedOn runs a slice of TestSupervised on file systems that differ in how they name,
// number and move files. Each is mounted in a mount namespace of its own, so the kernel
// unmounts it however the test ends.
func TestSupervisedOn(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	for _, kind := range []string{"tmpfs", "ext4", "overlay"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			checks, expected := "0.01", 1
			if irtest.Full() {
				checks, expected = "0.1", 2
			}
			cmd := exec.Command(os.Args[0], "kernel-mounted", kind, t.TempDir())
			cmd.Env = append(os.Environ(), "ACCESSC_CHECKS="+checks)
			if irtest.Full() {
				cmd.Env = append(cmd.Env, everyUser+"=1")
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit) && exit.ExitCode() == cannotMount:
				t.Skipf("cannot be mounted here: %s", out)
			case errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS):
				t.Skipf("no mount namespaces here: %v", err)
			case err != nil:
				t.Fatalf("%v\n%s", err, out)
			}
			ran := 0
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "operations of") {
					ran++
					fmt.Printf("property %s: %s", t.Name(), strings.TrimPrefix(line, "property "))
				}
			}
			if ran != expected {
				t.Errorf("%d users were tested, expected %d\n%s", ran, expected, out)
			}
		})
	}
}

// cannotMount is the status of a child that prints why it cannot mount.
const cannotMount = 77

// mounted becomes the test on a file system of a kind, mounted below dir.
func mounted(kind, dir string) {
	at, err := mountAt(kind, dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
	err = os.Chmod(at, 0o755)
	if err == nil {
		var fs unix.Statfs_t
		if err = unix.Statfs(at, &fs); err == nil && int64(fs.Type) != magic[kind] {
			err = fmt.Errorf("%s is of type %#x", at, fs.Type)
		}
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", []string{os.Args[0], "-test.run=^TestSupervised$", "-test.v"}, append(os.Environ(), "TMPDIR="+at))
	}
	fmt.Println(err)
	os.Exit(1)
}

var magic = map[string]int64{"tmpfs": unix.TMPFS_MAGIC, "ext4": unix.EXT4_SUPER_MAGIC, "overlay": unix.OVERLAYFS_SUPER_MAGIC}

func mountAt(kind, dir string) (string, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", err
	}
	// The directories above get search permission for other users.
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755)
	}
	at := filepath.Join(dir, "at")
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	switch kind {
	case "tmpfs":
		return at, unix.Mount("tmpfs", at, "tmpfs", 0, "mode=755")
	case "ext4":
		return at, mountImage(filepath.Join(dir, "image"), at)
	default:
		return at, mountOverlay(dir, at)
	}
}

// mountImage mounts a file with a fresh file system through a loop device, which goes
// with the mount.
func mountImage(image, at string) error {
	const size = 256 << 20
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		return err
	}
	for _, argv := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", argv[0], err, out)
		}
	}
	return nil
}

// mountOverlay lays one directory over another. Both lie on a tmpfs, since not every
// file system can be under one.
func mountOverlay(dir, at string) error {
	base := filepath.Join(dir, "base")
	if err := os.Mkdir(base, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, d := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			return err
		}
	}
	return unix.Mount("overlay", at, "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", base))
}
