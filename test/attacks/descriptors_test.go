//go:build linux

package attacks_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestBubblewrapDescriptors: a directory as a standard descriptor leads to the host's mounts, and is refused. A file there is opened anew
// with all rights, which the ledger assumes to be fine; a pipe is not.
func TestBubblewrapDescriptors(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no bubblewrap")
	}
	for user, uid := range procUsers() {
		t.Run(user, func(t *testing.T) {
			s := scene{means: everyMeans[0], toml: granted, tool: "#!/bin/sh\ncat /proc/self/fd/[012]/private 2>/dev/null && echo LEAK\n" +
				"{ echo changed >>/proc/self/fd/0; } 2>/dev/null && echo did || echo refused\n"}
			p := newPlace(t, s, accessc(t), uid)
			p.write(p.outside+"/input", "before\n")
			start := func(n, flags int, name string) string {
				fd, err := syscall.Open(name, flags|syscall.O_CLOEXEC, 0)
				if err != nil {
					t.Fatal(err)
				}
				f := os.NewFile(uintptr(fd), name)
				defer f.Close()
				cmd, out := p.starting(t.Context(), s), strings.Builder{}
				cmd.Stdout, cmd.Stderr = &out, &out
				switch n {
				case 0:
					cmd.Stdin = f
				case 1:
					cmd.Stdout = f
				case 2:
					cmd.Stderr = f
				}
				err = cmd.Run()
				if strings.Contains(out.String(), "LEAK") || strings.Contains(out.String(), secret) {
					t.Errorf("descriptor %d, %s: %s", n, name, out.String())
				}
				if flags != syscall.O_RDONLY && cmd.ProcessState.ExitCode() != 125 {
					t.Errorf("descriptor %d, %s: %v %s", n, name, err, out.String())
				}
				return out.String()
			}
			for n := range 3 {
				for _, flags := range []int{syscall.O_DIRECTORY, syscall.O_DIRECTORY | 0o10000000 /* O_PATH */} {
					start(n, flags, p.outside)
				}
			}
			if out := start(0, syscall.O_RDONLY, p.outside+"/input"); !strings.Contains(out, "did") {
				t.Errorf("the ledger assumes more than it has to: %s", out)
			}
		})
	}
}
