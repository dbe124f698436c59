package srt

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "srt" }

// File implements backends.Backend.
func (Backend) File() string { return "srt.json" }

// Platform implements backends.Backend: srt runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := writer.NewPlan(t, target, ListDialect())
	hosts := writer.NewHosts(t.Net)
	s := Settings{
		Network:    Network{Allowed: hosts.Allowed, Denied: hosts.Denied, Strict: true},
		Filesystem: ListsOf(plan), Credentials: withheld(t),
	}
	if len(hosts.Allowed) > 0 {
		s.Network.Resolved = writer.Internal
	}
	data, err := backends.JSON(s)
	return backends.Output{Data: data, Elsewhere: holder(plan, hosts).Ledger()}, err
}

// withheld are the variables that the policy withholds by their names.
func withheld(t *ir.Tool) *Credentials {
	c, view := &Credentials{}, ir.NewEnvView(t.Env, t.Home, ir.Linux)
	for i := range t.Env {
		r := &t.Env[i]
		v := EnvVar{r.Name, "deny"}
		if withholds(r) && !view.Decide(ir.Forward{Name: r.Name}).Allowed() && !slices.Contains(c.EnvVars, v) {
			c.EnvVars = append(c.EnvVars, v)
		}
	}
	if c.EnvVars == nil {
		return nil
	}
	return c
}

// variable is the form of the names that srt takes.
var variable = expression.Once{Text: `^[A-Za-z_][A-Za-z0-9_]*$`}

// withholds reports whether a rule is one that srt can hold.
func withholds(r *ir.EnvRule) bool { return !r.Read && !r.Prefix && variable.Get().MatchString(r.Name) }
