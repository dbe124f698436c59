//go:build unix

package mount

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// victimEnv makes this program mount and unmount in a directory until it is killed.
const victimEnv = "MOUNT_TEST_VICTIM"

func TestMain(m *testing.M) {
	dir := os.Getenv(victimEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	w := worldIn(dir)
	for {
		fmt.Println("begins")
		err := errors.Join(w.mount(context.Background(), "a=../out/fork", "free:deep/b=../out/other:rw"), w.unmount(context.Background()))
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
	}
}

// turns makes a round of a race out of one that succeeds or is refused: the race is met where an outcome is not the
// one before.
func turns(round func() (ok bool)) func(int) bool {
	last := false
	return func(i int) bool {
		ok := round()
		turned := i > 0 && ok != last
		last = ok
		return turned
	}
}

// TestKilled: at whatever point a run is killed, the local layer is the old one or the new one,
// every tool keeps its workspace and nothing more, a mount's grants lead to the approved
// target, and the next run repairs everything.
func TestKilled(t *testing.T) {
	const mine = "# mine\n[tools.bound]\n"
	w := newWorld(t, map[string]string{"ws/.accessc/local.toml": mine})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen, draws := map[string]bool{}, epoch.Rand(t)
	local := filepath.Join(w.ws, ".accessc", "local.toml")
	mounted := func() bool { text, err := os.ReadFile(local); return err == nil && string(text) != mine }
	// Moments of a mount and the unmount after it, in their order.
	moments := []func() bool{
		func() bool { return true },
		func() bool { _, err := os.Lstat(filepath.Join(w.ws, "a")); return err == nil },
		func() bool { _, err := os.Lstat(filepath.Join(w.ws, ".accessc/.local.toml.tmp")); return err == nil },
		mounted,
		func() bool { return !mounted() },
	}
	round := func() (mounted bool) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), victimEnv+"="+w.dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bufio.NewScanner(out).Scan() {
			t.Fatal("it does not begin")
		}
		await.Until(t, "a moment of a mount", moments[draws.IntN(len(moments))])
		for range draws.IntN(10_000) {
			runtime.Gosched()
		}
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("ended by itself: %v", err)
		}
		text, err := os.ReadFile(local)
		if err != nil {
			t.Fatal(err)
		}
		// There are two whole texts; a third one would be half of a change.
		if seen[string(text)] = true; len(seen) > 2 || !strings.HasPrefix(string(text), mine) {
			t.Fatalf("half of a change:\n%s", text)
		}
		switch p := w.policy(t); p {
		case "bound ${workspace}/src read\nfree ${workspace} read create update delete execute\n",
			"bound ${workspace}/src read\nbound ${external:a} read\nfree ${workspace} read create update delete execute\nfree ${external:a} read\nfree ${external:deep/b} read create update delete\n":
		default:
			t.Fatalf("the policy is now:\n%s", p)
		}
		return string(text) != mine
	}
	irtest.Race(t, irtest.Times(500)/2, 5*irtest.Times(500), turns(round))
	if err := errors.Join(w.mount(context.Background(), "a=../out/fork", "deep/b=../out/other"), w.unmount(context.Background())); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(w.ws, ".accessc", "local.toml")); string(text) != mine {
		t.Errorf("the local layer is\n%s", text)
	}
	for _, gone := range []string{"a", "deep/b", ".accessc/.local.toml.tmp"} {
		if _, err := os.Lstat(filepath.Join(w.ws, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
}
