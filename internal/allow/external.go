package allow

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/approvals"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/shellword"
	"github.com/accessc/accessc/ir"
)

// external names a place outside of the workspace as a rule of the layer does by itself: from "~"
// in the user's home, and absolutely in the user's own layer.
// See RATIONALE D205.
func (p *Planner) external(at ir.Location) (ir.Location, bool) {
	abs, ok := p.beyond(at)
	if !ok {
		return ir.Location{}, false
	}
	name := ""
	if home := p.home(); home != "" && strings.HasPrefix(abs, strings.TrimSuffix(home, "/")+"/") {
		name = "~" + strings.TrimPrefix(abs, strings.TrimSuffix(home, "/"))
	} else if p.req.Layer == ir.LayerUser {
		name = abs
	}
	return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, name != ""
}

// home is the canonical path of the user's home, empty where it is not known.
func (p *Planner) home() string {
	if p.Now.Resolver.Home == "" {
		return ""
	}
	found, err := p.Now.Resolver.Disk.Follow(p.Now.Resolver.Home)
	if err != nil {
		return ""
	}
	return found.Abs
}

// beyond is the absolute path of a place outside of the workspace to which no symlink of it leads.
func (p *Planner) beyond(at ir.Location) (string, bool) {
	if at.Root.Kind != ir.System && !at.Root.Direct() {
		return "", false
	}
	return p.asker.Bindings.Path(at)
}

// place is the one place that a rule for the operation is on; false where there is no single one.
func (a Ask) place() (ir.Location, bool) {
	if a.At != nil {
		return *a.At, true
	}
	switch op := a.Operation.(type) {
	case ir.Access:
		return op.On.At, op.On.Fault == 0
	case ir.Start:
		return op.On.At, op.On.Fault == 0
	case ir.Run:
		if op.File != nil {
			return op.File.At, op.File.Fault == 0
		}
	case ir.Connect, ir.Copy, ir.Dial, ir.Exchange, ir.Forward, ir.Link, ir.Listen, ir.Rename:
		// They are about two places, or about none that a rule names alone.
	}
	return ir.Location{}, false
}

// caps are the capabilities that the operation needs on its one place.
func (a Ask) caps() ir.CapSet {
	if op, ok := a.Operation.(ir.Access); ok {
		return a.Needs.With(op.Cap)
	}
	return a.Needs | ir.Caps(ir.Read, ir.Execute)
}

// outer finds the rule for an operation on a place outside of the workspace that a rule names by
// itself. It is not done where the operation is on no such place.
func (d *draft) outer(a Ask, v *ir.View) (done bool, err error) {
	at, ok := a.place()
	if !ok {
		return false, nil
	}
	named, ok := d.p.external(at)
	if !ok {
		return false, nil
	}
	abs, _ := d.p.beyond(at)
	caps := a.caps()
	if why := d.p.outside(abs, directory(abs), caps); why != "" {
		return true, refuse("%s", why)
	}
	switch name := named.Short(); {
	case special(abs):
		return true, refuse("%s is a socket, a device or a FIFO, behind which something outside of the sandbox may act", name)
	case !exists(abs):
		return true, refuse("%s is not there, and a rule outside of the workspace is about what is: make it first", name)
	}
	if err := resolve.CheckText(named.Short()); err != nil {
		return true, err
	}
	for _, c := range ir.Capabilities {
		if v.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed() {
			caps = caps.With(c)
		}
	}
	r := ir.FSRule{At: named, External: true, Caps: caps}
	d.fs = merged(d.fs, r)
	d.planned[named.Root.Name] = abs
	return true, nil
}

// unapproved are the rules on places outside that the user has not approved yet.
func (d *draft) unapproved() []string {
	var store approvals.Store
	if file, err := d.p.Now.Approvals(); err == nil {
		store, _ = approvals.Load(file)
	}
	var out []string
	for _, r := range d.fs {
		if name := r.At.Root.Name; r.External {
			if status, _ := store.Lookup(name, d.planned[name]); status != approvals.Approved {
				out = append(out, name)
			}
		}
	}
	return out
}

// again are the operations as another compilation of the configuration sees their places.
func (p *Planner) again(asks []Ask, then *hostfacts.Result, t *ir.Tool) ([]Ask, *ir.Bindings, error) {
	facts := then.Facts(t)
	asker := p.asker
	asker.Resolver, asker.Bindings, asker.Program, asker.Lookup = then.Resolver, facts.Bindings, facts.Program, then.Lookup(t)
	out := slices.Clone(asks)
	for i, a := range asks {
		op, err := asker.Operation(a.question)
		if err != nil {
			return nil, nil, err
		}
		out[i].Operation = op
	}
	return out, facts.Bindings, nil
}

// tilde quotes the name of a rule for a shell, which is not to make another one of "~".
func tilde(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && rest != "" {
		return "~/" + shellword.Quote(rest)
	}
	return shellword.Quote(name)
}

// startups are places of a home whose contents programs outside of a sandbox start or obey.
var startups = []string{
	".profile", ".login", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".config/fish", ".config/autostart", ".config/systemd",
	".config/environment.d", ".config/git", ".gitconfig", ".config/nvim", ".vimrc", ".vim", ".emacs", ".emacs.d", ".config/emacs", ".tmux.conf",
	".inputrc", ".npmrc", ".pypirc", ".netrc", ".local/bin", ".local/share/systemd", "bin", ".cargo/config.toml", ".cargo/config", "Library/LaunchAgents",
}

// startsPrograms reports whether a place outside of the workspace is one that programs are started from or
// by, such as a directory of PATH or the settings of a shell, or lies in one or around one.
func (p *Planner) startsPrograms(abs, home string) bool {
	meets := func(place string) bool { return below(abs, place) || below(place, abs) }
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && meets(path.Clean(filepath.ToSlash(dir))) {
			return true
		}
	}
	if home == "" {
		return false
	}
	for _, g := range p.View.Protected() {
		if meets(path.Join(home, g.Path)) {
			return true
		}
	}
	return slices.ContainsFunc(startups, func(s string) bool { return meets(path.Join(home, s)) })
}
