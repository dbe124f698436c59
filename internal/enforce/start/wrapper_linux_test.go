package start

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/test/testbuild"
)

// TestFindWrapper: a bubblewrap that another user than root could change is passed over, and so is one that is
// set-user-id, or has no option that forbids further namespaces. What it can do is asked of its options.
func TestFindWrapper(t *testing.T) {
	base := t.TempDir()
	lay := func(name, options string, file, dir os.FileMode, uid int) string {
		p := filepath.Join(base, name, "bwrap")
		err := errors.Join(
			os.Mkdir(filepath.Dir(p), 0o755), testbuild.WriteFile(p, []byte("#!/bin/sh\n[ \"$1\" = --help ] && echo '"+options+"'\n"), 0o755),
			os.Chmod(p, file), os.Chmod(filepath.Dir(p), dir),
		)
		if err == nil && uid != 0 && os.Geteuid() == 0 {
			err = os.Chown(p, uid, -1)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const closes, takes = "    --disable-userns  Disable", " --bind-fd FD DEST --ro-bind-fd FD DEST"
	paths := []string{
		filepath.Join(base, "none"), lay("suid", closes, 0o755|os.ModeSetuid, 0o755, 0), lay("sgid", closes, 0o755|os.ModeSetgid, 0o755, 0),
		lay("group", closes, 0o775, 0o755, 0), lay("others", closes, 0o757, 0o755, 0), lay("dir", closes, 0o755, 0o775, 0),
		lay("foreign", closes, 0o755, 0o755, 65534), lay("old", "--unshare-user", 0o755, 0o755, 0),
	}
	open := filepath.Join(base, "dir", "link")
	if err := os.Symlink(filepath.Join(base, "good", "bwrap"), open); err != nil {
		t.Fatal(err)
	}
	paths = append(paths, open)
	good, older := lay("good", closes+takes, 0o755, 0o755, 0), lay("older", closes, 0o755, 0o755, 0)
	for _, p := range paths {
		if w, err := findWrapper([]string{p}); err == nil {
			t.Errorf("%s is used", w.file)
		}
	}
	if _, err := findWrapper(paths[:1]); !errors.Is(err, errNoWrapper) {
		t.Errorf("none is there: %v", err)
	}
	for file, descriptors := range map[string]bool{good: true, older: false} {
		w, err := findWrapper(append(slices.Clone(paths), file))
		if os.Geteuid() != 0 {
			if err == nil {
				t.Errorf("%s of this user is used", w.file)
			}
			continue
		}
		if w != (wrapper{file, descriptors}) || err != nil {
			t.Errorf("%+v, %v", w, err)
		}
	}
}

// TestFollowsOut: what a bubblewrap does with a symlink to the host is tried, and its version is not asked.
func TestFollowsOut(t *testing.T) {
	// The words that lead to the host are those that bwrap has it by.
	const follows = "for w; do case $w in */seen) mkdir $(readlink $w/link | sed s,^/oldroot,,)/made;; esac; done"
	for script, want := range map[string]bool{follows: true, "exit 1": false, "exit 0": false} {
		file := filepath.Join(t.TempDir(), "bwrap")
		if err := testbuild.WriteFile(file, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 99.0\nPATH=/usr/bin:/bin\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := (wrapper{file: file}).followsOut(); got != want {
			t.Errorf("%s: %t", script, got)
		}
	}
}

// TestByDescriptor: each place that bubblewrap takes by descriptor is the one that was opened for its option, under the number that it
// has there. Devices and covers keep their names.
func TestByDescriptor(t *testing.T) {
	options, err := (&bubblewrap.Spec{Args: strings.Fields("--ro-bind /usr /usr --perms 0111 --dir /a --dev-bind /dev/null /dev/null " +
		"--bind-try /tmp /tmp --tmpfs /none --ro-bind /dev/null /etc/passwd --chdir /")}).Options()
	if err != nil {
		t.Fatal(err)
	}
	_, open, err := expect(options)
	if err != nil {
		t.Fatal(err)
	}
	out, held := byDescriptor(options, open)
	var words []string
	for i, o := range out {
		words = append(append(words, o.Name), o.Values...)
		if number, err := strconv.Atoi(o.Values[0]); err == nil && strings.HasSuffix(o.Name, "-fd") && held[number-wrapperPlaces].Name() != options[i].Values[0] {
			t.Errorf("%v is of %s, want %s", o, held[number-wrapperPlaces].Name(), options[i].Values[0])
		}
	}
	want := "--ro-bind-fd 9 /usr --perms 0111 --dir /a --dev-bind /dev/null /dev/null --bind-fd 11 /tmp --tmpfs /none --ro-bind-fd 12 /etc/passwd --chdir /"
	if got := strings.Join(words, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, f := range held {
		_ = f.Close()
	}
}
