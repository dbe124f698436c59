package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ContextVariable names the file that holds the tool's Context.
const ContextVariable = ir.ContextVariable

// envView is the environment part of a policy, as the artifact for a system carries it.
func envView(l *backends.Launch, system ir.Platform) *ir.View {
	var rules []ir.EnvRule
	for _, v := range l.Environment {
		rules = append(rules, ir.EnvRule{Name: v.Name, Prefix: v.Prefix, Read: v.Read})
	}
	home := ir.HomePrivate
	if l.Home == "" {
		home = ir.HomeReal
	}
	return ir.NewEnvView(rules, home, system)
}
