package denial

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// Reserved is why no rule on a place is proposed, empty where a rule may be: a sensitive or
// protected place is for a rule that a person writes who has seen the file.
// See decision D176.
func Reserved(v *ir.View, at ir.Location) string {
	if at.Root.Kind == ir.System {
		return outside(v, "/"+at.Path)
	}
	if at.Root.Kind != ir.Workspace {
		return ""
	}
	for _, s := range patterns(v) {
		if s.Covers(at.Path) {
			return fmt.Sprintf("%s is sensitive (%s)", at.Short(), s.Pattern)
		}
	}
	for _, g := range v.Protected() {
		if g.Covers(at) {
			return fmt.Sprintf("%s is protected: %s", at.Short(), g.Why)
		}
	}
	return ""
}

// patterns are the patterns of sensitive paths: the tool's, or the built-in patterns, since the policy that a
// supervisor judges by has none.
func patterns(v *ir.View) []ir.SensitivePattern {
	if len(v.Tool.Sensitive) > 0 {
		return v.Tool.Sensitive
	}
	return builtin.Get(func() []ir.SensitivePattern { return ir.NewTool("").Sensitive })
}

var builtin once.Value[[]ir.SensitivePattern]

// sensitive reports whether a pattern covers a place of the operation.
func (d *Denial) sensitive() bool {
	if d.View == nil {
		return false
	}
	covered := func(p ir.Place) bool { return Sensitive(d.View, p.At) }
	return slices.ContainsFunc(ir.Describe(d.Operation).Places, covered)
}

// Sensitive reports whether a pattern of sensitive paths covers a place.
func Sensitive(v *ir.View, at ir.Location) bool {
	return strings.Contains(Reserved(v, at), " is sensitive (")
}

// WhySocket is why no rule is proposed that permits a connection to a socket.
const WhySocket = "whatever listens at a socket may act for the tool, outside of the sandbox"

// outside is the reason for a place outside of the workspace that is sensitive, or that holds a
// sensitive place of the user's home, such as the home itself.
func outside(v *ir.View, abs string) string {
	home, _ := os.UserHomeDir() // without a home there is no ~
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	home = filepath.ToSlash(home)
	for _, s := range patterns(v) {
		rest, ofHome := strings.CutPrefix(s.Pattern, "~/")
		place := path.Join(home, strings.TrimSuffix(rest, "/"))
		switch {
		case s.Covers(strings.TrimPrefix(abs, "/")), ofHome && home != "" && ir.Within(abs, place):
			return fmt.Sprintf("%s is sensitive (%s)", abs, s.Pattern)
		case ofHome && home != "" && ir.Within(place, abs):
			return fmt.Sprintf("%s holds what is sensitive (%s)", abs, s.Pattern)
		}
	}
	return ""
}

// Leads is why no rule is proposed that lets a directory be made anew, as a file or a symlink, through which
// protected paths are reached; empty for all other rules.
func Leads(v *ir.View, r ir.FSRule) string {
	if r.At.Root.Kind != ir.Workspace || r.At.Path == "" || !r.Caps.Has(ir.Create) && !r.Caps.Has(ir.Delete) {
		return ""
	}
	for _, g := range v.Protected() {
		if g.At().Under(r.At) {
			return fmt.Sprintf("%s leads to %s, which is protected", r.At.Short(), g.At().Short())
		}
	}
	return ""
}

// reserved is the first reason against the places and the rules of a change.
func (d *Denial) reserved(c change) string {
	if _, ok := d.Operation.(ir.Dial); ok {
		return WhySocket
	}
	for _, p := range ir.Describe(d.Operation).Places {
		if why := Reserved(d.View, p.At); why != "" {
			return why
		}
	}
	for _, r := range c.rules {
		if why := cmp.Or(Reserved(d.View, r.At), Leads(d.View, r)); why != "" {
			return why
		}
	}
	return ""
}
