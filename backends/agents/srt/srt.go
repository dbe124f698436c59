// Package srt compiles a policy into settings of the sandbox runtime (srt, the npm package
// @anthropic-ai/sandbox-runtime), as of version 0.0.83.
//
// The invariant is that of package agents. Reading is closed as a whole, and the places of the
// policy are opened again; srt itself would let everything be read. Its own list of files that
// start programs is the stricter one of two. Not enforced by these means: variables that no rule
// names, which programs start and with which arguments, and limits.
package srt

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
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

// Settings is the file that srt --settings takes, with the members that this package writes.
type Settings struct {
	Network     Network      `json:"network"`               // hosts
	Filesystem  agents.Lists `json:"filesystem"`            // files
	Credentials *Credentials `json:"credentials,omitempty"` // variables
}

// Network are the lists for hosts.
type Network struct {
	Allowed []string `json:"allowedDomains"` // NAME:PORT
	Denied  []string `json:"deniedDomains"`  // of those
	// Resolved are addresses to which no granted name may lead.
	Resolved []string `json:"deniedResolvedAddresses,omitempty"`
	// Strict refuses other hosts without a question.
	Strict bool `json:"strictAllowlist"`
}

// Credentials has the variables that are withheld.
type Credentials struct {
	EnvVars []EnvVar `json:"envVars"` // by name
}

// EnvVar is a variable by its name.
type EnvVar struct {
	Name string `json:"name"` // the whole name
	Mode string `json:"mode"` // always "deny"
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := agents.NewPlan(t, target, agents.ListDialect())
	hosts := agents.NewHosts(t.Net)
	s := Settings{
		Network:    Network{Allowed: hosts.Allowed, Denied: hosts.Denied, Strict: true},
		Filesystem: plan.Lists(), Credentials: withheld(t),
	}
	if len(hosts.Allowed) > 0 {
		s.Network.Resolved = agents.Internal
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
