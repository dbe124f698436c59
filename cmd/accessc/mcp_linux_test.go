package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/scripts"
)

// proxied is accessc mcp with a server, in a workspace of its own.
func proxied(t *testing.T, access string, words ...string) *exec.Cmd {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "[servers.s]\n" + access + "\n"
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(accessc, append([]string{"mcp", "--server", "s", "--"}, words...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	return cmd
}

// TestKilledProxyTakesItsServer: a server does not outlive a proxy that is killed, with a
// supervisor or without.
func TestKilledProxyTakesItsServer(t *testing.T) {
	t.Parallel()
	for name, access := range map[string]string{
		"alone":      `access.fs = [{ path = ".", read = true }]`,
		"supervised": `access.fs = [{ path = ".", read = true, write = true }, { path = "x" }]`,
	} {
		cmd := proxied(t, access, "sh", "-c", "echo $$ >&2; trap '' TERM HUP INT; while :; do sleep 1; done")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stderr).ReadString('\n')
		pid, bad := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || bad != nil {
			t.Fatalf("%s: %q, %v", name, line, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = stdin.Close()
		await.Until(t, name+": the server has ended", func() bool { return !running(pid) })
	}
}

// running reports whether a process is there and has not ended.
func running(pid int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(state, []byte(") Z "))
}

// TestProxyStaysSmall: many messages, and lines that are too long, do not make the proxy grow, and
// the messages between them pass.
func TestProxyStaysSmall(t *testing.T) {
	t.Parallel()
	cmd := proxied(t, "", "cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	calls := irtest.Times(100000)
	go func() {
		w := bufio.NewWriter(stdin)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"long","method":"x","params":"`)
		for range 100 {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		}
		_, _ = io.WriteString(w, "\"}\n")
		for i := range calls {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","arguments":{"path":"x%d"}}}`+"\n", i, i)
		}
		_ = w.Flush()
	}()
	got, refused := 0, 0
	lines := bufio.NewScanner(stdout)
	for got+refused <= calls && lines.Scan() {
		if strings.Contains(lines.Text(), `"id":"long","error"`) {
			refused++
		} else {
			got++
		}
	}
	most := highest(t, cmd.Process.Pid)
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil || got != calls || refused != 1 {
		t.Fatalf("got %d messages of %d and %d refusals, %v", got, calls, refused, err)
	}
	t.Logf("%d messages; the proxy had at most %d MiB", calls, most>>10)
	limit := 200 << 10
	if scripts.Raced {
		limit *= 4 // the detector's own
	}
	if most > limit {
		t.Errorf("the proxy had %d KiB", most)
	}
}

// highest is the most memory that a process has had, in KiB. The usage that wait4 returns would
// count that of the test as well, since it survives execve (getrusage(2), ru_maxrss).
func highest(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatalf("%v: %s", err, status)
	}
	return kib
}
