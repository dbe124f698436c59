package start

import (
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ContextVariable names the file that holds the tool's Context.
const ContextVariable = ir.ContextVariable

// envView is the environment part of a policy, as the artifact for a system carries it, about the
// variables of the user: without the rules that give a variable a value.
func envView(l *backends.Launch, system ir.Platform) *ir.View {
	var rules []ir.EnvRule
	for _, v := range l.Environment {
		if v.Value == "" {
			rules = append(rules, ir.EnvRule{Name: v.Name, Prefix: v.Prefix, Read: v.Read})
		}
	}
	home := ir.HomePrivate
	if l.Home == "" {
		home = ir.HomeReal
	}
	return ir.NewEnvView(rules, home, system)
}

// give calls set for the variables that rules give a value, where no other rule withholds or
// forwards them. Of two values the first one counts. A value about the home of the tool's own needs
// there to be one.
func give(l *backends.Launch, view *ir.View, has func(name string) bool, set func(name, value string)) {
	for _, v := range l.Environment {
		user := view.Decide(ir.Forward{Name: v.Name})
		withheld := !user.Allowed() && user.Reason == ir.ReasonRule
		if v.Value == "" || withheld || has(v.Name) || l.Home == "" && strings.Contains(v.Value, ir.OwnHome) {
			continue
		}
		set(v.Name, strings.ReplaceAll(v.Value, ir.OwnHome, l.Home))
	}
}
