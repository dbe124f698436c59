package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// suite is a test binary and the directory that it runs in.
type suite struct{ name, pkg string }

var suites = []suite{{"start", "internal/enforce/start"}, {"accessc", "cmd/accessc"}, {"egress", "test/egress"}}

// programs are started by the scripts of the tests. They come from this machine with the
// libraries that they name, because programs that are one file under many names, such as
// busybox, would share each other's rights: the kernel identifies files by inode.
var programs = []string{
	"sh", "cat", "chmod", "chown", "cp", "echo", "env", "grep", "head", "ln", "ls", "mkdir", "mv", "rm", "sleep", "sort", "touch", "tr", "true",
}

// etc defines the guest's users, and what a resolver reads. test/egress mounts files of its own
// over the latter.
var etc = map[string]string{
	"passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	"group":  "root:x:0:\nnogroup:x:65534:\n",
	"shadow": "root:*:1::::::\n",
	"hosts":  "127.0.0.1 localhost\n",
	// Without a line the resolver is one of this host.
	"resolv.conf":   "",
	"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}

// userland is the guest's file system: content by name, without directories.
type userland struct {
	files map[string][]byte
	perms map[string]fs.FileMode
}

// build makes the initial file system of the guests and writes it to a file.
func build(root, dir, to string) error {
	u := &userland{map[string][]byte{}, map[string]fs.FileMode{}}
	steps := []func() error{
		func() error { return u.compile(root, dir) },
		u.borrow,
		func() error { return u.testdata(root) },
		func() error { return u.clients(root, dir) },
	}
	for _, s := range steps {
		if err := s(); err != nil {
			return err
		}
	}
	for name, text := range etc {
		u.put("etc/"+name, 0o644, []byte(text))
	}
	u.perms["etc/shadow"] = 0o600
	return u.write(to)
}

func (u *userland) put(name string, perm fs.FileMode, data []byte) {
	u.files[name], u.perms[name] = data, perm
}

// copy puts a file of this machine into the guest.
func (u *userland) copy(from, name string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	u.put(name, info.Mode().Perm(), data)
	return err
}

// compile builds everything that is ours, without the C library.
func (u *userland) compile(root, dir string) error {
	jobs := map[string][]string{
		"init":            {"build", "./test/kernels/init"},
		"usr/bin/accessc": {"build", "./cmd/accessc"},
	}
	for _, s := range suites {
		jobs["tests/"+s.name+"/test"] = []string{"test", "-c", "./" + s.pkg}
	}
	for name, args := range jobs {
		out := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		cmd := exec.Command("go", slices.Insert(slices.Clone(args), len(args)-1, "-o", out)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildvcs=false")
		if _, err := output(cmd); err != nil {
			return err
		}
		if err := u.copy(out, name); err != nil {
			return err
		}
	}
	return nil
}

// clients compiles the C programs of test/egress and puts them beside their sources.
func (u *userland) clients(root, dir string) error {
	sources, err := filepath.Glob(filepath.Join(root, "test", "egress", "testdata", "*.c"))
	if err != nil {
		return err
	}
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		out := filepath.Join(dir, "client-"+name)
		// The options are those of cc in test/egress.
		if _, err := output(exec.Command("cc", "-O1", "-w", "-static", "-pthread", "-o", out, source)); err != nil {
			return err
		}
		if err := u.copy(out, "tests/egress/testdata/"+name); err != nil {
			return err
		}
	}
	return nil
}

// borrow takes the programs and their libraries from this machine.
func (u *userland) borrow() error {
	for _, p := range programs {
		file, err := exec.LookPath(p)
		if err != nil {
			return err
		}
		if err := u.copy(file, "usr/bin/"+p); err != nil {
			return err
		}
		out, err := output(exec.Command("ldd", file))
		if err != nil {
			return err
		}
		for _, lib := range strings.Fields(out) {
			if !filepath.IsAbs(lib) {
				continue
			}
			if err := u.copy(lib, merged(lib)); err != nil {
				return err
			}
		}
	}
	return nil
}

// merged is the place of a library where /lib is a symlink into /usr.
func merged(path string) string {
	path = strings.TrimPrefix(path, "/")
	if strings.HasPrefix(path, "lib") {
		return "usr/" + path
	}
	return path
}

// testdata copies the input of the tests, and the scripts for kernels unlike this one.
func (u *userland) testdata(root string) error {
	for _, s := range suites {
		from := filepath.Join(root, s.pkg, "testdata")
		if err := u.tree(from, filepath.Join("tests", s.name, "testdata")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return u.tree(filepath.Join(root, "test", "kernels", "testdata"), "tests/accessc/testdata/script")
}

func (u *userland) tree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		return errors.Join(err, u.copy(path, filepath.Join(to, rel)))
	})
}

// write writes the archive: directories first, each once.
func (u *userland) write(to string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	a := &cpio{out: f}
	made := map[string]bool{".": true}
	var mkdir func(string)
	mkdir = func(dir string) {
		if !made[dir] {
			made[dir] = true
			mkdir(filepath.Dir(dir))
			a.dir(dir, 0o755)
		}
	}
	for _, d := range []string{"dev", "proc", "sys", "run", "root", "tmp", "var/tmp", "usr/lib64", "usr/sbin"} {
		mkdir(d)
	}
	for _, d := range []string{"bin", "lib", "lib64", "sbin"} {
		a.symlink(d, "usr/"+d)
	}
	// The kernel opens it before the first process can mount anything.
	a.device("dev/console", 0o600, 5, 1)
	for name, data := range u.files {
		mkdir(filepath.Dir(name))
		a.file(name, int(u.perms[name]), data)
	}
	if err := errors.Join(a.close(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}
