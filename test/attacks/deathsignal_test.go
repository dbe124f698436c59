//go:build linux

package attacks_test

import (
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
)

// TestDeathSignal: the tool that accessc becomes gets the signal that the starter has asked for if its own end comes first,
// whichever thread becomes the tool.
func TestDeathSignal(t *testing.T) {
	s := scene{tool: "deathsignal", toml: "[tools.t.access]\naccept = [\"fs.metadata\"]\n[[tools.t.access.fs]]\npath = \".\"\nread = true\nexecute = true\n"}
	bin := build(t, []scene{s})
	for user, uid := range players(false) {
		t.Run(user, func(t *testing.T) {
			// The kernel sends it when the thread ends that started the process.
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			p := newPlace(t, s, bin, uid)
			const starts = 12 // from main, half of them are on another thread than the first
			for range starts {
				cmd := p.command(t.Context(), "exec", "-C", p.ws, "--no-prompt", "--no-cache", "--no-summary", "t")
				cmd.SysProcAttr.Pdeathsig = syscall.SIGUSR1
				out, err := cmd.CombinedOutput()
				if got := strings.TrimSpace(string(out)); err != nil || got != "10" {
					t.Fatalf("the signal is %s and not 10: %v", got, err)
				}
			}
		})
	}
}
