package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// From where a build may vouch for itself: a tool that could write an artifact and the manifest
// beside it would choose the policy of its next start, and a repository that contains both that
// of its first. So the place counts, and no statement in a file makes its place good.

// own returns why a file may not vouch, going by the workspace and home that its own contents
// name; empty if nothing is in the way. Paths of files are canonical.
func own(file string, l backends.Launch) string {
	for _, name := range hostview.Names(file) {
		switch {
		case lies(name, l.Workspace):
			return "lies in the workspace " + l.Workspace
		case lies(name, l.Home):
			return "lies in the tool's home directory"
		}
	}
	return ""
}

// Exposed returns the same without the file's contents. root is the workspace that the caller
// is in.
func Exposed(file, root string) string { return outside(file, root, userdir.Dir("").Builds()) }

// Keeps reports whether a directory of the user's state is one where no tool can write. root is
// the workspace that the caller is in.
func Keeps(dir, root string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && outside(filepath.Join(real, "entry"), root, filepath.Base(dir)) == ""
}

// outside returns why a file may not vouch, by where it lies under any of its names. In accessc's state it lies in the
// directory of a workspace that kept names.
func outside(file, root, kept string) string {
	for _, name := range hostview.Names(file) {
		if why := exposed(name, root, kept); why != "" {
			return why
		}
	}
	return ""
}

func exposed(file, root, kept string) string {
	if lies(file, root) {
		return "lies in the workspace " + root
	}
	all, err := userdir.Root()
	if err != nil {
		return "may lie in a place where tools write: " + err.Error()
	}
	if root, ok := workspace.Around(file, all); ok {
		return "lies in the workspace " + root
	}
	if root, ok := used(file); ok {
		return "lies in " + root + ", which has been a workspace"
	}
	if rel, inside := relative(file, all); inside {
		// Homes and temporary directories of tools are beside the builds.
		if parts := strings.Split(filepath.ToSlash(rel), "/"); len(parts) > 3 && parts[0] == "workspaces" && parts[2] == kept {
			return ""
		}
		return "lies in accessc's state, and is no build there"
	}
	return approvedPlace(file, all)
}

// used returns the directory around a file that tools were started in as their workspace,
// marked or not: its state is there.
func used(file string) (string, bool) {
	for at := filepath.Dir(file); ; at = filepath.Dir(at) {
		if dir, err := userdir.For(filepath.ToSlash(at)); err == nil {
			if _, err := os.Lstat(string(dir)); err == nil {
				return at, true
			}
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// approvedPlace returns a reason if a file lies in an approved target of an external rule of
// any workspace: tools may have write access there.
func approvedPlace(file, all string) string {
	dir := filepath.Join(all, "workspaces")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "may lie in a place where tools write: " + err.Error()
	}
	for _, e := range list {
		name := userdir.Dir(filepath.Join(dir, e.Name())).Approvals()
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
			continue
		}
		store, err := approvals.Load(name)
		if mentions, known := approvals.Mentions(name, file, err); known && !mentions {
			continue // it approves nothing, and nothing around the file was approved by it
		}
		if err != nil {
			return "may lie in a place where tools write: " + name + ": " + err.Error()
		}
		for _, m := range store.Mounts() {
			if lies(file, filepath.FromSlash(m.CanonicalTarget)) {
				return "lies in " + m.CanonicalTarget + ", to which " + m.RulePath + " of a workspace was approved to lead"
			}
		}
	}
	return ""
}

// lies reports whether a canonical path is in a directory, given by any of its names.
func lies(file, dir string) bool {
	_, inside := relative(file, dir)
	return inside
}

func relative(file, dir string) (string, bool) {
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, file)
	return rel, err == nil && workspace.Within(file, dir)
}

// binding is an external rule of a specification and its target.
type binding struct{ rule, target string }

// bindingsOf reads them from the Context, which every resolved specification has.
func bindingsOf(l backends.Launch) ([]binding, error) {
	if l.Context == "" {
		return nil, nil
	}
	var c contextjson.Context
	if err := strictjson.Unmarshal([]byte(l.Context), &c); err != nil {
		return nil, fmt.Errorf("its Context: %w", err)
	}
	if c.Access == nil {
		return nil, nil
	}
	var out []binding
	for _, r := range c.Access.Rules() {
		if r.External && r.ApprovedTarget != nil {
			out = append(out, binding{r.LexicalPath, *r.ApprovedTarget})
		}
	}
	return out, nil
}

// approved checks that the targets of external rules are still those that the user approved: an
// approval can be taken back after a build.
func approved(l backends.Launch) error {
	bindings, err := bindingsOf(l)
	if err != nil || len(bindings) == 0 {
		return err
	}
	dir, err := userdir.For(l.Workspace)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(hostview.Names(string(dir)), func(name string) bool { return lies(name, l.Workspace) }) {
		return errors.New("the approvals of its external rules lie in the workspace, where tools may write; let XDG_STATE_HOME be elsewhere")
	}
	store, err := approvals.Load(dir.Approvals())
	if err != nil {
		return fmt.Errorf("the approvals of its external rules: %w", err)
	}
	for _, b := range bindings {
		if !covers(store, b) {
			return fmt.Errorf("%s → %s is not approved; if you trust the target: accessc approve %[1]s, and build again", b.rule, b.target)
		}
	}
	return nil
}

// covers reports whether a binding is approved, or one of a directory around its rule under
// whose target it stays: the approval of a binding reaches down.
func covers(store approvals.Store, b binding) bool {
	for rule := b.rule; rule != "." && rule != "/"; rule = path.Dir(rule) {
		m, ok := store.Mount(rule)
		if ok && (m.CanonicalTarget == b.target || rule != b.rule && strings.HasPrefix(b.target, strings.TrimSuffix(m.CanonicalTarget, "/")+"/")) {
			return true
		}
	}
	return false
}
