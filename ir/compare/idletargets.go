package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// netSize returns the number of cells of targets.
func (c *comparison) netSize() int {
	return (len(c.old.Tool.Net) + 2) * c.grid().size() * len(all(c.paths()))
}

func all[T any, L comparable](t *tree[T, L]) []T {
	out := []T{t.item}
	for _, b := range t.below {
		out = append(out, all(b)...)
	}
	return out
}

func every[T any, L comparable](trees []*tree[T, L]) []T {
	var out []T
	for _, t := range trees {
		out = append(out, all(t)...)
	}
	return out
}

// targets are one of each cell of the partition of a resource.
func (c *comparison) targets(r ir.Resource) []ir.Operation {
	var out []ir.Operation
	switch r {
	case ir.FS:
		for _, t := range c.trees(func(ir.Root) bool { return true }) {
			for _, p := range flatten(t) {
				for _, need := range ir.Capabilities {
					out = append(out, ir.Access{Cap: need, On: ir.Direct(p.inside)})
				}
			}
		}
	case ir.Net:
		out = c.endpoints()
	case ir.Env:
		for _, v := range all(c.names()) {
			out = append(out, ir.Forward{Name: v.sample})
		}
	case ir.Commands:
		for _, r := range c.programs() {
			for _, w := range all(c.argumentLists(&r)) {
				out = append(out, ir.Run{Program: r.Program, Args: w.sample()})
			}
		}
	case ir.Limits, ir.Process:
	}
	return out
}

func (c *comparison) endpoints() []ir.Operation {
	n := &netPartition{comparison: c, paths: &pathTree{}}
	paths, grid := all(c.paths()), c.grid()
	out := c.listens()
	for _, h := range every(n.hosts()) {
		for i := range grid.size() {
			l := grid.at(i)
			for _, p := range paths {
				if op := l.to(h.sample, p); l.scheme != ir.Stream || l.method == "" && len(p) == 0 {
					out = append(out, op)
				}
			}
		}
	}
	return out
}

// subset is a tool without some rules and patterns of arguments. A list that was
// declared stays declared.
func subset(t *ir.Tool, list []Idle, gone []bool) *ir.Tool {
	out := *t
	drop := func(i, pattern int) bool {
		at := slices.IndexFunc(list, func(o Idle) bool { return o.Index == i && o.Pattern == pattern })
		return gone[at]
	}
	if len(list) == 0 {
		return &out
	}
	switch list[0].Resource {
	case ir.FS:
		out.FS = keep(t.FS, gone)
	case ir.Net:
		out.Net = keep(t.Net, gone)
	case ir.Env:
		out.Env = keep(t.Env, gone)
	case ir.Commands:
		set := *t.Commands
		set.Rules = nil
		for i, r := range t.Commands.Rules {
			if drop(i, -1) {
				continue
			}
			r.Args = nil
			for p, a := range t.Commands.Rules[i].Args {
				if !drop(i, p) {
					r.Args = append(r.Args, a)
				}
			}
			set.Rules = append(set.Rules, r)
		}
		out.Commands = &set
	case ir.Limits, ir.Process:
	}
	return &out
}

func keep[T any](list []T, gone []bool) []T {
	var out []T
	for i, x := range list {
		if !gone[i] {
			out = append(out, x)
		}
	}
	return out
}
