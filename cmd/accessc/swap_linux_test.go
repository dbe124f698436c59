package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

const swapConfig = `
[tools.read]
source = "local"
command = "sh -c"
access.fs = [{ path = "fork", external = true, read = true }]

[tools.edit]
source = "local"
command = "sh -c"
access.fs = [
	{ path = "fork", external = true, read = true, write = true },
	{ path = "fork/frozen", external = true, read = true },
]
`

// TestSwap starts tools while the symlink of an external rule, and the approved target itself,
// change places with a symlink to another directory all the time. At whatever moment the change
// happens, between compiling and starting as well, the tool reaches approved files only.
func TestSwap(t *testing.T) {
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	t.Parallel()
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(dir, p) }
	write := func(p, text string) {
		if err := os.MkdirAll(filepath.Dir(at(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(p), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ws/accessc.toml", swapConfig)
	write("inside/f", "inside")
	write("outside/f", "outside")
	for link, target := range map[string]string{"ws/fork": "inside", "ws/evil": "outside", "evil": "outside"} {
		if err := os.Symlink(at(target), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (stdout string, err error) {
		cmd := exec.Command(accessc, args...)
		cmd.Dir = at("ws")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+at("state"), "XDG_CONFIG_HOME="+at("config"), "NO_COLOR=1")
		out, err := cmd.Output()
		return string(out), err
	}
	if _, err := run("approve", "--yes", "fork"); err != nil {
		t.Fatal(err)
	}
	const attempts = `for i in 1 2 3 4 5 6 7 8 9; do cat fork/f ` + "$0" + `/f; echo stolen >fork/f; echo stolen >fork/new; done 2>/dev/null; echo`
	rounds, reached, swaps, seed := irtest.Times(400), 0, 0, epoch.Seed(t)
	link, target := [2]string{at("ws/fork"), at("ws/evil")}, [2]string{at("inside"), at("evil")}
	for i := range rounds {
		// Swapping the target as well hardly lets any start through.
		pairs := [][2]string{link, target}[:1+i%2]
		stop := swapping(t, epoch.Source(seed, uint64(i)), []string{at("ws"), at("inside")}, pairs...)
		out, _ := run("exec", "--no-prompt", []string{"read", "edit"}[i/2%2], "--", attempts, at("inside"))
		swaps += stop()
		if strings.Contains(out, "outside") {
			t.Fatalf("round %d read what was not approved:\n%s", i, out)
		}
		if strings.Contains(out, "inside") || strings.Contains(out, "stolen") {
			reached++
		}
	}
	for _, p := range []string{"outside/f", "outside/new"} {
		if text, err := os.ReadFile(at(p)); string(text) != "outside" && err == nil {
			t.Errorf("%s holds %q", p, text)
		}
	}
	// In the end both are put back, and a start gets there.
	for _, p := range [][2]string{link, target} {
		if to, _ := os.Readlink(p[0]); to == at("outside") {
			if err := unix.Renameat2(unix.AT_FDCWD, p[0], unix.AT_FDCWD, p[1], unix.RENAME_EXCHANGE); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, err := run("exec", "--no-prompt", "read", "--", "cat fork/f"); !strings.Contains(out, "inside") && !strings.Contains(out, "stolen") {
		t.Errorf("the approved target is not reached: %q, %v", out, err)
	}
	fmt.Printf("race %s: %d starts among %d swaps, %d of them reached the target\n", t.Name(), rounds, swaps, reached)
}

// swapping exchanges pairs of names until it is stopped, and says how often it did: once at first, then a little after
// somebody has opened or read a file in one of the directories, or closed one.
func swapping(t *testing.T, r *rand.Rand, dirs []string, pairs ...[2]string) (stop func() int) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	looks := os.NewFile(uintptr(fd), "inotify")
	for _, dir := range dirs {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan int)
	go func() {
		n := 0
		for buf := make([]byte, 4096); err == nil; _, err = looks.Read(buf) {
			for _, p := range pairs {
				for range r.IntN(2000) {
					_ = unix.Getppid() // for as long as a few of another process's calls take
				}
				if err := unix.Renameat2(unix.AT_FDCWD, p[0], unix.AT_FDCWD, p[1], unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
				}
				n++
			}
		}
		done <- n
	}()
	return func() int {
		_ = looks.Close()
		return <-done
	}
}
