//go:build unix

package mount

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
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
		err := errors.Join(w.mount(context.Background(), "a=../out/fork", "free:deep/b=../out/other:rw"), w.unmount(context.Background()))
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
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
	seen := map[string]bool{}
	round := func() {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), victimEnv+"="+w.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("ended by itself: %v", err)
		}
		text, err := os.ReadFile(filepath.Join(w.ws, ".accessc", "local.toml"))
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
	}
	irtest.Check(t, 500, 1, func(*rapid.T) { round() })
	for end := time.Now().Add(20 * time.Second); len(seen) < 2 && time.Now().Before(end); {
		round()
	}
	if len(seen) < 2 {
		t.Error("it was never killed between two changes")
	}
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
