package prompt

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func init() {
	asksLine["line"] = func(t *Terminal) {
		line, err := t.Ask("path \x1b[2J\u202e\n  "+wide+"\ncode: ", nil)
		fmt.Printf("%q %v\n", line, err)
	}
	asksLine["withdrawn"] = func(t *Terminal) {
		done := make(chan struct{})
		go func() {
			_, _ = os.NewFile(3, "withdrawal").Read(make([]byte, 1))
			close(done)
		}()
		line, err := t.Ask("code: ", done)
		fmt.Printf("%q %v\n", line, err)
	}
}

// TestAsk: a line is read from a terminal in any mode, which is put back; the end of the input
// and a withdrawn question are told apart.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		how, typed, want string
		raw              bool
	}{
		{"line", "run 1234\n", `"run 1234" <nil>`, false},
		{"line", "run 1234\r", `"run 1234" <nil>`, true},
		{"line", "\n", `"" <nil>`, false},
		{"line", "\x04", `"" EOF`, false},
		{"withdrawn", "", `"" ` + ErrGone.Error(), false},
	} {
		t.Run(c.how+" "+c.want, func(t *testing.T) {
			var out bytes.Buffer
			cmd := asking(t, c.how, &out)
			ptmx, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer ptmx.Close()
			defer tty.Close()
			if c.raw {
				raw(t, tty)
			}
			mode, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdin = tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			withdrawal, withdraw, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.ExtraFiles = []*os.File{withdrawal}
			err = cmd.Start()
			_ = withdrawal.Close()
			defer withdraw.Close()
			if err != nil {
				t.Fatal(err)
			}
			shown := readUntil(t, ptmx, "code: ")
			if c.how == "line" && !(strings.Contains(shown, `path \u001b[2J\u202e`) && strings.Contains(shown, widely)) {
				t.Errorf("shown %q", shown)
			}
			if c.how == "withdrawn" {
				_ = withdraw.Close()
			} else if _, err := ptmx.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := strings.TrimSpace(out.String()); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if after, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios); err != nil || *after != *mode {
				t.Errorf("the mode was %+v and is %+v (%v)", mode, after, err)
			}
		})
	}
}
