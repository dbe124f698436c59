package start

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start/seccomp"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/ir"
)

// confinement is what the kernel holds the tool to: a ruleset and a filter.
type confinement struct {
	*run
	// building is the ruleset until the tool has it.
	building *building
	ruleset  int
	// ahead has a ruleset that was made before the start, nil where none can be.
	ahead *ahead
	// grants are the rules of the ruleset, for a supervisor.
	grants *grants
	// own are the rights that the tool gets on its own directory of /proc where this process
	// stays: the child, whose directory is not there yet, grants them to itself.
	own    uint64
	filter []unix.SockFilter
	// canary is a path that the ruleset must refuse to open; empty for none.
	canary string
}

// empty makes the kernel's ruleset of the specification, at the rights that this ABI version handles, and lists
// the paths that are there before the run.
func (c *confinement) empty() (*building, error) {
	handled := landlock.Handled(c.spec.Levels, c.abi)
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{
		HandledAccessFS: handled.FS, HandledAccessNet: handled.Net, Scoped: handled.Scoped,
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	b := &building{ruleset: ruleset{fd: fd, handled: handled.FS, net: handled.Net}}
	if c.supervised {
		b.grants = &grants{by: make(supervisor.Grants, 256), of: c.external()}
	}
	b.paths = make([]landlock.Path, 0, len(c.paths()))
	for _, p := range c.paths() {
		switch {
		case p.Path == ownProcess && c.supervised:
			// The supervisor shows the tool its processes in /proc.
		case p.Path == ownProcess && c.stays():
			// The process that becomes the tool is not there yet, and grants it to itself.
			b.own = landlock.FSMask(p.Access) & handled.FS
		case p.Path == ownProcess:
			p.Path = "/proc/" + strconv.Itoa(os.Getpid())
			b.paths = append(b.paths, p)
		case !ofRun(p):
			b.paths = append(b.paths, p)
		}
	}
	return b, nil
}

// begin makes the ruleset of the run, or takes one that was made ahead, and begins to fill it.
func (c *confinement) begin() error {
	turn := c.site.turn()
	b := c.ahead.take(turn)
	if b == nil {
		var err error
		if b, err = c.empty(); err != nil {
			return err
		}
	}
	c.own = b.own
	for _, p := range c.paths() {
		if p.Path == terminalPath {
			b.paths = append(b.paths, terminalPaths(p)...)
		}
	}
	if c.site.Lasts {
		var err error
		b.keeps = c.keeps()
		if b.paths, err = c.site.places.fill(b, b.paths, turn, false); err != nil {
			_ = unix.Close(b.fd)
			return err
		}
	}
	b.aside, b.filled = make(chan error, 1), make(chan struct{})
	if len(b.paths) > alone {
		go func() { b.aside <- b.fill() }()
	} else {
		b.aside <- nil
	}
	c.building = b
	return nil
}

// keeps returns the function that takes over the descriptor of a place that was granted, if the place is kept. The
// workspace, the home and the targets of external rules are not: they may go and come back.
func (c *confinement) keeps() func(path string, fd int) bool {
	own := []string{c.spec.Workspace, c.spec.Home}
	if c.supervised {
		own = append(own, c.external()...)
	}
	return func(path string, fd int) bool {
		return !slices.ContainsFunc(own, func(dir string) bool {
			return dir != "" && strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
		}) && c.site.places.keep(path, fd)
	}
}

// complete makes the filter, and adds the remaining paths, also those that the run has made for itself.
func (c *confinement) complete() (err error) {
	if c.filter == nil {
		if c.filter, err = seccomp.Assemble(c.rules(), c.abi); err != nil {
			return err
		}
		c.canary = c.findCanary()
	}
	b := c.building
	mine := b.fill()
	err = errors.Join(mine, <-b.aside)
	close(b.filled)
	if c.ruleset = b.fd; b.grants != nil {
		c.grants = b.grants
	}
	if err != nil {
		return err
	}
	b.keeps = nil // nothing that follows is there for the next run
	for _, p := range c.paths() {
		if !ofRun(p) {
			continue
		}
		if err := b.path(c.bind(p)); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	if c.context != "" {
		if err := b.path(landlock.Path{Path: c.context, Access: []landlock.Right{landlock.ReadFile}}); err != nil {
			return fmt.Errorf("the Context: %w", err)
		}
	}
	for _, p := range c.spec.Programs {
		if err := b.program(p.File); err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
	}
	if c.opens(ir.GapNetHost) {
		for _, p := range c.spec.Ports {
			if err := b.port(p); err != nil {
				return fmt.Errorf("port %d: %w", p.Port, err)
			}
		}
	}
	return nil
}

// bind replaces the symbol of the run's own directory.
func (c *confinement) bind(p landlock.Path) landlock.Path {
	p.Path = c.tmp + strings.TrimPrefix(p.Path, runSymbol)
	return p
}

// child is the process that becomes the tool. Before it does, this process must have lost every
// privilege and descriptor that the tool must not have.
func (c *confinement) child(p *program, l *limits) (supervisor.Child, error) {
	most, err := l.ofChild()
	return supervisor.Child{
		Ruleset: c.ruleset, Own: c.own, Filter: c.filter, Join: l.joined(), Unsupervised: !c.supervised,
		Canary: c.canary, File: p.file, Argv: p.argv, Env: p.env, Files: c.files, Limits: most,
	}, err
}

// drop closes the ruleset, which the tool has by now.
func (c *confinement) drop() {
	if c.building != nil {
		_ = unix.Close(c.building.fd)
		c.building = nil
	}
}

// abandon ends the filling of a ruleset that is not needed, and closes the places that a supervisor does not get.
func (c *confinement) abandon() {
	opened := c.grants
	if c.building != nil {
		if c.building.stop(); opened == nil {
			opened = c.building.grants
		}
	}
	if opened != nil {
		for _, p := range opened.placements {
			_ = unix.Close(p.FD)
		}
	}
}

// lay makes a ruleset for the next start of the plan. Where that fails, the start makes its own.
func (c *confinement) lay() {
	if c.ahead == nil || !c.ahead.wants() {
		return
	}
	turn := c.site.turn()
	if turn == 0 {
		return
	}
	b, err := c.empty()
	if err != nil {
		return
	}
	b.turn = turn
	if b.paths, err = c.site.places.fill(b, b.paths, turn, true); err != nil {
		_ = unix.Close(b.fd)
		return
	}
	c.ahead.put(b)
}
