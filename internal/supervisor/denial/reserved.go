package denial

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Reserved is why no rule on a place is proposed, empty where one may be: a sensitive or protected
// place is for a rule that a person writes who has seen the file.
// See RATIONALE D176.
func Reserved(v *ir.View, at ir.Location) string {
	if at.Root.Kind == ir.System {
		return outside(v, "/"+at.Path)
	}
	if at.Root.Kind != ir.Workspace {
		return ""
	}
	for _, s := range v.Tool.Sensitive {
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

// WhySocket is why no rule is proposed that permits a connection to a socket.
const WhySocket = "whatever listens at a socket may act for the tool, outside of the sandbox"

// outside is the reason for a place outside of the workspace: one that is sensitive, or that holds a
// sensitive place of the user's home, such as the home itself.
func outside(v *ir.View, abs string) string {
	home, _ := os.UserHomeDir() // without one there is no ~
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	home = filepath.ToSlash(home)
	for _, s := range v.Tool.Sensitive {
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
