package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
)

// TestNoTelemetry: accessc reports to nobody and looks for no updates. The commands run in a network of their own, whose
// counters also count what finds no way: connections, datagrams and questions for names.
func TestNoTelemetry(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives one thread a network of its own")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks it: the thread ends, and the network with it
		silent(t)
	}()
	<-done
}

func silent(t *testing.T) {
	if err := alone(); err != nil {
		t.Error("no network of its own: ", err)
		return
	}
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", "NO_COLOR=1",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=nobody",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=nobody@example.com")
	run := func(line string) bool {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = ws, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		return err == nil
	}
	if err := os.MkdirAll(ws, 0o755); err != nil {
		t.Error(err)
		return
	}
	config := "[tools.t]\nsource = \"local\"\ncommand = \"sh -c\"\naccess.fs = [{ path = \".\", read = true, write = true }]\n"
	if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(config), 0o600); err != nil {
		t.Error(err)
		return
	}
	before := packets(t)
	lines := []string{
		"git init -q . && git add . && git commit -q -m one",
		"mkdir ../new && cd ../new && git init -q . && echo 'module x' > go.mod && accessc init && accessc init --agent claude-code --yes || true",
		"accessc version && accessc doctor && accessc man > /dev/null",
		"accessc check", "accessc build", "accessc build --check", "accessc verify access/manifest.json",
		"accessc explain --ledger", "accessc explain --diff HEAD", "accessc explain --html > /dev/null",
		"accessc can t read accessc.toml", "accessc parity t", "accessc approvals", "accessc fleet .", "accessc preset list",
	}
	if start.ABI() > 0 {
		lines = append(lines, "accessc exec --no-prompt t -- 'echo x > file'", "accessc denials t")
	}
	if start.ThisHost().Supervises {
		lines = append(lines, "accessc exec --no-prompt --set 'tools.t.access.may=[{path=\"x\", read=true}]' t -- 'cat file'",
			"accessc run --deny file true", "accessc learn t -- sh -c 'cat file'")
	}
	for _, line := range lines {
		if run(line); !maps.Equal(before, packets(t)) {
			t.Errorf("%s used the network: %v, before %v", line, packets(t), before)
			before = packets(t)
		}
	}
	// What the counters would have seen.
	for _, to := range []string{"127.0.0.1:9", "192.0.2.1:443", "[2001:db8::1]:443", "example.com:443"} {
		if run("probe dial=" + to); maps.Equal(before, packets(t)) {
			t.Errorf("a connection to %s is not counted", to)
		}
		before = packets(t)
	}
}

// alone gives the thread a network with a loopback device, by which a name server on this host would be asked.
func alone() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	up.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up)
}

// sent are the counters of packets and connections that this side begins (RFC 1213, RFC 4293), and of those without a way.
var sent = regexp.MustCompile(`^(Ip6?(OutRequests|OutNoRoutes|InReceives)|TcpActiveOpens|Udp6?OutDatagrams)$`)

// packets are the counters of the thread's network.
func packets(t *testing.T) map[string]string {
	out := map[string]string{}
	v4, err := os.ReadFile("/proc/thread-self/net/snmp")
	if err != nil {
		t.Error(err)
	}
	// A line of names, then one of numbers, each behind its protocol.
	lines := strings.Split(string(v4), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, numbers := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for j := 1; j < len(names); j++ {
			if name := strings.TrimSuffix(names[0], ":") + names[j]; sent.MatchString(name) {
				out[name] = numbers[j]
			}
		}
	}
	v6, err := os.ReadFile("/proc/thread-self/net/snmp6")
	if err != nil && !os.IsNotExist(err) { // a kernel without IPv6
		t.Error(err)
	}
	for line := range strings.Lines(string(v6)) {
		if f := strings.Fields(line); len(f) == 2 && sent.MatchString(f[0]) {
			out[f[0]] = f[1]
		}
	}
	return out
}
