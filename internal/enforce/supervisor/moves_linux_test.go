package supervisor

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// TestRefusalOfMoves: a move that would escalate, or carry the name of a rule, is refused as one to another file
// system, so that programs copy; any other one as what the tool may not do.
func TestRefusalOfMoves(t *testing.T) {
	for reason, want := range map[ir.Reason]unix.Errno{
		ir.ReasonNoGain: unix.EXDEV, ir.ReasonPinned: unix.EXDEV, ir.ReasonRule: unix.EACCES,
		ir.ReasonDefault: unix.EACCES, ir.ReasonRoot: unix.EACCES,
	} {
		if got := refusal(ir.Verdict{Reason: reason}); got != want {
			t.Errorf("%v: %v, want %v", reason, got, want)
		}
	}
}
