package hostfacts

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Repository is the repository of a workspace that is a linked work tree or a submodule, as far as git reads it.
type Repository struct {
	// Dir is the common directory, Own the work tree's own.
	Dir, Own string
	// Rules grant reading of the parts that git reads.
	Rules []ir.FSRule
	// Secret is the file whose text looks as if it held a credential, or cannot be judged; then there are no rules.
	Secret string
}

// Parts of a common directory that git reads for its questions about files and commits.
var commonParts = []string{"HEAD", "config", "info", "logs", "objects", "packed-refs", "refs", "reftable", "shallow"}

// Further parts of the directory of a submodule, which is not shared.
var ownParts = []string{"COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "index"}

// Repository returns the parts of the workspace's repository that the base lets be read, nil where that is in the
// workspace, or does not name the workspace as one of its work trees. Only its owner can have written that: a .git that
// leads to somebody else's directory grants nothing.
// See decision D412.
func (r *Result) Repository() *Repository {
	if !r.looked {
		r.looked, r.repository = true, r.findRepository()
	}
	return r.repository
}

// Pretend has a disk that is looked at anew find the common directory where an external rule names it.
func (r *Result) Pretend(disk *resolve.Disk) *resolve.Disk {
	if repo := r.Repository(); repo != nil {
		disk.Pretend(path.Join(r.Resolver.Root, compiler.CommonDir), repo.Dir)
	}
	return disk
}

func (r *Result) findRepository() *Repository {
	dir := r.gitFile()
	if dir == "" || r.within(dir) != "" || !r.view.Owned(filepath.FromSlash(dir)) {
		return nil
	}
	repo := &Repository{Dir: dir, Own: dir}
	parts := append(commonParts, ownParts...)
	if r.regular(path.Join(dir, "commondir")) {
		if repo.Dir = r.linkedTo(dir); repo.Dir == "" {
			return nil
		}
		parts = commonParts
	} else if !r.submodule(dir) {
		return nil
	}
	if !r.isGitDir(repo.Dir) || !r.view.Owned(filepath.FromSlash(repo.Dir)) {
		return nil
	}
	configs := []string{
		path.Join(repo.Dir, "config"), path.Join(repo.Dir, "config.worktree"), path.Join(repo.Own, "config.worktree"),
	}
	if repo.Secret = r.credentialIn(configs); repo.Secret != "" {
		return repo
	}
	if repo.Own != repo.Dir {
		repo.grant(repo.Own, ir.Caps(ir.Read))
		repo.grant(path.Join(repo.Own, "modules"), 0)
	}
	for _, name := range parts {
		at := path.Join(repo.Dir, name)
		mode, err := r.view.Lstat(filepath.FromSlash(at))
		if err == nil && (mode.IsRegular() || mode.IsDir()) && r.view.Owned(filepath.FromSlash(at)) {
			repo.grant(at, ir.Caps(ir.Read))
		}
	}
	return repo
}

// Parts are the names that are read, below the common directory.
func (p *Repository) Parts() (out []string) {
	if p == nil {
		return nil
	}
	for _, r := range p.Rules {
		if r.Caps != 0 {
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(r.Written, p.Dir), "/"))
		}
	}
	return out
}

func (p *Repository) grant(at string, caps ir.CapSet) {
	p.Rules = append(p.Rules, ir.FSRule{
		Written: at, At: ir.Sys(strings.TrimPrefix(at, "/")), Caps: caps,
		Origin: ir.Origin{Layer: ir.LayerBase, Label: "base:work tree"},
	})
}

// gitFile is the directory that the workspace's .git names, where that is a file of the user's; empty otherwise.
func (r *Result) gitFile() string {
	name := path.Join(r.Resolver.Root, ".git")
	text, ok := r.readText(name)
	dir, named := strings.CutPrefix(text, "gitdir: ")
	if !ok || !named || !r.regular(name) || !r.view.Owned(filepath.FromSlash(name)) {
		return ""
	}
	return r.leadsTo(r.Resolver.Root, dir)
}

// linkedTo is the common directory of a work tree's own directory, empty unless both name each other and the
// workspace.
func (r *Result) linkedTo(dir string) string {
	common := path.Dir(path.Dir(dir))
	to, _ := r.readText(path.Join(dir, "commondir"))
	back, _ := r.readText(path.Join(dir, "gitdir"))
	for _, name := range []string{"commondir", "gitdir"} {
		if at := path.Join(dir, name); !r.regular(at) || !r.view.Owned(filepath.FromSlash(at)) {
			return ""
		}
	}
	here := path.Join(r.Resolver.Root, ".git")
	if path.Base(path.Dir(dir)) != "worktrees" || r.leadsTo(dir, to) != common || r.leadsTo(dir, back) != here {
		return ""
	}
	return common
}

// submodule reports whether the configuration of a git directory names the workspace as its work tree.
func (r *Result) submodule(dir string) bool {
	config := path.Join(dir, "config")
	text, _ := r.readText(config)
	if !r.regular(config) || !r.view.Owned(filepath.FromSlash(config)) {
		return false
	}
	for _, v := range settings(text) {
		if v.name == "core.worktree" {
			return r.leadsTo(dir, v.value) == r.Resolver.Root
		}
	}
	return false
}

func (r *Result) regular(name string) bool {
	mode, err := r.view.Lstat(filepath.FromSlash(name))
	return err == nil && mode.IsRegular() && mode&fs.ModeSymlink == 0
}

// leadsTo is where a line of one of git's files leads, empty where nothing is there.
func (r *Result) leadsTo(dir, line string) string {
	to := filepath.ToSlash(strings.TrimRight(line, "\r\n"))
	if to == "" {
		return ""
	}
	if !path.IsAbs(to) && !filepath.IsAbs(to) {
		to = dir + "/" + to
	}
	found, err := r.Resolver.Disk.Follow(to)
	if err != nil || found.Kind == ir.Absent {
		return ""
	}
	return found.Abs
}
