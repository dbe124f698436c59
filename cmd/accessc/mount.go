package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/mount"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// mountCmd is "accessc mount".
type mountCmd struct {
	Yes    bool     `short:"y" help:"Do not ask before every enabled local tool is granted access."`
	DryRun bool     `help:"Print the planned changes, with the diff of .accessc/local.toml, and change nothing."`
	Mounts []string `arg:"" name:"mount" help:"[TOOL:]NAME=PATH[:ro|:rw|:rx|:rwx]"`
}

// Help implements kong's detailed help.
func (mountCmd) Help() string {
	return `Lets tools reach a directory or file beside the workspace: makes the symlink NAME, remembers the
approval of its target, and grants access to it in .accessc/local.toml. All of it happens or nothing.

  accessc mount fork=~/code/forks/serde           every enabled local tool may read it
  accessc mount fs_edit:fork=~/code/forks/serde   one tool may read it
  accessc mount fs_edit:fork=~/code/forks/serde:rw   one tool may change it
  accessc mount build:kit=~/kits/go:rx            one tool may read it and start its programs
  accessc mount --dry-run a=/p1 b=/p2             print the planned changes

NAME is relative to the current directory, or to the workspace with -C; PATH to the current directory.
A tool that no layer gives a rule for files keeps its workspace by a rule that is written with the mount.
Running the command again changes nothing; naming a tool changes its mode. accessc unmount takes it back.`
}

// unmountCmd is "accessc unmount".
type unmountCmd struct {
	Yes    bool     `short:"y" help:"Do not ask before several mounts are taken back."`
	DryRun bool     `help:"Print the planned changes, with the diff of .accessc/local.toml, and change nothing."`
	Names  []string `arg:"" optional:"" name:"name" help:"The mounts to take back; all if none is named."`
}

// Help implements kong's detailed help.
func (unmountCmd) Help() string {
	return `Removes the symlinks of mounts, their approvals, and the rules that accessc mount wrote, which say
mount = true. Rules that people wrote stay, and so do symlinks that those rules name.
Directories that were made for a mount stay as well.`
}

// Run implements the command.
func (c *mountCmd) Run(g *globals) error {
	var specs []mount.Spec
	for _, m := range c.Mounts {
		s, err := mount.Parse(m)
		if err != nil {
			return usageError{Err: err}
		}
		specs = append(specs, s)
	}
	o := mounting{
		globals: g, yes: c.Yes, dry: c.DryRun,
		plan: func(r mount.Request) (*mount.Plan, error) { return mount.New(r, specs) },
		ask: func(p *mount.Plan) (string, string) {
			if !p.Everyone {
				return "", ""
			}
			return "\nEvery enabled local tool would be granted access:\n\n" + planText(p) + "\n", "Mount?"
		},
	}
	return o.run()
}

// Run implements the command.
func (c *unmountCmd) Run(g *globals) error {
	o := mounting{
		globals: g, yes: c.Yes, dry: c.DryRun,
		plan: func(r mount.Request) (*mount.Plan, error) { return mount.Unmount(r, c.Names) },
		ask: func(p *mount.Plan) (string, string) {
			if len(p.Links) < 2 {
				return "", ""
			}
			return fmt.Sprintf("\n%s would be taken back:\n\n", plural.Count(len(p.Links), "mount")) + planText(p) + "\n", "Unmount?"
		},
	}
	return o.run()
}

// mounting is one run of either command.
type mounting struct {
	*globals
	yes, dry bool
	plan     func(mount.Request) (*mount.Plan, error)
	// ask returns the text to confirm and the question; an empty question asks nothing.
	ask func(*mount.Plan) (text, question string)
	// confirmed is the text that was agreed to.
	confirmed string
}

// patience bounds how often a plan is made anew because another process was faster.
const patience = 20

func (m *mounting) run() error {
	req, err := m.request()
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		err := m.once(req)
		if !errors.Is(err, mount.ErrChanged) || i == patience {
			return err
		}
	}
}

func (m *mounting) request() (mount.Request, error) {
	if m.Shared {
		return mount.Request{}, usagef("--shared leaves out .accessc/local.toml, which is where mounts are kept")
	}
	opts, err := m.options(false, hostfacts.Platform())
	if err != nil {
		return mount.Request{}, err
	}
	req := mount.Request{Compile: opts, Home: opts.Layers.Home}
	if req.Dir, err = os.Getwd(); err == nil && m.Dir != "" {
		req.NameDir, err = filepath.Abs(m.Dir)
	}
	return req, err
}

// once plans, asks and acts.
func (m *mounting) once(req mount.Request) error {
	p, err := m.plan(req)
	var wrong *mount.ConfigError
	if errors.As(err, &wrong) {
		if wrong.After {
			fmt.Fprintln(m.stderr, "the configuration would not compile afterwards:")
		}
		return m.sayText(wrong.Findings, wrong.Files, "nothing was changed")
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if m.dry {
		return m.show(p)
	}
	if err := m.confirm(p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	aside, err := p.Apply(ctx)
	if err != nil {
		return err
	}
	consent.Aside(m.stderr, p.Store, aside)
	return m.report(p)
}

// show prints a plan.
func (m *mounting) show(p *mount.Plan) error {
	if _, err := io.WriteString(m.stdout, planText(p)); err != nil {
		return err
	}
	if err := writeDiff(m.stdout, ".accessc/local.toml", p.Old, p.New); err != nil {
		return err
	}
	return m.sayText(p.Warnings, p.Files, "")
}

// report prints the changes made.
func (m *mounting) report(p *mount.Plan) error {
	if p.Empty() {
		fmt.Fprintln(m.stderr, "nothing to be done")
		return nil
	}
	fmt.Fprint(m.stderr, planText(p))
	return m.sayText(p.Warnings, p.Files, "")
}

// confirm asks once for one text.
func (m *mounting) confirm(p *mount.Plan) error {
	text, question := m.ask(p)
	if m.yes || p.Empty() || question == "" || text == m.confirmed {
		return nil
	}
	if err := m.agreed(text, question); err != nil {
		return err
	}
	m.confirmed = text
	return nil
}

// planText lists links and, below each, the changes of the tools' grants.
func planText(p *mount.Plan) string {
	var b strings.Builder
	width := 0
	for _, g := range p.Grants {
		width = max(width, len(g.Tool))
	}
	for _, l := range p.Links {
		b.WriteString("  " + visible.Text(linkText(l)) + "\n")
		for _, g := range p.Grants {
			if g.Name == l.Name {
				fmt.Fprintf(&b, "    %-*s  %s\n", width, g.Tool, grantText(g, l.Change))
				if l.Change != mount.Removed && g.Guarded > 0 {
					fmt.Fprintf(&b, "    %-*s  %s\n", width, "", keptText(g.Guarded))
				}
			}
		}
	}
	return b.String()
}

// keptText says that a grant leaves out the repository's own files.
func keptText(n int) string {
	return "not written: " + plural.Count(n, "protected path") + " of this repository, such as its hooks and configuration"
}

func linkText(l mount.Link) string {
	s := l.Name
	if l.Target != "" {
		s += " → " + l.Target
	}
	switch l.Change {
	case mount.Made:
		return s
	case mount.Kept:
		if l.Approved {
			return s + "  (is there; approved)"
		}
		return s + "  (stays)"
	case mount.Removed:
		return s + "  (removed)"
	case mount.Gone:
		return s + "  (is no symlink any more)"
	default:
		return s
	}
}

func grantText(g mount.Grant, c mount.Change) string {
	s := g.Caps.String()
	switch {
	case g.Kept:
		s += "  (has it already)"
	case g.Default && c == mount.Made:
		s += "  (keeps the workspace by a rule of its own)"
	}
	return s
}
