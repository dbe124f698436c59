package learn

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Session is a tool whose runs are learned from.
type Session struct {
	Config config.Flags
	// Tool is empty for a command that no configuration names.
	Tool    string
	Command []string
	Layer   ir.Layer
	// Default is true where runs are under the default policy, to begin with.
	Default bool
	// Kept are the kept runs, once they are loaded.
	Kept []denial.Evidence

	// policy is the tool, nil without one.
	policy *ir.Tool
	store  Store
}

// Open finds the kept runs of the tool in the state of the workspace.
func (l *Session) Open() error {
	root, err := l.Config.Root()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return err
	}
	state, err := userdir.For(root)
	if err != nil {
		return err
	}
	l.store = Store(state.Learned(""))
	if l.Tool != "" {
		// The name of no tool leads elsewhere.
		l.store = Store(state.Learned(filepath.Base("/" + l.Tool)))
	}
	return nil
}

// Find finds the tool in the configuration. One that is not there is made from its runs, which begin
// under the default policy.
func (l *Session) Find(res *hostfacts.Result, runs, forgets bool) error {
	t, err := config.Tool(res.Program, l.Tool)
	if err == nil {
		l.policy = t
		return nil
	}
	kept, kerr := l.store.Runs()
	switch {
	case kerr != nil:
		return kerr
	case l.Default && len(l.Command) > 0, forgets, len(kept) > 0 && !runs:
		return nil
	case len(l.Command) > 0:
		return usage.Errorf("%w; accessc learn --from default %s -- COMMAND makes it", err, l.Tool)
	default:
		return err
	}
}

// Load reads the kept runs.
func (l *Session) Load() (err error) {
	l.Kept, err = l.store.Runs()
	return err
}

// Forget removes the kept runs, of all tools without one, and returns how many there were of the tool.
func (l *Session) Forget() (int, error) {
	if l.Tool == "" {
		return 0, rmtree.Remove(filepath.Dir(string(l.store)))
	}
	return l.store.Forget()
}

// Name is the tool in messages.
func (l *Session) Name() string {
	if l.Tool == "" {
		return "a command that no configuration names"
	}
	return l.Tool
}

// HoldOut proposes from all runs but the last, and asks the policy that results about the last.
func (l *Session) HoldOut() (*Learned, *HeldOut, error) {
	f, err := l.Propose(l.Kept[:len(l.Kept)-1])
	if err != nil {
		return nil, nil, err
	}
	then, err := f.planner.After(f.added()...)
	if err != nil {
		return nil, nil, err
	}
	last := Join(l.Kept[len(l.Kept)-1:])
	out := &HeldOut{Operations: len(last.Operations)}
	for _, o := range last.Operations {
		if !then.Permits(o.Entry) {
			out.Refused = append(out.Refused, o)
		}
	}
	return f, out, nil
}

// MayRepeat reports whether the command failed by itself, and rules that were written permit something that it was
// refused: the run shows nothing of its further operations.
// See decision D187.
func (f *Learned) MayRepeat(status int) bool {
	refused := func(x lesson) bool {
		return x.Plan != nil && slices.ContainsFunc(x.Plan.Added, func(a allow.Added) bool {
			return slices.ContainsFunc(a.Entries, func(i int) bool {
				o := f.joined.Operations[x.index[i]]
				return o.Refused > 0 || o.Sought
			})
		})
	}
	return Failed(status) && slices.ContainsFunc(f.lessons, refused)
}

// attempts bounds how often a plan is made anew because another process was faster.
const attempts = 20

// Apply writes the plans, layer by layer, and tells of each what was written. The paths are those of external rules
// whose targets need an approval.
func (l *Session) Apply(
	ctx context.Context,
	f *Learned,
	wrote func(file string, rules []string),
) (external []string, err error) {
	paths := map[string]string{}
	for i := 0; i < len(f.lessons); i++ {
		plan := f.lessons[i].Plan
		if plan == nil {
			continue
		}
		err := plan.Apply(ctx)
		for try := 1; errors.Is(err, layerfile.ErrChanged) && try < attempts; try++ {
			// Another process was faster: the rules are looked for again.
			if f, err = l.Propose(f.runs); err != nil {
				return nil, err
			}
			if i >= len(f.lessons) || f.lessons[i].Plan == nil {
				break
			}
			plan = f.lessons[i].Plan
			err = plan.Apply(ctx)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(paths, plan.Approve)
		rules := plan.Rules
		if len(rules) == 0 {
			rules = []string{"the tool " + visible.Text(l.Tool) + ", which reads what its runs have read"}
		}
		wrote(plan.Name, rules)
	}
	return slices.Sorted(maps.Keys(paths)), nil
}

// Files are the changed files of the layers.
func (f *Learned) Files() (out []*allow.Plan) { return f.added() }

// WritePage writes the page about what was learned to a file, whole or not at all: over a symlink, not through it.
func (l *Session) WritePage(f *Learned, file string) error {
	root, err := l.Config.Root()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return err
	}
	p := Page{
		Tool:      l.Name(),
		Joined:    f.joined,
		Workspace: filepath.ToSlash(root),
		Granted:   func(string) ir.CapSet { return 0 },
	}
	if f.planner != nil {
		p.Granted, p.Sensitive = f.planner.Granted, f.planner.Sensitive
		p.Roots = slices.Collect(maps.Values(f.planner.Now.Facts(f.planner.Tool).Bindings.External))
	}
	out, err := os.CreateTemp(filepath.Dir(file), ".accessc-learn-")
	if err != nil {
		return err
	}
	err = p.Write(out)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), file)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}
