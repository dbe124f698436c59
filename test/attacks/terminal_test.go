//go:build linux

package attacks_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal of a user and returns both ends.
func terminal(t *testing.T, uid int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	name := fmt.Sprint("/dev/pts/", number)
	if err == nil && os.Getuid() != uid {
		err = os.Chown(name, uid, -1)
	}
	if err == nil {
		slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// TestTerminalReplaced: a tool outlives the terminal that it was started in. The next one of the user, which gets the
// number of the first, is not the tool's.
func TestTerminalReplaced(t *testing.T) {
	s := scene{tool: "terminal"}
	bin := build(t, []scene{s})
	for user, uid := range procUsers() {
		t.Run(user, func(t *testing.T) {
			p := newPlace(t, s, bin, uid)
			master, slave := terminal(t, uid)
			name := slave.Name()
			cmd := p.command(t.Context(), "exec", "-C", p.ws, "--no-prompt", "t")
			cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
			cmd.Stdin = slave
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines, said := bufio.NewScanner(out), ""
			for !strings.Contains(said, "lets go") && lines.Scan() {
				said += lines.Text() + "\n"
			}
			master.Close()
			slave.Close()
			// The kernel gives the number free a moment later, and another process may take it.
			again := false
			for end := time.Now().Add(2 * time.Second); !again && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				m, other := terminal(t, uid)
				if again = other.Name() == name; !again {
					m.Close()
					other.Close()
					continue
				}
				defer m.Close()
				defer other.Close()
				for range 20 {
					if _, err := m.WriteString(secret + "\n"); err != nil {
						t.Fatal(err)
					}
				}
			}
			p.write("src/go", "")
			for lines.Scan() {
				said += lines.Text() + "\n"
			}
			if err := cmd.Wait(); err != nil || !strings.Contains(said, "GOOD opens its own") || !strings.Contains(said, "GOOD tries") {
				t.Errorf("%v: %s", err, said)
			}
			if strings.Contains(said, "LEAK") {
				t.Error(said)
			}
			if !again {
				t.Skip("another process has the number")
			}
		})
	}
}
