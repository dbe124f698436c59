//go:build unix

package start

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestOwnPlaces: a file in the workspace or in the home of its own tool vouches for nothing.
func TestOwnPlaces(t *testing.T) {
	l := backends.Launch{Workspace: "/srv/w", Home: "/state/home"}
	for file, good := range map[string]bool{"/srv/w/a": false, "/state/home/a": false, "/state/home": false,
		"/srv/wx/a": true, "/state/homes/a": true, "/builds/a": true} {
		if why := own(file, l); (why == "") != good {
			t.Errorf("%s: %q", file, why)
		}
	}
}

// TestApprovedNeighbours: the approval of a directory is one of what lies in it, by rules that lie in its own, and
// not one of neighbours whose names begin alike.
func TestApprovedNeighbours(t *testing.T) {
	var store approvals.Store
	if err := store.Approve(approvals.Mount{RulePath: "fork", CanonicalTarget: "/data/fork"}); err != nil {
		t.Fatal(err)
	}
	for b, want := range map[binding]bool{
		{"fork", "/data/fork"}: true, {"fork/a", "/data/fork/a"}: true, {"fork/a", "/data/forked/a"}: false,
		{"fork/a", "/data/forked"}: false,
		{"fork", "/data/fork/a"}:   false, {"other", "/data/fork"}: false, {"forked", "/data/fork"}: false,
	} {
		if covers(store, b) != want {
			t.Errorf("%+v: want %v", b, want)
		}
	}
}

// TestUnreadableApprovals: where the approvals of some workspace cannot be read, any place may be one where tools
// write. A malformed store is about the places that its text names, and the start of a name where it breaks off. Cause: one
// such store of any workspace stopped all starts from builds and all signatures.
func TestUnreadableApprovals(t *testing.T) {
	all, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := userdir.Dir(filepath.Join(all, "workspaces", "w")).Approvals()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(all, "build", "artifact")
	target := filepath.ToSlash(filepath.Join(all, "build"))
	mount := `{"mounts": [{"rule_path": "x", "canonical_target": "`
	for text, good := range map[string]bool{
		`{"mounts": []}`: true, `{"mounts": `: true, "": true, "{bad": true, "\xff": true,
		mount + target + `"}]}`: false, mount + target + `"}`: false, mount + target + `/artifact"}`: false, mount + target: false,
		mount + target[:len(target)-2]: false, mount + target + `x"}`: true, mount + filepath.ToSlash(all) + `"`: false,
		`{"mounts": [{"rule_path: "x", "canonical_target": "` + target + `"}]}`: false, `{"a": "/nowhere", "b`: true,
		strings.Repeat(" ", 17<<20): true,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if why := approvedPlace(file, all); (why == "") != good {
			t.Errorf("%.60q: %q", text, why)
		}
	}
}

// TestOddApprovals: what lies in place of the approvals of some workspace approves nothing, unless its text names
// the place, and nothing is waited for. Cause: anything but a regular file of mode 0600 stopped all starts from
// builds and all signatures, and a FIFO in place of the workspace's directory held them up.
func TestOddApprovals(t *testing.T) {
	mount := func(target string) []byte {
		return []byte(`{"mounts": [{"rule_path": "x", "canonical_target": "` + target + `"}]}`)
	}
	for name, c := range map[string]struct {
		make func(name, file string) error
		bad  bool
	}{
		"a directory":     {make: func(name, _ string) error { return os.Mkdir(name, 0o700) }},
		"a FIFO":          {make: func(name, _ string) error { return syscall.Mkfifo(name, 0o600) }},
		"a dangling link": {make: func(name, _ string) error { return os.Symlink("nowhere", name) }},
		"a loop":          {make: func(name, _ string) error { return os.Symlink(filepath.Base(name), name) }},
		"a device":        {make: func(name, _ string) error { return os.Symlink("/dev/zero", name) }},
		"closed": {make: func(name, file string) error {
			return os.WriteFile(name, mount(file), 0)
		}, bad: os.Geteuid() == 0}, // root reads it
		"for everybody": {make: func(name, _ string) error {
			return errors.Join(os.WriteFile(name, mount("/elsewhere"), 0o600), os.Chmod(name, 0o666))
		}},
		"for everybody, of the place": {make: func(name, file string) error {
			return errors.Join(os.WriteFile(name, mount(filepath.Dir(file)), 0o600), os.Chmod(name, 0o666))
		}, bad: true},
		"in a directory for everybody, of the place": {make: func(name, file string) error {
			err := os.WriteFile(name, mount(filepath.Dir(file)), 0o600)
			return errors.Join(err, os.Chmod(filepath.Dir(name), 0o777))
		}, bad: true},
		"in a FIFO": {make: func(name, _ string) error {
			return errors.Join(os.Remove(filepath.Dir(name)), syscall.Mkfifo(filepath.Dir(name), 0o600))
		}},
		"in a loop": {make: func(name, _ string) error {
			return errors.Join(os.Remove(filepath.Dir(name)), os.Symlink("w", filepath.Dir(name)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("XDG_STATE_HOME", state)
			all := filepath.Join(state, "accessc")
			store := userdir.Dir(filepath.Join(all, "workspaces", "w")).Approvals()
			file := filepath.Join(state, "build", "artifact")
			if err := errors.Join(os.MkdirAll(filepath.Dir(store), 0o700), c.make(store, file)); err != nil {
				t.Fatal(err)
			}
			if why := approvedPlace(file, all); (why != "") != c.bad {
				t.Errorf("approvedPlace: %q", why)
			}
			if why := reached(file, ""); why != "" && !c.bad {
				t.Errorf("reached: %q", why)
			}
		})
	}
}
