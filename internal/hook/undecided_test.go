package hook

import (
	"testing"

	"github.com/accessc/accessc/internal/judge/action"
)

// TestConfines: a command that is left to a person runs without one only if it is this program's own, under the
// policy of a tool, and no rule may deny it.
func TestConfines(t *testing.T) {
	for _, u := range []Undecided{"", UndecidedConfined, UndecidedAsk, UndecidedDeny} {
		for i := range 8 {
			wrapped, only, doubt := i&1 != 0, i&2 != 0, i&4 != 0
			p := &Policy{Judge: &action.Judge{OnlyRefuses: only}, Undecided: u}
			want := u == UndecidedConfined && wrapped && !only && !doubt
			if got := p.confines(action.Verdict{Outcome: action.Unknown, Doubt: doubt}, wrapped); got != want {
				t.Errorf("%q, wrapped %v, no tool %v, doubt %v: got %v", u, wrapped, only, doubt, got)
			}
		}
	}
}
