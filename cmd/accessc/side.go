package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/ir/compare"
)

// side loads one side of a comparison: a directory, a manifest, or a revision of the
// workspace's git repository; empty means the work tree.
func (g *globals) side(name string) ([]compare.Policy, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return g.policiesAt("")
	case err == nil && info.IsDir():
		return g.policiesAt(name)
	case err == nil:
		return manifestPolicies(name)
	case !errors.Is(err, os.ErrNotExist):
		return nil, usagef("%s: %v", name, pathError(err))
	}
	root, err := g.root()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "accessc-revision-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := checkout(root, name, dir); err != nil {
		return nil, usagef("%s is neither a file nor a revision: %v", name, err)
	}
	policies, err := g.policiesAt(filepath.Join(dir, "ws"))
	if err != nil {
		fmt.Fprintf(g.stderr, "accessc: the policies of %s do not compile\n", name)
	}
	return policies, err
}

// policiesAt compiles the configuration of a workspace, the current one if root is
// empty. Layers that are not committed are left out: the sides of a comparison differ
// in what is committed.
func (g *globals) policiesAt(root string) ([]compare.Policy, error) {
	shared := g.asking()
	shared.Shared = true
	opts, err := shared.options(false)
	if err != nil {
		return nil, err
	}
	if root != "" {
		opts.Root = root
	}
	res, err := compiler.Compile(opts)
	if err != nil {
		return nil, usageError{err}
	}
	if res.Program == nil {
		return nil, g.sayText(res.Findings, res.Files, "")
	}
	var out []compare.Policy
	for _, t := range res.Program.Tools {
		out = append(out, compare.Policy{Tool: t})
	}
	return out, nil
}

// addLedgers gives both sides the ledgers that they are compared by: to a tool that
// differs, and to one of which the other side, a manifest, has one. They are most of the
// work, and of equal tools they are equal.
func addLedgers(old, new []compare.Policy) error {
	tools := map[string]*compare.Policy{}
	for i := range old {
		tools[old[i].Tool.Name] = &old[i]
	}
	var tasks sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	errs := make([]error, len(new))
	for i := range new {
		a, b := tools[new[i].Tool.Name], &new[i]
		if a == nil || a.Ledger == nil && b.Ledger == nil && compare.Same(a.Tool, b.Tool) {
			continue
		}
		limit <- struct{}{}
		tasks.Go(func() {
			errs[i] = errors.Join(addLedger(a), addLedger(b))
			<-limit
		})
	}
	tasks.Wait()
	return errors.Join(errs...)
}

func addLedger(p *compare.Policy) error {
	if p.Ledger != nil {
		return nil
	}
	made, err := policyOf(p.Tool)
	p.Ledger = made.Ledger
	return err
}

// maxManifest bounds what is read as a manifest, in bytes.
const maxManifest = 64 << 20

func manifestPolicies(name string) ([]compare.Policy, error) {
	m, err := readManifest(name)
	if err != nil {
		return nil, err
	}
	out, err := m.Policies()
	if err != nil {
		return nil, usagef("%s: %v", name, err)
	}
	return out, nil
}

// checkout writes the workspace as it is in a revision to dir/ws, through an index of
// its own, so that neither the work tree nor the repository's index changes.
func checkout(root, revision, dir string) error {
	git := gitIn(root, dir)
	repository, err := git("rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	commit, err := git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if shallow, _ := git("rev-parse", "--is-shallow-repository"); shallow == "true" {
			return errors.New("git knows no such commit, and this clone is shallow: run git fetch --unshallow, or check out with fetch-depth: 0")
		}
		return errors.New("git knows no such commit")
	}
	prefix := ""
	if bare, _ := git("rev-parse", "--is-bare-repository"); bare != "true" {
		if prefix, err = git("rev-parse", "--show-prefix"); err != nil {
			return err
		}
	}
	if _, err := git("read-tree", commit+":"+strings.TrimSuffix(prefix, "/")); err != nil {
		return fmt.Errorf("the workspace is not in that revision: %w", err)
	}
	tree := filepath.Join(dir, "ws")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return err
	}
	_, err = gitIn(tree, dir)("--git-dir="+repository, "--work-tree="+tree, "checkout-index", "--all")
	return err
}

// bare reports whether a directory is a repository without a work tree.
func bare(root string) bool {
	out, err := gitIn(root, root)("rev-parse", "--is-bare-repository")
	return err == nil && out == "true"
}

// gitIn runs git in a directory with an index in another one. The variables that git sets
// for its hooks are about the repository that the hook runs in, which need not be this one.
func gitIn(root, index string) func(args ...string) (string, error) {
	return func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_INDEX_FILE"}, name)
		})
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+filepath.Join(index, "index"), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			err = errors.New("git is not installed")
		case err != nil && errs.Len() > 0:
			err = errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "fatal: "))
		}
		return strings.TrimSpace(string(out)), err
	}
}
