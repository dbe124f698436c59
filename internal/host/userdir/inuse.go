package userdir

import (
	"slices"

	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
)

// HomesOf are the homes of the tools that are named, of all for none.
func (d Dir) HomesOf(tools []string) ([]PrivateHome, error) {
	homes, err := d.Homes()
	if err != nil || len(tools) == 0 {
		return homes, err
	}
	for _, tool := range tools {
		if !slices.ContainsFunc(homes, func(h PrivateHome) bool { return h.Tool == tool }) {
			return nil, usage.Errorf("%s has no private home in this workspace; nothing was changed",
				visible.Text(tool))
		}
	}
	return slices.DeleteFunc(homes, func(h PrivateHome) bool { return !slices.Contains(tools, h.Tool) }), nil
}

// Seize keeps tools from beginning to run with homes. One may have begun since the homes were listed, and
// processes that a tool left behind hold no lock.
// See decision D220.
func Seize(homes []PrivateHome) (release func(), err error) {
	if _, err := Idle(homes); err != nil {
		return nil, err
	}
	if release, err = LockHomes(homes); err != nil {
		return nil, usage.Errorf("%s; nothing was changed", visible.Text(err.Error()))
	}
	if _, err := Idle(homes); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Idle refuses homes of which a process has one as its HOME. known is false where no process shows that.
func Idle(homes []PrivateHome) (known bool, err error) {
	for _, h := range homes {
		var running bool
		if running, known = Running(workspace.Canonical(h.Path)); running {
			return known, usage.Errorf("%s is running with its home; nothing was changed", visible.Text(h.Tool))
		}
	}
	return known, nil
}
