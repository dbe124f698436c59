package start_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

func init() {
	attempts["tmpfile-read"] = opens(unix.O_RDWR|unix.O_TMPFILE, 0o644)
	attempts["fold"] = ofReading(func(fd int) error {
		return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS,
			0x40000000|0x80)
	})
	attempts["inroot"] = func(a, _ name) error {
		dir, err := leave(unix.Openat(a.dir, filepath.Dir(a.path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0))
		if err != nil {
			return err
		}
		return close2(unix.Openat2(dir, "/"+filepath.Base(a.path), &unix.OpenHow{Flags: unix.O_RDONLY,
			Resolve: unix.RESOLVE_IN_ROOT}))
	}
}

// TestExclusive: O_CREAT with O_EXCL makes no file behind a symlink that leads nowhere.
func TestExclusive(t *testing.T) {
	f := newFortress(t)
	f.must(os.Symlink("made", f.at("docs/dangling")))
	f.ended("set -C; : >docs/dangling", nil)
	if _, err := os.Lstat(f.at("docs/made")); err == nil {
		t.Error("the target of the symlink was made")
	}
}

// TestInRoot: under RESOLVE_IN_ROOT an absolute path counts from the directory of the call (openat2(2)).
func TestInRoot(t *testing.T) {
	f := newFortress(t)
	f.allows("inroot", "docs/a", "")
	f.refuses("inroot", ".env", "")
}

// TestFolding: no directory of a tool folds case, whatever flags are set with that one (FS_CASEFOLD_FL).
func TestFolding(t *testing.T) {
	f := newFortress(t)
	f.must(os.Mkdir(f.at("docs/fold"), 0o755))
	if e := f.do("fold", "docs/fold", ""); e != unix.EPERM {
		t.Errorf("got %v, want %v before the file system is asked", e, unix.EPERM)
	}
}

// TestUnnamedReading: a file without a name is opened for reading only where files may be read.
func TestUnnamedReading(t *testing.T) {
	f := newFortress(t)
	f.tool.stop()
	f.spec = f.compiled(rule("", ir.Caps(ir.Read, ir.Update)), rule("docs", ir.Caps(ir.Create, ir.Update)),
		rule("src", ir.All), rule("src/main.c", 0))
	f.tool = startMode(t, "kernel-supervised", f.spec, f.dir, nil)
	f.allows("tmpfile", "docs", "")
	f.refuses("tmpfile-read", "docs", "")
	f.allows("tmpfile-read", "src", "")
}

// TestMemoryOfOthers: a program that gets fewer variables reads those of another one neither in /proc/PID/environ
// nor in its memory, and its own.
func TestMemoryOfOthers(t *testing.T) {
	s := oneShop(t)
	cat := s.rule("cat", "/bin/cat")
	cat.AllEnvs = false
	f := &fortress{t: t, dir: s.dir, root: s.root}
	s.open(nil, everything, s.rule("sh", "/bin/sh"), cat)
	s.tool.stop()
	f.spec = s.spec
	for file, want := range map[string]string{
		"/proc/$$/environ": "Permission denied", "/proc/$$/mem": "Permission denied",
		"/proc/$$/task/$$/mem": "Permission denied",
		"/proc/self/mem":       "Input/output error",
	} {
		if _, out := f.ended("LC_ALL=C cat "+file+" 2>&1", nil); !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", file, out, want)
		}
	}
}
