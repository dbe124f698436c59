package sides

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir/compare"
)

// Reader reads the sides of a comparison. What a reader ought to know of one is noted in words.
type Reader struct {
	Config config.Flags
	Notes  io.Writer
}

// Read loads one side of a comparison: a directory, a manifest, or a revision of the
// workspace's git repository; empty means the work tree.
func (r Reader) Read(name string) (*Side, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return r.at("", nil)
	case err == nil && r.mayBeRevision(name):
		return nil, usage.Errorf("%s is a file, and may be a revision of this repository: write ./%s for the file, or the full "+
			"name of the revision, such as refs/heads/main", name, name)
	case err == nil && info.IsDir():
		return r.at(name, nil)
	case err == nil:
		return manifestSide(name)
	case !errors.Is(err, os.ErrNotExist):
		return nil, usage.Errorf("%s: %v", name, oserr.Reason(err))
	}
	root, err := r.Config.Root()
	if err != nil {
		return nil, err
	}
	tree, err := Open(root, name)
	if err != nil {
		return nil, usage.Errorf("%s is neither a file nor a revision: %v", name, err)
	}
	defer tree.Close()
	found, err := r.at(root, tree)
	var wrong *config.Mistakes
	cannot := fmt.Sprintf("accessc: the policies of %s do not compile\n", name)
	if errors.As(err, &wrong) {
		wrong.Then = cannot
	} else if err != nil {
		fmt.Fprint(r.Notes, cannot)
	}
	return found, err
}

// mayBeRevision reports whether a file has a name by which the user may mean a revision. Whoever proposes a change adds
// files as he likes: one called like the branch before it would be compared with itself.
func (r Reader) mayBeRevision(name string) bool {
	if first, _, _ := strings.Cut(filepath.ToSlash(name), "/"); first == "." || first == ".." || filepath.IsAbs(name) {
		return false
	}
	root, err := r.Config.Root()
	if err != nil {
		return false
	}
	tree, err := Open(root, name)
	if err == nil {
		tree.Close()
	}
	return !errors.Is(err, revision.ErrNone) && !errors.Is(err, revision.ErrNoGit) && !errors.Is(err, revision.ErrUnknown)
}

// Open reads the workspace as it is in a revision.
func Open(root, name string) (*revision.Tree, error) {
	r, err := revision.Find(root)
	if err != nil {
		return nil, err
	}
	return r.Open(name)
}

// at compiles the configuration of a workspace, the current one if root is empty, with a tree in place of the
// workspace's files, unless it is nil.
// Layers that are not committed are left out: the sides of a comparison are committed states.
func (r Reader) at(root string, tree fs.ReadLinkFS) (*Side, error) {
	opts, err := r.Config.Committed().Options(false)
	if err != nil {
		return nil, err
	}
	if root != "" {
		opts.Root = root
	}
	opts.Tree, opts.Unbounded = tree, true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usage.Error{Err: err}
	}
	if res.Program == nil {
		return nil, &config.Mistakes{Findings: res.Findings, Files: res.Files}
	}
	out := &Side{rulesets: res.Rulesets, res: res, members: res.Members, dangling: danglingIn(res, tree)}
	for _, t := range res.Program.Tools {
		out.policies = append(out.policies, compare.Policy{Tool: t})
	}
	out.further, err = r.furtherOf(opts, res.Members)
	return out, err
}

func manifestSide(name string) (*Side, error) {
	m, _, err := build.ReadManifest(name)
	if err != nil {
		return nil, err
	}
	return Manifest(m, name)
}

// Manifest returns the policies and rulesets of a manifest.
func Manifest(m *build.Manifest, name string) (*Side, error) {
	var out Side
	var err, also error
	out.policies, err = m.Policies()
	out.rulesets, also = m.Sets()
	if err := errors.Join(err, also); err != nil {
		return nil, usage.Errorf("%s: %v", name, err)
	}
	return &out, nil
}

// Bare reports whether a directory is a repository without a work tree.
func Bare(root string) bool {
	r, err := revision.Find(root)
	return err == nil && r.Bare()
}

// Head is the commit of HEAD, if its configuration compiles to the same policies; empty otherwise.
func (r Reader) Head(res *hostfacts.Result) (string, error) {
	tree, err := Open(filepath.FromSlash(res.Resolver.Root), "HEAD")
	if err != nil {
		return "", nil // not in a repository, or in one without commits
	}
	defer tree.Close()
	head, err := Reader{r.Config, io.Discard}.at(res.Resolver.Root, tree)
	if err != nil {
		return "", nil // the configuration of HEAD does not compile
	}
	is, err := build.PolicyOf(res.Program, res.Rulesets)
	if err != nil {
		return "", err
	}
	was, err := build.PolicyOf(head.res.Program, head.rulesets)
	if err != nil || is == was {
		return tree.Commit, err
	}
	fmt.Fprintln(r.Notes, "attested without a revision: the configuration is not that of HEAD")
	return "", nil
}
