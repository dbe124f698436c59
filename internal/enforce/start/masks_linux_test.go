package start_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const modeMasked = "kernel-masked"

// TestMountMasksFailOpen is the reason why no policy is enforced by mounts: the operations of
// TestHostReplaces remove them. A mount on a file in another mount namespace goes when the file
// is replaced (detach_mounts() in vfs_rename(), fs/namei.c, Linux 3.18), and goes with a
// directory that is moved. A kernel in which this fails lets them be reconsidered.
func TestMountMasksFailOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(p string) string { return filepath.Join(dir, p) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at(".env"), []byte("before"), 0o600))
	must(os.Mkdir(at("src"), 0o700))
	cmd := exec.Command(os.Args[0], modeMasked, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	must(errors.Join(err1, err2))
	if err := cmd.Start(); err != nil {
		t.Skipf("user namespaces are closed here, one more reason: %v", err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	lines := bufio.NewReader(out)
	read := func() (line string) {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	if got := read(); got != "denied denied\n" {
		t.Skipf("mounts are closed here, one more reason: %s", got)
	}
	// As an editor saves a file, and git changes the branch.
	must(os.WriteFile(at(".env.tmp"), []byte(secret), 0o600))
	must(os.Rename(at(".env.tmp"), at(".env")))
	must(os.Rename(at("src"), at("src.old")))
	must(os.Mkdir(at("src"), 0o700))
	_, err := io.WriteString(in, "\n")
	must(err)
	if got := read(); got != "reached reached\n" {
		t.Errorf("after the host has replaced what was masked: %s", got)
	}
}

// masked hides .env and makes src read-only, and reports twice which files can be reached.
func masked(dir string) {
	env, src := dir+"/.env", dir+"/src"
	err := errors.Join(
		unix.Mount("/dev/null", env, "", unix.MS_BIND, ""),
		unix.Mount(src, src, "", unix.MS_BIND, ""),
		unix.Mount("", src, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	try := func() {
		text, _ := os.ReadFile(env)
		err := os.WriteFile(src+"/new", nil, 0o600)
		fmt.Println(word(len(text) > 0), word(!errors.Is(err, unix.EROFS) && !errors.Is(err, fs.ErrPermission)))
	}
	try()
	_, _ = io.ReadFull(os.Stdin, make([]byte, 1))
	try()
}

func word(reached bool) string {
	if reached {
		return "reached"
	}
	return "denied"
}
