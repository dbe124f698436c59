//go:build linux

package attacks_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
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

// renumbered opens the terminal that gets the name of a closed one; nil where another process has taken it. The kernel gives
// the number free a moment after the close.
func renumbered(t *testing.T, uid int, name string) (master, slave *os.File) {
	const tries = 100
	n := 0
	await.Until(t, "a terminal has the number of the first", func() bool {
		n++
		m, other := terminal(t, uid)
		if other.Name() == name {
			master, slave = m, other
			return true
		}
		m.Close()
		other.Close()
		return n == tries
	})
	return master, slave
}

// TestTerminalReplaced: a tool outlives the terminal that it was started in. The next one of the user, which gets the
// number of the first, is not the tool's.
func TestTerminalReplaced(t *testing.T) {
	s := scene{tool: "terminal"}
	bin := build(t, []scene{s})
	for user, uid := range players(false) {
		t.Run(user, func(t *testing.T) {
			p := newPlace(t, s, bin, uid)
			p.fifo("src/go")
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
			m, other := renumbered(t, uid, name)
			if m != nil {
				defer m.Close()
				defer other.Close()
				for range 20 {
					if _, err := m.WriteString(secret + "\n"); err != nil {
						t.Fatal(err)
					}
				}
			}
			ended := make(chan struct{})
			defer close(ended)
			go p.tell("src/go", ended)
			for lines.Scan() {
				said += lines.Text() + "\n"
			}
			if err := cmd.Wait(); err != nil || !strings.Contains(said, "GOOD opens its own") || !strings.Contains(said, "GOOD tries") {
				t.Errorf("%v: %s", err, said)
			}
			if strings.Contains(said, "LEAK") {
				t.Error(said)
			}
			if m == nil {
				t.Skip("another process has the number")
			}
		})
	}
}
