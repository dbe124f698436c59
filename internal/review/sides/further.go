package sides

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir/compare"
)

// further are the workspaces in the one of a side, by their paths in it.
type further map[string]*Side

// furtherOf compiles the workspaces in another one, each by itself. A tool with mistakes starts nowhere, so it counts
// as none.
func (r Reader) furtherOf(opts hostfacts.Options, members []string) (further, error) {
	dirs, apart, err := furtherDirs(opts.Root, opts.Tree, members)
	if err != nil {
		return nil, usage.Errorf("workspaces in %s: %v", opts.Root, err)
	}
	for _, dir := range apart {
		if source.IsMember(members, dir) {
			fmt.Fprintf(r.Notes,
				"accessc: the member %s is a repository of its own, which this comparison does not see\n", dir)
		}
	}
	out := further{}
	opts.Apart = true
	for _, dir := range dirs {
		opts.Part = dir
		if tree, revised := opts.Tree.(*revision.Tree); revised {
			sub, err := tree.Sub(dir)
			if err != nil {
				return nil, err
			}
			part := opts
			part.Tree = sub
			out[dir], err = r.furtherSide(part)
			if err != nil {
				return nil, err
			}
			continue
		}
		if out[dir], err = r.furtherSide(opts); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r Reader) furtherSide(opts hostfacts.Options) (*Side, error) {
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usage.Errorf("%s: %v", opts.Part, err)
	}
	out := &Side{members: res.Members, rulesets: res.Rulesets, dangling: danglingIn(res, opts.Tree)}
	if res.Findings.Failed() {
		fmt.Fprintf(
			r.Notes,
			"accessc: the workspace %s has mistakes: accessc -C %s check shows those of the work tree\n",
			opts.Part,
			opts.Part,
		)
	}
	if res.Program != nil {
		for _, t := range res.Program.Tools {
			out.policies = append(out.policies, compare.Policy{Tool: t})
		}
	}
	return out, nil
}

// furtherDirs are the workspaces in a tree, or on the disk those that git tracks or would: what it ignores is no part
// of a commit. apart are repositories that were passed over: where git lists the files, those that members list.
func furtherDirs(root string, tree fs.ReadLinkFS, members []string) (dirs, apart []string, err error) {
	if tree != nil {
		return workspace.Further(tree, resolve.Fold)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, nil, err
	}
	disk, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil, err
	}
	defer disk.Close()
	repo, err := revision.Find(root)
	if err != nil || repo.Bare() {
		return workspace.Further(disk.FS(), resolve.Fold)
	}
	files, err := repo.Files(workspace.Marks()...)
	if err != nil {
		return workspace.Further(disk.FS(), resolve.Fold)
	}
	gone := func(name string) bool {
		_, err := disk.Lstat(filepath.FromSlash(name))
		return errors.Is(err, fs.ErrNotExist)
	}
	dirs, err = workspace.FurtherOf(slices.DeleteFunc(files, gone), resolve.Fold)
	return dirs, repositories(disk.FS(), members), err
}

// repositories are those on the disk that patterns list.
func repositories(disk fs.FS, members []string) []string {
	var out []string
	for _, pattern := range members {
		found, _ := fs.Glob(disk, pattern+"/.git") // the compiler has refused a pattern that is none
		for _, at := range found {
			out = append(out, path.Dir(at))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// furtherChanges compares the workspaces in those of two sides, unless one side is a manifest, which has none.
func furtherChanges(old, new *Side) ([]explain.Change, error) {
	if old.further == nil || new.further == nil {
		return nil, nil
	}
	dirs := slices.Sorted(maps.Keys(old.further))
	dirs = append(dirs, slices.Sorted(maps.Keys(new.further))...)
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	was, is := old.listed(dirs), new.listed(dirs)
	var out []explain.Change
	if c := explain.AroundChange(old.around(), new.around()); c.Differs() {
		out = append(out, c)
	}
	for i, dir := range dirs {
		out = append(out, explain.FurtherChange(was[i], is[i]))
		a, b := old.further[dir], new.further[dir]
		found, err := Changes(orEmpty(a), orEmpty(b))
		if err != nil {
			return nil, err
		}
		out = append(out, explain.In(dir, found)...)
	}
	return out, nil
}

// danglingIn are the symlinks to nothing that would be layers, with where they lead: what git ignores may be there.
func danglingIn(res *hostfacts.Result, tree fs.ReadLinkFS) []string {
	var out []string
	for _, at := range res.Dangling {
		name, err := filepath.Rel(filepath.FromSlash(res.Resolver.Root), at)
		if err != nil {
			name = at
		}
		name = filepath.ToSlash(name)
		target := ""
		if tree == nil {
			target, err = os.Readlink(at)
		} else if err == nil {
			target, err = tree.ReadLink(name)
		}
		if err == nil {
			name += " -> " + filepath.ToSlash(target)
		}
		out = append(out, name)
	}
	return out
}

// around is the workspace of the comparison itself.
func (s *Side) around() explain.Further {
	return explain.Further{Dir: ".", Members: s.members, Dangling: s.dangling, Here: true}
}

func orEmpty(s *Side) *Side {
	if s == nil {
		return &Side{}
	}
	return s
}

// listed are the workspaces of some directories as a side has them.
func (s *Side) listed(dirs []string) []explain.Further {
	var out []explain.Further
	for _, dir := range dirs {
		f := explain.Further{Dir: dir}
		if in := s.further[dir]; in != nil {
			f.Here, f.Members, f.Dangling = true, in.members, in.dangling
		}
		out = append(out, f)
	}
	explain.List(s.members, out, source.IsMember)
	return out
}
