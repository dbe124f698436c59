package lsm

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// Model evaluates an emitted specification the way the kernel does, so that the text can be
// compared with the policy that it was compiled from. It follows the measured rights matrix of
// the package comment.
type Model struct {
	spec    *landlock.Spec
	abi     int
	handled uint64
	kind    func(path string) ir.NodeKind
	grants  []grant
}

// grant is a path of the specification as a loader applies it.
type grant struct {
	path    string
	mask    uint64
	entries *landlock.Entries
}

// NewModel prepares a specification for questions at one ABI version. kind returns the kind of
// node at a path when the tool started.
func NewModel(s *landlock.Spec, abi int, kind func(path string) ir.NodeKind) *Model {
	m := &Model{spec: s, abi: abi, handled: landlock.Handled(s.Levels, abi).FS, kind: kind}
	for _, p := range s.Paths {
		k := kind(p.Path)
		if k == ir.Absent {
			continue
		}
		g := grant{strings.TrimSuffix(p.Path, "/"), landlock.FSMask(p.Access) & m.handled, p.Entries}
		if k != ir.Dir {
			g.mask &= landlock.FileMask
		}
		m.grants = append(m.grants, g)
	}
	return m
}

// rights returns the rights that reach a path from the directories above it and,
// where it existed at the start, from rules on itself.
func (m *Model) rights(path string) uint64 {
	var out uint64
	for i := range m.grants {
		if g := &m.grants[i]; m.reaches(g, path) {
			out |= g.mask
		}
	}
	return out
}

// reaches reports whether a grant reaches a path: always below a directory, and
// through an entry only where that entry existed and is no exception.
func (m *Model) reaches(g *grant, path string) bool {
	if g.entries == nil && path == g.path {
		return true
	}
	if len(path) <= len(g.path) || path[len(g.path)] != '/' || path[:len(g.path)] != g.path {
		return false
	}
	if g.entries == nil {
		return true
	}
	first, _, _ := strings.Cut(path[len(g.path)+1:], "/")
	return !slices.Contains(g.entries.Except, first) && m.kind(g.path+"/"+first) != ir.Absent
}

func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

func (m *Model) has(path string, rs ...landlock.Right) bool {
	want := landlock.FSMask(rs) & m.handled
	return m.rights(path)&want == want
}

// Read reports whether a file can be opened for reading, or a directory be listed.
func (m *Model) Read(path string, kind ir.NodeKind) bool {
	if kind == ir.Dir {
		return m.has(path, landlock.ReadDir)
	}
	return m.has(path, landlock.ReadFile)
}

// Update reports whether an existing file can be opened for writing and truncated.
func (m *Model) Update(path string) bool { return m.has(path, landlock.WriteFile, landlock.Truncate) }

// Create reports whether a new name can be made and, for a file, be filled.
func (m *Model) Create(path string, kind ir.NodeKind) bool {
	dir := parentOf(path)
	if kind == ir.Dir {
		return m.has(dir, landlock.MakeDir)
	}
	return m.has(dir, landlock.MakeReg, landlock.WriteFile)
}

// Make reports whether a name of a kind that needs one right, such as a symlink, can
// be made.
func (m *Model) Make(path string, r landlock.Right) bool { return m.has(parentOf(path), r) }

// Delete reports whether a name can be removed.
func (m *Model) Delete(path string, kind ir.NodeKind) bool {
	if kind == ir.Dir {
		return m.has(parentOf(path), landlock.RemoveDir)
	}
	return m.has(parentOf(path), landlock.RemoveFile)
}

// Execute reports whether a file can be started. Listed programs are granted on
// their own files.
func (m *Model) Execute(path string) bool {
	if m.spec.Programs != nil {
		return slices.ContainsFunc(m.spec.Programs, func(p landlock.Program) bool { return p.File == path }) && m.has(path, landlock.ReadFile)
	}
	return m.has(path, landlock.Execute, landlock.ReadFile)
}

// Rename reports whether a name can be moved over whatever is at dst.
func (m *Model) Rename(src, dst string, srcKind, dstKind ir.NodeKind) bool {
	remove, produce := landlock.RemoveFile, landlock.MakeReg
	if srcKind == ir.Dir {
		remove, produce = landlock.RemoveDir, landlock.MakeDir
	}
	from, to := parentOf(src), parentOf(dst)
	if !m.has(from, remove) || !m.has(to, produce) {
		return false
	}
	if dstKind != ir.Absent && !m.Delete(dst, dstKind) {
		return false
	}
	return from == to || m.refer(src, dst, srcKind)
}

// Link reports whether a file can get a further name.
func (m *Model) Link(src, dst string) bool {
	if m.Refuses("linkat") || !m.has(parentOf(dst), landlock.MakeReg) {
		return false
	}
	return parentOf(src) == parentOf(dst) || m.refer(src, dst, ir.File)
}

// refer is the kernel's condition for crossing directories: REFER on both, and no
// right at the new place that the object did not have at the old one.
func (m *Model) refer(src, dst string, kind ir.NodeKind) bool {
	if m.abi < 2 || !m.has(parentOf(src), landlock.Refer) || !m.has(parentOf(dst), landlock.Refer) {
		return false
	}
	matters := m.handled
	if kind != ir.Dir {
		matters &= landlock.FileMask
	}
	return m.rights(parentOf(dst))&^m.rights(src)&matters == 0
}

// Refuses reports whether the filter makes every call of a name fail.
func (m *Model) Refuses(syscall string) bool {
	return slices.ContainsFunc(m.spec.Filter, func(b landlock.Block) bool {
		return len(b.When) == 0 && b.Applies(m.abi) && slices.Contains(b.Syscalls, syscall)
	})
}
