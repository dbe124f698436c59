package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// system names the way to open that a Context has.
const system = "this system's"

// holders are the ways to open, each of which runs here.
var holders = map[string]func(*testing.T, *Policy) holder{
	system: func(_ *testing.T, c *Policy) holder { return c.holder },
	"os.Root": func(t *testing.T, c *Policy) holder {
		h, err := newRootHolder(c.bindings)
		if err != nil {
			t.Fatal(err)
		}
		return h
	},
}

// eachHolder runs a test on every way to open.
func eachHolder(t *testing.T, test func(t *testing.T, c *Policy, dir string)) {
	for name, hold := range holders {
		t.Run(name, func(t *testing.T) {
			c, dir := newPolicy(t)
			c.holder = hold(t, c)
			test(t, c, dir)
		})
	}
}

// TestOpen covers the capabilities that each way to open takes, and its effect on the file.
func TestOpen(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		for _, tt := range []struct {
			path string
			flag int
			want string // the text of the error, or the file that is opened
		}{
			{"README", os.O_RDONLY, "ws/README"}, {".", os.O_RDONLY, "ws"}, {"src", os.O_RDONLY, "ws/src"}, {"fork", os.O_RDONLY, "fork"},
			{"fork/lib", os.O_RDWR, "fork/lib"}, {"code/a", os.O_RDWR, "ws/src/a"}, {"src/a", os.O_WRONLY | os.O_APPEND, "ws/src/a"},
			{"README", os.O_RDWR, "update of README is denied"}, {"README", os.O_RDONLY | os.O_TRUNC, "update of README is denied"},
			{"README", os.O_RDONLY | os.O_CREATE, "ws/README"}, {"missing", os.O_RDONLY, "file does not exist"},
			{"missing", os.O_RDONLY | os.O_CREATE, "create of missing is denied"}, {"missing/x", os.O_RDONLY, "no such file"},
			{"src/x/y", os.O_WRONLY | os.O_CREATE, "no such file"}, {"src/a/y", os.O_RDONLY, "not a directory"},
			{"dangling", os.O_RDWR | os.O_CREATE, "ws/src/new"}, {"danglingout", os.O_RDWR | os.O_CREATE, "a symlink leads to"},
			{"dangling", os.O_RDWR | os.O_CREATE | os.O_EXCL, "create of dangling is denied"}, {"code", os.O_WRONLY | os.O_CREATE | os.O_EXCL, "create of code is denied"},
			{"src/a", os.O_WRONLY | os.O_CREATE | os.O_EXCL, "file already exists"}, {"drop/full", os.O_WRONLY, "update of drop/full"},
			{"drop/one", os.O_WRONLY | os.O_CREATE, "ws/drop/one"}, {"drop/one", os.O_WRONLY | os.O_CREATE, "update of drop/one"},
			{"drop/two", os.O_RDWR | os.O_CREATE, "read of drop/two is denied"}, {"drop/full", os.O_WRONLY | os.O_CREATE | os.O_EXCL, "file already exists"},
			{"secret/key", os.O_RDONLY, "read of secret/key"}, {"key", os.O_RDONLY, "read of key is denied"}, {"out/o", os.O_RDONLY, "a symlink leads to"},
			{"fork/nested/o", os.O_RDONLY, "a symlink leads to"}, {"/etc/passwd", os.O_RDONLY, "absolute"}, {"loop", os.O_RDONLY, "open loop: found a symlink loop"},
			{"src", os.O_WRONLY, "is a directory"},
		} {
			f, err := c.OpenFile(tt.path, tt.flag, 0o640)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || strings.HasPrefix(tt.want, "ws") {
					t.Errorf("%s, flags %x: %v, want %s", tt.path, tt.flag, err, tt.want)
				}
				continue
			}
			got, stat := f.Stat()
			want, missing := os.Stat(filepath.Join(dir, tt.want))
			if stat != nil || missing != nil || !os.SameFile(got, want) {
				t.Errorf("%s, flags %x: got %s, want %s", tt.path, tt.flag, f.Name(), tt.want)
			}
			_ = f.Close()
		}
		for name, want := range map[string]string{"ws/README": "readme", "ws/src/a": "a", "ws/secret/key": "key", "ws/drop/full": "full"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "ws/drop/one")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode of a new file: %v, %v", info.Mode(), err)
		}
	})
}

// TestReadWrite: whole files and directories.
func TestReadWrite(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		got := func(name string) string {
			data, err := os.ReadFile(filepath.Join(dir, name))
			return string(data) + text(err)
		}
		if data, err := c.ReadFile("code/a"); string(data) != "a" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if err := c.WriteFile("code/a", []byte("longer"), 0o600); err != nil || got("ws/src/a") != "longer" {
			t.Errorf("%v, %s", err, got("ws/src/a"))
		}
		if err := c.WriteFile("src/a", []byte("b"), 0o600); err != nil || got("ws/src/a") != "b" {
			t.Errorf("%v, %s", err, got("ws/src/a"))
		}
		if err := c.WriteFile("fork/lib", []byte("new"), 0o600); err != nil || got("fork/lib") != "new" {
			t.Errorf("%v, %s", err, got("fork/lib"))
		}
		if err := c.WriteFile("src/generated/g", nil, 0o600); err == nil || got("ws/src/generated/g") != "g" {
			t.Errorf("%v, %s", err, got("ws/src/generated/g"))
		}
		f, err := c.Create("src/made")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("made"); err != nil {
			t.Error(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Error(err)
		}
		if data, err := io.ReadAll(f); string(data) != "made" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		_ = f.Close()
		entries, err := c.ReadDir("code")
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if want := []string{"a", "generated", "made"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%v, %v", names, err)
		}
		if _, err := c.ReadDir("secret"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("listing what is denied: %v", err)
		}
		if _, err := c.ReadDir("README"); err == nil {
			t.Error("a file was listed")
		}
		if _, err := c.ReadFile("src"); err == nil {
			t.Error("a directory was read")
		}
	})
}

// TestNames: directories are made and names are removed where the policy says so.
func TestNames(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		mkdir := func(p string) error { return c.Mkdir(p, 0o750) }
		all := func(p string) error { return c.MkdirAll(p, 0o755) }
		for _, tt := range []struct {
			do   func(string) error
			path string
			want string
		}{
			{mkdir, "src/d", ""}, {mkdir, "src/d", "file already exists"}, {mkdir, "new", "create of new is denied"}, {mkdir, "src/x/y", "no such file"},
			{mkdir, "dangling", "create of dangling is denied"}, {mkdir, ".", "neither made nor removed"}, {mkdir, "out/x", "a symlink leads to"},
			{all, "src/x/y/z", ""}, {all, "src/x/y/z/", ""}, {all, "code/p/q", ""}, {all, ".", ""}, {all, "secret", ""}, {all, "secret/x", "create of secret/x"},
			{all, "out", "create of out is denied"}, {all, "fork", ""}, {all, "a/b/c", "create of a/b/c is denied"}, {all, "README", "create of README is denied"},
			{all, "src/a/b", "not a directory"}, {all, "../x", "leaves"}, {all, "drop/k/l", ""},
			{c.Remove, "src/d", ""}, {c.Remove, "src/d", "file does not exist"}, {c.Remove, "src/a", ""}, {c.Remove, "src/x", "directory not empty"},
			{c.Remove, "README", "delete of README is denied"}, {c.Remove, "fork/lib", "delete of fork/lib"}, {c.Remove, ".", "neither"},
			{c.Remove, "key", "delete of key is denied"}, {c.Remove, "src/link", ""}, {c.Remove, "out/o", "a symlink leads to"},
		} {
			if tt.path == "src/link" {
				if err := os.Symlink("../secret/key", filepath.Join(dir, "ws/src/link")); err != nil {
					t.Fatal(err)
				}
			}
			err := tt.do(tt.path)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.path, err, tt.want)
			}
		}
		for name, there := range map[string]bool{"src/x/y/z": true, "src/p/q": true, "drop/k/l": true, "src/a": false, "src/d": false, "secret/key": true, "README": true} {
			if _, err := os.Lstat(filepath.Join(dir, "ws", name)); (err == nil) != there {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestSwappedWorkspace: a workspace or target that was replaced by a link is no longer the one
// of the Context.
func TestSwappedWorkspace(t *testing.T) {
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		at := func(p string) string { return filepath.Join(dir, p) }
		err := errors.Join(os.Rename(at("ws"), at("old")), os.Symlink(at("outside"), at("ws")),
			os.WriteFile(at("outside/README"), []byte("outside"), 0o644))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := c.ReadFile("README"); err == nil {
			t.Errorf("read %q", data)
		}
		if err := c.WriteFile("src/new", nil, 0o600); err == nil {
			t.Error("wrote")
		}
	})
	eachHolder(t, func(t *testing.T, c *Policy, dir string) {
		at := func(p string) string { return filepath.Join(dir, p) }
		err := errors.Join(os.Rename(at("fork"), at("old")), os.Symlink(at("outside"), at("fork")),
			os.WriteFile(at("outside/lib"), []byte("outside"), 0o644))
		if err != nil {
			t.Fatal(err)
		}
		var escape *EscapeError
		if data, err := c.ReadFile("fork/lib"); !errors.As(err, &escape) {
			t.Errorf("read %q, %v", data, err)
		}
	})
}

// swapping is a holder that always finds a changed path.
type swapping struct{ flip func() }

func (s swapping) directory(ir.Location) (directory, error) {
	s.flip()
	return nil, &swappedError{ErrChanged}
}

// TestKeepsChanging: a path that keeps changing ends in an error of its own, and a stable path in the error of the
// system.
func TestKeepsChanging(t *testing.T) {
	c, dir := newPolicy(t)
	link := filepath.Join(dir, "ws/turning")
	n := 0
	c.holder = swapping{func() {
		n++
		to := []string{"README", "src/a"}[n%2]
		if err := errors.Join(os.RemoveAll(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}}
	if err := os.Symlink("README", link); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open("turning"); !errors.Is(err, ErrChanged) || err.Error() != "open turning: the path keeps changing while it is opened" {
		t.Errorf("got %v", err)
	}
	if n < tries {
		t.Errorf("gave up after %d tries", n)
	}
}

// TestReplacedRoot: os.Root refers to the workspace that was there when the Context was loaded,
// even if its name now leads to another directory.
func TestReplacedRoot(t *testing.T) {
	c, dir := newPolicy(t)
	c.holder = holders["os.Root"](t, c)
	ws := filepath.Join(dir, "ws")
	if err := errors.Join(os.Rename(ws, ws+"-old"), os.Mkdir(ws, 0o755), os.WriteFile(filepath.Join(ws, "README"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open("README"); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}
