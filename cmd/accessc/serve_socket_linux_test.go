package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/review/serving"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// atSocket is accessc serve --socket.
type atSocket struct {
	path, token string
	cmd         *exec.Cmd
}

func listenAt(t *testing.T, ws *site, path string) (*atSocket, error) {
	t.Helper()
	cmd := ws.command(t, "serve", "-C", ws.dir, "--socket", path)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, fmt.Errorf("%s", said.String())
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var r serving.Ready
	if err := json.Unmarshal(line, &r); err != nil || r.PID != cmd.Process.Pid || len(r.Token) < 26 {
		t.Fatalf("%s: %v", line, err)
	}
	return &atSocket{r.Socket, r.Token, cmd}, nil
}

// dial connects, and says hello with a token. It returns the answer, empty where there was none.
func dial(t *testing.T, path, token string) (net.Conn, string) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err.Error()
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(await.Deadline(t))
	fmt.Fprintf(c, `{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n", token)
	line, _ := bufio.NewReader(c).ReadString('\n')
	return c, line
}

// private is a directory of this user's alone, outside of any workspace.
func private(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "accessc-serve-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestServeSocket: a socket has mode 0600 and serves those who know the token; where another could replace it, or
// something else is, it is not made; one that a killed server left is replaced, one in use is not.
func TestServeSocket(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	path := filepath.Join(dir, "s")
	at, err := listenAt(t, ws, path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if _, got := dial(t, path, at.token); !strings.Contains(got, `"version":1`) {
		t.Errorf("got %s", got)
	}
	for _, token := range []string{"", "x", at.token + "x", at.token[:25], strings.ToLower(at.token)} {
		c, got := dial(t, path, token)
		if !strings.Contains(got, `"reason":"token"`) {
			t.Errorf("token %q: got %s", token, got)
		}
		if n, err := c.Read(make([]byte, 1)); err == nil || n > 0 {
			t.Error("the connection is still open")
		}
	}
	if _, err := listenAt(t, ws, path); err == nil || !strings.Contains(err.Error(), "another accessc serve has") {
		t.Errorf("a second server: %v", err)
	}
	_ = at.cmd.Process.Kill()
	_ = at.cmd.Wait()
	if at, err = listenAt(t, ws, path); err != nil {
		t.Fatalf("a socket that was left: %v", err)
	}
	_ = at.cmd.Process.Signal(syscall.SIGTERM)
	if err := at.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}

	for name, c := range map[string]struct {
		make func(dir string) string
		want string
	}{
		"a symlink":     {func(dir string) string { os.Symlink("/nowhere", dir+"/s"); return dir + "/s" }, "no socket"},
		"a file":        {func(dir string) string { os.WriteFile(dir+"/s", nil, 0o600); return dir + "/s" }, "no socket"},
		"in use":        {func(dir string) string { listens(t, dir+"/s"); return dir + "/s" }, "a program listens at"},
		"others write":  {func(dir string) string { os.Chmod(dir, 0o777); return dir + "/s" }, "others can write there"},
		"around others": {func(dir string) string { os.Chmod(dir, 0o777); os.Mkdir(dir+"/d", 0o700); return dir + "/d/s" }, "others can write there"},
		"long":          {func(dir string) string { return dir + "/" + strings.Repeat("s", 100) }, "at most 103 bytes"},
		"no directory":  {func(dir string) string { return dir + "/d/s" }, "no such file"},
		"workspace":     {func(dir string) string { return ws.dir + "/s" }, "lies in the workspace"},
		"other workspace": {func(dir string) string {
			os.WriteFile(dir+"/accessc.toml", nil, 0o600)
			return dir + "/s"
		}, "lies in the workspace"},
		"state": {func(dir string) string {
			os.MkdirAll(ws.state+"/accessc", 0o700)
			return ws.state + "/accessc/s"
		}, "accessc's state"},
		"foreign": {func(dir string) string { os.Chown(dir, 65534, 65534); return dir + "/s" }, "another user"},
	} {
		if name == "foreign" && os.Geteuid() != 0 {
			continue
		}
		if _, err := listenAt(t, ws, c.make(private(t))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	out, err := os.Create(filepath.Join(private(t), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := ws.command(t, "serve", "-C", ws.dir, "--socket", path)
	cmd.Stdout = out
	if err := cmd.Run(); err == nil {
		t.Error("the token was written to a file")
	}
}

// TestServeStrangers: processes of other users are not heard whatever the mode of the socket is, and clients that say
// nothing keep no others out for long.
func TestServeStrangers(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range 16 {
		c, err := net.Dial("unix", at.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	await.Until(t, "the 17th stranger is not heard", func() bool { _, got := dial(t, at.path, at.token); return got == "" })
	silent[0].Close()
	await.Until(t, "there is room for a client", func() bool { _, got := dial(t, at.path, at.token); return strings.Contains(got, `"version":1`) })
	if os.Geteuid() != 0 {
		t.Skip("another user needs root")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at.path, 0o666); err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("probe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "probe")
	if data, err := os.ReadFile(tool); err != nil || testbuild.WriteFile(copied, data, 0o755) != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "hello="+at.path+"="+at.token)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "hello closed") {
		t.Errorf("another user: got %s, %v", out, err)
	}
}

// TestServeReads: a client that goes with an answer unread, or stays until the server is told to end, costs the others
// nothing, and the server leaves nothing behind.
func TestServeReads(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	known, _ := dial(t, at.path, at.token)
	for range 20 {
		c, got := dial(t, at.path, at.token)
		if got == "" {
			t.Fatal("the server serves no more")
		}
		leaveUnread(t, c.(*net.UnixConn))
	}
	fmt.Fprintln(known, `{"id":2,"method":"start","params":{"tool":"watched","command":["sleep","60"]}}`)
	if got, err := bufio.NewReader(known).ReadString('\n'); !strings.Contains(got, `"run":1`) {
		t.Fatalf("got %s, %v", got, err)
	}
	half, _ := dial(t, at.path, at.token)
	fmt.Fprint(half, `{"id":3,"meth`)
	_ = at.cmd.Process.Signal(syscall.SIGTERM)
	if err := at.cmd.Wait(); err != nil {
		t.Error(err)
	}
	leavesNothing(t, dir)
	leavesNothing(t, ws.tmp)

	for name, end := range map[string]func(s *servedHere){
		"unread": func(s *servedHere) { leaveUnread(t, s.conn) },
		"told":   func(s *servedHere) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"told within a line": func(s *servedHere) {
			s.send(`{"id":3,"meth`)
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		},
	} {
		s := serveHere(t)
		s.begin(`{"tool":"watched","command":["sleep","60"]}`)
		end(s)
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		leavesNothing(t, s.tmp)
	}
}

// TestServeDescriptors: descriptors that come without the end of a line are closed with their connection as soon as they
// are more than a line may have, which is none before hello; others go on.
func TestServeDescriptors(t *testing.T) {
	t.Parallel()
	ws, dir := serveWorkspace(t), private(t)
	at, err := listenAt(t, ws, filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		known bool
		sends []int
		ends  bool
	}{
		"of a stranger":   {false, []int{1}, true},
		"at once":         {true, []int{4}, true},
		"one by one":      {true, []int{1, 1, 1, 1}, true},
		"two by two":      {true, []int{0, 2, 0, 2}, true},
		"as many as may":  {true, []int{1, 0, 2}, false},
		"a byte, and all": {true, []int{0, 3}, false},
	} {
		conn, err := net.Dial("unix", at.path)
		if err != nil {
			t.Fatal(err)
		}
		if c.known {
			conn, _ = dial(t, at.path, at.token)
		}
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.sends {
			var rights []byte
			if n > 0 {
				rights = unix.UnixRights(slices.Repeat([]int{int(write.Fd())}, n)...)
			}
			if _, _, err := conn.(*net.UnixConn).WriteMsgUnix([]byte("x"), rights, nil); err != nil {
				break // the server has closed it already
			}
		}
		write.Close()
		if c.ends {
			_ = read.SetReadDeadline(await.Deadline(t))
			if _, err := read.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("%s: reading the pipe: %v", name, err)
			}
		} else {
			await.Until(t, name+": the server has read", func() bool { return unsent(t, conn) == 0 })
			_ = read.SetReadDeadline(time.Unix(0, 0)) // what is there already
			if _, err := read.Read(make([]byte, 1)); err == io.EOF {
				t.Errorf("%s: the descriptors are closed", name)
			}
			fmt.Fprintln(conn)
			if got, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(got, `"reason":"line"`) {
				t.Errorf("%s: got %s, %v", name, got, err)
			}
		}
		conn.Close()
		read.Close()
	}
	// A client may send start before it has read the answer to hello.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", at.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lines := fmt.Sprintf(`{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n"+
		`{"id":2,"method":"start","params":{"tool":"alone","stdout":"descriptor"}}`+"\n", at.token)
	if _, _, err := c.(*net.UnixConn).WriteMsgUnix([]byte(lines), unix.UnixRights(int(write.Fd())), nil); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if out, err := io.ReadAll(read); err != nil || string(out) != "noted\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// leaveUnread closes a connection while an answer lies in it, so that the server's next read fails.
func leaveUnread(t *testing.T, c *net.UnixConn) {
	t.Helper()
	fmt.Fprintln(c, `{"id":9,"method":"can","params":{}}`)
	await.Until(t, "the server has answered", func() bool { return amount(t, c, unix.TIOCINQ) > 0 })
	c.Close()
}

// unsent is how much the other side of a connection has not read.
func unsent(t *testing.T, c net.Conn) int {
	t.Helper()
	return amount(t, c.(*net.UnixConn), unix.TIOCOUTQ)
}

// amount is what an ioctl tells of a connection.
func amount(t *testing.T, c *net.UnixConn, request uint) (n int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), request) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left in %s, %v", left, dir, err)
	}
}

// stranger says hello to a server: PATH=TOKEN.
func stranger(arg string) error {
	path, token, _ := strings.Cut(arg, "=")
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, `{"id":1,"method":"hello","params":{"versions":[1],"token":%q}}`+"\n", token)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return fmt.Errorf("closed")
	}
	return fmt.Errorf("answer %s", strings.TrimSpace(line))
}

// listens has this program listen at a socket file until the test ends: a listener that nothing refers to is closed,
// and its file removed, when garbage is collected.
func listens(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}
