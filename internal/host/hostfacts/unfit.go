package hostfacts

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// unfit returns the check of the targets of external rules: no tool gets files that the kernel
// makes up, and none may write to accessc's own files, or to the whole home.
// See decisions D183 and D441.
func (r *Result) unfit(resolver *resolve.Resolver) func(string, ir.CapSet) string {
	own := r.own(resolver)
	home := at(resolver, r.home)
	return func(target string, caps ir.CapSet) string {
		if name := r.view.MadeUp(target); name != "" {
			return "which is of the file system " + name
		}
		if inShared(target) {
			return "which lies in " + sharedMemory
		}
		if why := r.same(resolver.Root, target); why != "" {
			return why
		}
		if caps&ir.Write == 0 {
			return ""
		}
		if dir := meets(own, target); dir != "" {
			return "where the tool could change accessc's own files in " + dir
		}
		if _, whole := resolve.Below(home, target); whole && home != "" {
			return "the whole home directory, which no tool may write"
		}
		return ""
	}
}

// same says of a target that mounts let it show the workspace, or the memory that processes share, under
// another name.
func (r *Result) same(workspace, target string) string {
	for _, k := range r.view.Kernels([]string{workspace, target}, nil) {
		if k.Path == target {
			return "which is " + k.Why()
		}
	}
	return ""
}

const sharedMemory = "/" + ir.LinuxShared + ", where each tool has memory of its own run"

// inShared reports whether a place belongs to the memory that processes share. A supervised tool has memory of its own
// run by these names, and nothing else.
func inShared(path string) bool {
	return Platform() == ir.Linux && kernelfs.Below(path, "/"+ir.LinuxShared)
}

// apart returns an error if the workspace or its state lies in memory that processes share.
// See decision D50.
func (r *Result) apart(resolver *resolve.Resolver) error {
	if slices.ContainsFunc(r.view.Names(resolver.Root), inShared) {
		return fmt.Errorf("the workspace %s lies in %s: let it be elsewhere", resolver.Root, sharedMemory)
	}
	if state := at(resolver, string(r.State)); slices.ContainsFunc(r.view.Names(state), inShared) {
		return fmt.Errorf("accessc's state %s lies in %s: let XDG_STATE_HOME be elsewhere", state, sharedMemory)
	}
	return nil
}

// at is the canonical path of a directory, empty for none.
func at(resolver *resolve.Resolver, dir string) string {
	found, err := resolver.Disk.Follow(filepath.ToSlash(dir))
	if dir == "" || err != nil {
		return ""
	}
	return found.Abs
}

// own are the directories of accessc's own files: the approvals and all other state, and the user's layer.
func (r *Result) own(resolver *resolve.Resolver) []string {
	if r.owned != nil {
		return r.owned
	}
	state, _ := userdir.Root() // without any there is none that a tool could write
	out := []string{}
	for _, dir := range []string{string(r.State), state, filepath.Dir(userdir.UserConfig())} {
		if abs := at(resolver, dir); abs != "" && filepath.IsAbs(filepath.FromSlash(abs)) {
			out = append(out, r.view.Names(abs)...)
		}
	}
	r.owned = out
	return out
}

// Own returns the directory of accessc's own files that a canonical path lies in or around, empty for none.
func (r *Result) Own(abs string) string { return meets(r.own(r.Resolver), abs) }

// meets returns the first of some directories that a path lies in or around, empty for none.
func meets(dirs []string, path string) string {
	for _, dir := range dirs {
		_, inside := resolve.Below(path, dir)
		if _, around := resolve.Below(dir, path); inside || around {
			return dir
		}
	}
	return ""
}
