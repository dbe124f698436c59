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
	for user, uid := range players(false) {
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

// TestStandardDescriptors: what a tool got as a standard descriptor it opens again with no more rights, whatever it puts in that
// place: a descriptor without a right, or another one for a moment. A descriptor that came without a right is none.
func TestStandardDescriptors(t *testing.T) {
	const withoutRight = 0o10000000 // O_PATH
	s := scene{tool: "standard"}
	bin := build(t, []scene{s})
	for user, uid := range players(false) {
		t.Run(user, func(t *testing.T) {
			p := newPlace(t, s, bin, uid)
			p.write(p.outside+"/input", "fine")
			open := func(name string, flags int) *os.File {
				f, err := os.OpenFile(p.outside+"/"+name, flags, 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			}
			start := func(args []string, in, log *os.File) string {
				cmd, out := p.command(t.Context(), append([]string{"exec", "-C", p.ws, "--no-prompt", "t"}, args...)...), strings.Builder{}
				cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, log
				if err := cmd.Run(); err != nil {
					t.Errorf("%v: %s", err, out.String())
				}
				return out.String()
			}
			out := start(nil, open("input", os.O_RDONLY), open("private", os.O_WRONLY|os.O_APPEND))
			for _, want := range []string{"GOOD flips", "GOOD writes", "GOOD reads"} {
				if !strings.Contains(out, want) {
					t.Errorf("without %q: %s", want, out)
				}
			}
			if strings.Contains(out, "LEAK") || strings.Contains(out, secret) {
				t.Error(out)
			}
			p.write("bin/tool", "#!/bin/sh\ncat /proc/self/fd/0 && echo LEAK; true\n")
			if out := start(nil, open("private", withoutRight), open("input", os.O_WRONLY)); out != "" {
				t.Errorf("a descriptor without a right: %s", out)
			}
		})
	}
}
