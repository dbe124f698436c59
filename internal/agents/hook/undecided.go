package hook

import "github.com/accessc/accessc/internal/gate/judge/action"

// Undecided is the answer to a command that no rule decides. The zero value asks.
type Undecided string

// The answers.
const (
	// UndecidedConfined lets it run under the tool's policy, and asks where it cannot.
	UndecidedConfined Undecided = "confined"
	UndecidedAsk      Undecided = "ask"
	UndecidedDeny     Undecided = "deny"
)

// confines reports whether a command that is left to a person runs without one: under the policy of a tool, by a
// command of this program, and with no rule that denies or asks and may match.
// See decision D145.
func (p *Policy) confines(v action.Verdict, wrapped bool) bool {
	return p.Undecided == UndecidedConfined && wrapped && !p.Judge.OnlyRefuses && !v.Doubt
}
