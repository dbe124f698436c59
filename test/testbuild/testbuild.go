// Package testbuild makes the programs of this module that tests start.
package testbuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Program puts a program of this module into a file that every user may start. Flags are those of go run. The go
// command keeps the programs that it runs (go help run), so the packages of a gate, and the next gate, share one:
// go build links a large program anew for each file.
func Program(file, pkg string, flags ...string) error {
	if err := consult(); err != nil {
		return err
	}
	args := append([]string{"run", "-exec", "cp"}, flags...)
	cmd := exec.Command("go", append(args, "github.com/accessc/accessc/"+pkg, file)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s is not made: %w: %s", pkg, err, out)
	}
	return os.Chmod(file, 0o755) // whatever the mask is
}

// consult has a kept result of the test count only as long as no file changes of which a program may be made: the go
// command keeps results by the files that the test itself looks at (go help test), and the compiler is another process.
func consult() error {
	root, err := filepath.Abs(".")
	for _, none := os.Stat(filepath.Join(root, "go.mod")); err == nil && none != nil; _, none = os.Stat(filepath.Join(root, "go.mod")) {
		if filepath.Dir(root) == root {
			return errors.New("the test runs outside of the module")
		}
		root = filepath.Dir(root)
	}
	return errors.Join(err, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "docs"):
			return fs.SkipDir
		case d.Type().IsRegular() && !strings.HasSuffix(name, "_test.go"):
			_, err = os.Stat(name)
		}
		return err
	}))
}

// WriteFile is os.WriteFile for a file that is started afterwards. A process that is made meanwhile would have the file open for
// writing until its own program starts, and the kernel starts no file that somebody writes to (execve(2), ETXTBSY).
func WriteFile(name string, data []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, data, perm)
}

// Written waits until no process holds what was open here when it was made: files that were written otherwise can be started.
func Written() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}
