package tool

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// ErrNoContext means that this process was not started with a Context.
var ErrNoContext = errors.New(ir.ContextVariable + " is not set; accessc exec starts a tool with a Context")

// ErrContext is wrapped by errors for a Context that cannot be used.
var ErrContext = contextjson.ErrContext

// maxContext bounds the size of a Context that is read, in bytes.
const maxContext = 64 << 20

// Policy is the policy of this tool, as far as its Context tells it. It is immutable and safe
// for concurrent use.
type Policy struct {
	name     string
	call     Call
	root     string
	bindings *ir.Bindings
	tool     *ir.Tool
	view     *ir.View
	// folded is the policy with its paths folded, nil on systems that distinguish upper from
	// lower case.
	folded *ir.View
	// free is true where the Context has no policy.
	free   bool
	holder holder
}

// Load returns the policy of this process, from the Context in the file that ACCESSC_CONTEXT
// names. The error is [ErrNoContext] when there is none.
func Load() (*Policy, error) {
	name := os.Getenv(ir.ContextVariable)
	if name == "" {
		return nil, ErrNoContext
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the Context: %w", err)
	}
	defer f.Close()
	data, err := bounded.Read(f, maxContext)
	if err != nil {
		return nil, fmt.Errorf("the Context: %w", err)
	}
	return Parse(data)
}

// Parse returns the policy of a Context in JSON, such as {{context}} in a tool's command. A
// null access means that nothing but the workspace's borders is checked. The workspace must
// exist.
func Parse(data []byte) (*Policy, error) {
	doc, err := contextjson.Parse(data)
	if err != nil {
		return nil, err
	}
	policy, err := doc.Policy()
	if err != nil {
		return nil, err
	}
	if strings.Contains(doc.Root, "${") {
		return nil, fmt.Errorf("%w: its root is %s; it was not resolved for this host", ErrContext, doc.Root)
	}
	if !filepath.IsAbs(filepath.FromSlash(doc.Root)) {
		return nil, fmt.Errorf("%w: its root %q is not an absolute path", ErrContext, doc.Root)
	}
	resolver, err := resolve.New(doc.Root, resolve.Through(hostview.Now))
	if err != nil {
		return nil, fmt.Errorf("the workspace: %w", err)
	}
	p := &Policy{name: doc.Tool, call: callOf(doc), root: resolver.Root, free: policy == nil}
	if p.free {
		policy = &ir.Tool{Name: doc.Tool, FS: ir.DefaultFS()}
	}
	if err := checkRules(policy); err != nil {
		return nil, err
	}
	if p.bindings, err = bindings(p.root, doc); err != nil {
		return nil, err
	}
	p.locatePrograms(policy)
	p.decideBy(policy, foldsNames)
	p.holder, err = newHolder(p.bindings)
	return p, err
}

// decideBy prepares a policy for questions.
func (p *Policy) decideBy(policy *ir.Tool, folds bool) {
	platform, _ := ir.ParsePlatform(runtime.GOOS)
	facts := ir.Facts{Bindings: p.bindings, Located: true}
	p.tool, p.view = policy, ir.NewView(policy, platform, facts)
	if folds {
		p.folded = ir.NewView(foldedPolicy(policy), platform, ir.Facts{})
	}
}

// bindings are the places of a Context on this host. An external rule without a target
// is bound nowhere, so that nothing is reached by it.
func bindings(root string, doc *contextjson.Context) (*ir.Bindings, error) {
	b := &ir.Bindings{Workspace: root, External: map[string]string{}}
	if doc.Access == nil {
		return b, nil
	}
	for _, r := range doc.Access.Rules() {
		if !r.External || r.ApprovedTarget == nil {
			continue
		}
		target := *r.ApprovedTarget
		if !filepath.IsAbs(filepath.FromSlash(target)) || path.Clean(target) != target {
			return nil, fmt.Errorf("%w: the target %q of %s is not a canonical path", ErrContext, target, r.LexicalPath)
		}
		b.External[r.LexicalPath] = target
	}
	return b, nil
}

func badName(pattern string) bool {
	return ir.BadName(pattern) != "" || !norm.NFC.IsNormalString(pattern)
}

// checkRules refuses rules in another form than the form that is matched: an exception
// that matches nothing would widen the policy.
func checkRules(t *ir.Tool) error {
	for i := range t.FS {
		if names := t.FS[i].Names; !slices.IsSorted(names) || slices.ContainsFunc(names, badName) {
			return fmt.Errorf("%w: the names %q of a rule are not canonical", ErrContext, names)
		}
		p, canonical := t.FS[i].At.Path, resolve.Lexical
		if t.FS[i].External {
			p, canonical = t.FS[i].At.Root.Name, resolve.RuleName
		}
		if p == "" && !t.FS[i].External {
			continue
		}
		if clean, err := canonical(p); err != nil || clean != p {
			return fmt.Errorf("%w: the path %q of a rule is not canonical", ErrContext, p)
		}
	}
	for i := range t.Net {
		written := t.Net[i].Host.String()
		host, err := resolve.HostPattern(written)
		scheme, bad := t.Net[i].Scheme, error(nil)
		if scheme != "" {
			scheme, bad = resolve.Scheme(scheme)
		}
		if err != nil || bad != nil || host != t.Net[i].Host || scheme != t.Net[i].Scheme {
			return fmt.Errorf("%w: the host %q of a rule is not canonical", ErrContext, written)
		}
		for _, m := range t.Net[i].Methods {
			if err := resolve.Method(m); err != nil {
				return fmt.Errorf("%w: a method of a rule: %w", ErrContext, err)
			}
		}
	}
	return nil
}

// Tool returns the name under which the configuration knows this tool.
func (p *Policy) Tool() string { return p.name }

// Action returns the host's request for this call: [ActionRun] or [ActionFormatArguments].
func (p *Policy) Action() string { return p.call.Action }

// Call returns the host's call of this tool.
func (p *Policy) Call() Call { return p.call.clone() }

// Root returns the workspace root, an absolute path without symlinks.
func (p *Policy) Root() string { return filepath.FromSlash(p.root) }

// Unrestricted reports whether there is no policy. The checks then confine paths to the
// workspace and restrict nothing else.
func (p *Policy) Unrestricted() bool { return p.free }
