//go:build unix

package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// askEnv makes this program ask one question and print the answer on its output.
const askEnv = "TERMINAL_TEST_ASK"

// asksLine are further ways to ask, by the value of askEnv.
var asksLine = map[string]func(*Terminal){}

func TestMain(m *testing.M) {
	if os.Getenv(askEnv) == "" {
		os.Exit(m.Run())
	}
	t, err := Open()
	if err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	if line := asksLine[os.Getenv(askEnv)]; line != nil {
		line(t)
		os.Exit(0)
	}
	yes, err := t.Confirm("It is about trust.\n  "+wide+"\n", "Sure?")
	fmt.Println(yes, err)
	os.Exit(0)
}

// asking returns this program as one that asks; its output is not the terminal.
func asking(t *testing.T, how string, out *bytes.Buffer) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), askEnv+"="+how)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// readUntil reads from a terminal until a text has come.
func readUntil(t *testing.T, tty *os.File, want string) string {
	t.Helper()
	_ = tty.SetReadDeadline(await.Deadline(t))
	var seen strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(seen.String(), want) {
		n, err := tty.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q, which lacks %q", err, seen.String(), want)
		}
	}
	return seen.String()
}

// wide is a name that fills a line of a terminal, and widely how a question shows it.
var (
	wide   = strings.Repeat("x", 78) + "accessc: granted"
	widely = strings.Repeat("x", 77) + "\r\n      … xaccessc: granted"
)

func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		name, typed, want string
		raw               bool
	}{
		{"y", "y\n", "true <nil>", false},
		{"yes", " YES \n", "true <nil>", false},
		{"n", "n\n", "false <nil>", false},
		{"nothing", "\n", "false <nil>", false},
		{"yesterday", "yesterday\n", "false <nil>", false},
		{"end of input", "\x04", "false <nil>", false},
		{"raw", "y\r", "true <nil>", true},
		{"raw control-C", "\x03", "false <nil>", true},
		{"long", strings.Repeat("y", 300) + "\r", "false <nil>", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := asking(t, "once", &out)
			ptmx, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer ptmx.Close()
			if c.raw {
				raw(t, tty)
			}
			// The terminal is standard input as well, since it has to be a descriptor of
			// the child to become its controlling one.
			cmd.Stdin = tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = tty.Close()
			if shown := readUntil(t, ptmx, "[y/N] "); !strings.Contains(shown, "It is about trust.\r\n  "+widely+"\r\nSure?") {
				t.Errorf("asked %q", shown)
			}
			if _, err := ptmx.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := strings.TrimSpace(out.String()); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// raw makes the terminal one that a full-screen program left behind.
func raw(t *testing.T, tty *os.File) {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	mode.Lflag &^= unix.ICANON | unix.ISIG | unix.ECHO
	mode.Iflag &^= unix.ICRNL
	if err := unix.IoctlSetTermios(int(tty.Fd()), setTermios, mode); err != nil {
		t.Fatal(err)
	}
}

// TestTypedAhead: input typed before the question answers nothing.
func TestTypedAhead(t *testing.T) {
	var out bytes.Buffer
	cmd := asking(t, "once", &out)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	cmd.Stdin = tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if _, err := ptmx.WriteString("y\ny\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	readUntil(t, ptmx, "[y/N] ")
	if _, err := ptmx.WriteString("n\n"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := strings.TrimSpace(out.String()); got != "false <nil>" {
		t.Error(got)
	}
}

// TestNobody: without a controlling terminal, and in the background of one, there is no
// question and no wait.
func TestNobody(t *testing.T) {
	for name, attr := range map[string]*syscall.SysProcAttr{
		"no terminal": {Setsid: true},
		"background":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := asking(t, "once", &out)
			cmd.SysProcAttr = attr
			if attr == nil {
				// A shell with job control puts jobs started with "&" into the background.
				ptmx, tty, err := pty.Open()
				if err != nil {
					t.Fatal(err)
				}
				defer ptmx.Close()
				defer tty.Close()
				self := cmd.Path
				cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `set -m; "$0" & wait`, self}
				cmd.Stdin = tty
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			}
			done := make(chan error, 1)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { done <- cmd.Wait() }()
			await.Receive(t, "the end without a wait for an answer", done)
			if got := strings.TrimSpace(out.String()); !strings.Contains(got, ErrNone.Error()) {
				t.Error(got)
			}
		})
	}
}

func TestLine(t *testing.T) {
	if _, _, err := line(failing{}); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, syscall.EIO }
