package ir

// RuleID names a rule of a tool, or one of the things that a ledger speaks of beside
// rules. It is stable only for the same policy: the number is the rule's place in its list.
type RuleID string

// The identifiers that stand for no rule of a policy.
const (
	// DefaultRule is everything that no rule is about.
	DefaultRule RuleID = "default"
	// BaseRule is the base as a whole.
	BaseRule RuleID = "base"
	// ClosedRule is the places below grants that are no tool's.
	ClosedRule RuleID = "closed"
	// OwnProgram is the program that the tool starts as.
	OwnProgram RuleID = "program"
)

// ListRuleID is the i-th rule of a resource whose rules are a list.
func ListRuleID(r Resource, i int) RuleID { return RuleID(r.String() + "[" + itoa(i) + "]") }

// FSRuleID is the i-th file rule.
func FSRuleID(i int) RuleID { return ListRuleID(FS, i) }

// MayRuleID is the i-th rule on files that can be granted while the tool runs.
func MayRuleID(i int) RuleID { return RuleID("may[" + itoa(i) + "]") }

// MayNetRuleID is the i-th rule on hosts that can be granted while the tool runs.
func MayNetRuleID(i int) RuleID { return RuleID("may.net[" + itoa(i) + "]") }

// NetRuleID is the i-th network rule.
func NetRuleID(i int) RuleID { return ListRuleID(Net, i) }

// EnvRuleID is the i-th environment rule.
func EnvRuleID(i int) RuleID { return ListRuleID(Env, i) }

// ProgramRuleID is the rule on a listed program.
func ProgramRuleID(program string) RuleID { return RuleID("commands." + program) }

// ID is the identifier of a listed program, OwnProgram of the tool's own.
func (r *CommandRule) ID() RuleID {
	if r.Origin.Layer == LayerImplied {
		return OwnProgram
	}
	return ProgramRuleID(r.Program)
}

// ID is the identifier of a limit.
func (l Limit) ID() RuleID { return RuleID(l.Kind.String()) }

// Stated is the identifier under which a ledger states the rule: the entries of the base are
// stated as one rule.
func (id RuleID) Stated() RuleID {
	if len(id) > len(BaseRule) && id[:len(BaseRule)+1] == BaseRule+"[" {
		return BaseRule
	}
	return id
}
