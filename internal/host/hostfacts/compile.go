package hostfacts

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/bounds"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// Options are the input of Compile.
type Options struct {
	compiler.Options
	// Resolve compiles for this host: external rules need their approval, bindings and base are
	// the host's own. Otherwise the result is portable. It sets Approved.
	Resolve bool
	// Untested skips access.tests, for callers that run them themselves or explain why a test
	// fails.
	Untested bool
	// Unadvised skips the warnings about tools' own programs, which take the facts of every tool and which no
	// start shows.
	Unadvised bool
	// Sensitive looks on this host's disk for sensitive paths that rules reach, and for a local layer that
	// git tracks, and warns.
	Sensitive bool
	// Places looks where rules lead on this host, and says which lead nowhere or elsewhere than approved. The policy
	// stays as it is.
	Places bool
	// View, unless nil, keeps how the host was looked at. It is the Host of the compiler.
	View *hostview.View
	// State overrides the state directory; empty means the user's own.
	State userdir.Dir
	// Maximum names a file that is tried as the maximum, in place of the machine's. Unbounded asks none, for what only
	// compares or describes: no tool of the result can be started on a machine with a maximum.
	Maximum   string
	Unbounded bool
}

// Result is a compilation and the facts of this host about it.
type Result struct {
	*compiler.Result
	// State is the directory of the workspace's state; empty when there is none.
	State userdir.Dir
	// Tracked is true where the local layer was asked about and git has it.
	Tracked bool

	view      *hostview.View
	platforms []ir.Platform
	resolved  bool
	home      string
	base      map[ir.BaseName][]ir.FSRule
	guarded   []ir.ProtectedPath
	outside   []guardedPlace
	// owned are the directories of accessc's own files, nil before they were looked for.
	owned []string
	// repository is the workspace's, once it was looked for.
	repository *Repository
	looked     bool
	// unread is a configuration of git's that names protected paths and cannot be read.
	unread    string
	bounds    *bounds.Bounds // nil on a machine without a maximum
	sensitive map[ir.Root][]ir.Location
}

// Compile compiles a configuration and checks it against this host: the programs that it names
// are looked for, and its tests are run. The error is about the workspace root or the state
// directory; everything about the configuration is a finding.
func Compile(opts Options) (*Result, error) {
	r := &Result{State: opts.State, resolved: opts.Resolve, home: opts.Layers.Home, view: opts.View,
		platforms: opts.Platforms}
	opts.Host = opts.View
	resolver, err := resolve.New(opts.Root, resolve.Through(opts.View))
	if err != nil {
		return nil, err
	}
	if opts.Tree == nil {
		own, _ := userdir.Root() // without any there is none that a tool could write
		if err := workspace.Named(opts.Root, own); err != nil {
			return nil, err
		}
	}
	if opts.Part != "" {
		resolver = resolver.Part(opts.Part)
	}
	if r.State == "" {
		if r.State, err = userdir.For(resolver.Root); err != nil && opts.Resolve {
			return nil, err
		}
	}
	if opts.Tree == nil && (opts.Sensitive || opts.Layers.Shared) {
		opts.Layers.Tracked = r.tracked(resolver)
	}
	if opts.Tree != nil || opts.Sensitive {
		r.attributes(&opts, resolver.Root)
	}
	if opts.Tree == nil {
		r.Result = &compiler.Result{Resolver: resolver}
		if repo := r.Repository(); repo != nil {
			opts.Repository = repo.Dir
		}
	}
	var unusable error
	if opts.Resolve {
		if err := cmp.Or(hostview.Listed(), r.apart(resolver)); err != nil {
			return nil, err
		}
		opts.Approved, unusable = r.approved(resolver, opts.Planned)
		opts.Unfit = r.unfit(resolver)
	}
	if r.Result, err = compiler.Compile(opts.Options); err != nil {
		return nil, err
	}
	if unusable != nil && (unusable != errInWorkspace || len(r.Bindings) > 0) {
		d := diag.New(diag.BadApprovals, ir.Pos{File: r.State.Approvals()}, 0)
		d.Label = unusable.Error()
		d.Hint = "external rules stay dropped until that is repaired"
		r.Report(d)
	}
	if r.Tracked = opts.Layers.Tracked; r.Tracked && opts.Sensitive {
		r.Report(r.trackedFinding())
	}
	if opts.Tree == nil && opts.Sensitive {
		r.Report(r.alikeFindings(resolver.Root)...)
	}
	r.check(opts)
	if opts.Tree == nil && !opts.Unbounded {
		if err := r.bound(opts); err != nil {
			return nil, err
		}
	}
	if opts.Tree == nil && (opts.Resolve || opts.Sensitive) {
		return r, r.guards()
	}
	return r, nil
}

// guards returns an error if git's configuration cannot be read, which may name hooks anywhere in the workspace.
// See decision D412.
func (r *Result) guards() error {
	if r.Program == nil || !slices.ContainsFunc(r.Program.Tools, func(t *ir.Tool) bool { return t.Protects }) {
		return nil
	}
	if r.ownProtected(); r.unread != "" {
		return fmt.Errorf("%s, which git reads, is too large or no file: the hooks that it may name are unknown",
			r.unread)
	}
	return nil
}

// check reports this host's objections to the program.
func (r *Result) check(opts Options) {
	if r.Program == nil {
		return
	}
	var findings diag.List
	for _, t := range r.Program.Tools {
		if opts.Resolve && t.Commands != nil {
			findings.Add(r.locatePrograms(t)...)
		}
		if !opts.Unadvised {
			findings.Add(r.ownProgram(t)...)
		}
		findings.Add(r.linkedRules(t)...)
		if opts.Resolve || opts.Places {
			findings.Add(r.mountedRules(t)...)
		}
		if opts.Places {
			findings.Add(r.nowhere(t)...)
		}
	}
	if opts.Places && !opts.Resolve {
		findings.Add(r.led(opts)...)
	}
	findings.Add(r.contained()...)
	if !r.Findings.Failed() && !opts.Untested {
		for _, t := range r.Program.Tools {
			for _, x := range r.Test(t) {
				if !x.Holds() {
					findings.Add(x.Finding())
				}
			}
		}
	}
	r.Report(findings...)
	if r.Program != nil && opts.Sensitive {
		r.Report(r.SensitiveFindings(r.Program.Tools)...)
	}
}

var errInWorkspace = errors.New("lies in the workspace, where tools may write; let XDG_STATE_HOME be elsewhere")

// Approvals returns the path of the approval store. It is an error for the store to lie
// in the workspace, which a tool may be let to write; that happens when the workspace
// is the user's whole home directory.
func (r *Result) Approvals() (string, error) { return r.store(r.Resolver) }

func (r *Result) store(resolver *resolve.Resolver) (string, error) {
	found, err := resolver.Disk.Follow(filepath.ToSlash(string(r.State)))
	if err == nil {
		for _, name := range r.view.Names(found.Abs) {
			if _, inside := resolve.Below(name, resolver.Root); inside {
				err = errInWorkspace
			}
		}
	}
	return r.State.Approvals(), err
}

// approved returns the approvals of the user's store, with the approvals of planned symlinks.
// Where the store cannot be used nothing is approved, and the error says why.
func (r *Result) approved(resolver *resolve.Resolver,
	planned map[string]string) (func(rulePath, target string) (bool, string), error) {
	var store approvals.Store
	path, err := r.store(resolver)
	if err == nil {
		store, err = approvals.Load(path)
		r.view.Approvals(path, approvals.Statement(store, err))
	}
	for path, target := range planned {
		// A binding that cannot be approved stays unapproved, and its rule is dropped.
		_ = store.Approve(approvals.Mount{RulePath: path, CanonicalTarget: target})
	}
	return func(rulePath, target string) (bool, string) {
		status, was := store.Lookup(rulePath, target)
		if status == approvals.Approved {
			return true, ""
		}
		return false, was
	}, err
}

// LocalPath is the absolute path of the local layer.
func (r *Result) LocalPath() string {
	return source.Request{Root: filepath.FromSlash(r.Resolver.Root)}.LocalPath()
}

// Inputs are the absolute paths of what the configuration was read from, and of what would
// have been read if it were there.
func (r *Result) Inputs() []string {
	root := filepath.FromSlash(r.Resolver.Root)
	out := []string{
		filepath.Join(root, ".jp", "config.toml"), filepath.Join(root, "accessc.toml"), r.LocalPath(),
		r.State.Approvals(),
	}
	for _, f := range r.Files {
		if f.Path != "" {
			out = append(out, f.Path)
		}
	}
	return slices.Concat(out, r.Listed, r.Dangling)
}
