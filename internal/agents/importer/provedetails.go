package importer

import (
	"fmt"
	"net/netip"
	"path"
	"slices"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/ir"
)

// detailed asks about operations that only some policies tell apart: moving files between any two of the places
// that either side names, and listening.
func (c *check) detailed() error {
	policy, ok := c.policy.(foreign.Detailed)
	if !ok {
		return nil
	}
	var nodes []string
	for _, root := range c.view.Roots() {
		if root.Kind != ir.System {
			c.regions(c.view.Regions(root), &nodes)
		}
	}
	for _, abs := range c.marks.Paths {
		if c.Location(abs).Root.Kind != ir.System {
			nodes = append(nodes, abs)
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for _, a := range nodes {
		for _, b := range nodes {
			if err := c.Moves(policy, path.Join(a, "zz-from"), path.Join(b, "zz-to")); err != nil {
				return err
			}
		}
	}
	return c.Listens(policy)
}

// starts asks about every program that the settings name.
func (c *check) starts() error {
	policy, ok := c.policy.(foreign.Starter)
	if !ok {
		return nil
	}
	for _, name := range append([]string{"zz-any-name"}, c.marks.Programs...) {
		file := ir.Direct(ir.Sys("usr/bin/" + name))
		if c.view.Decide(ir.Run{Program: name, File: &file}).Allowed() && !policy.Starts(name) {
			return &wider{what: fmt.Sprintf("the rules would permit to start %s, and the settings do not", name)}
		}
	}
	return nil
}

// Moves asks about a file, a directory and a hard link.
func (c *check) Moves(policy foreign.Detailed, from, to string) error {
	src, dst := ir.Direct(c.Location(from)), ir.Direct(c.Location(to))
	for _, one := range []struct {
		what string
		op   ir.Operation
		dir  bool
	}{
		{"move a file from", ir.Rename{Src: src, Dst: dst, SrcKind: ir.File}, false},
		{"move a directory from", ir.Rename{Src: src, Dst: dst, SrcKind: ir.Dir}, true},
		{"link a file from", ir.Link{Src: src, Dst: dst}, false},
	} {
		c.proof.Files++
		if c.view.Decide(one.op).Allowed() && !policy.Moves(from, to, one.dir) {
			return &wider{what: fmt.Sprintf("the rules would permit to %s %s to %s, and the settings do not", one.what,
				from, to)}
		}
	}
	return nil
}

// Listens asks about every port that either side names, also whether the tool may connect there.
func (c *check) Listens(policy foreign.Detailed) error {
	ports := append([]uint16{0, 9, 80, 8080, 65535}, c.marks.Ports...)
	for _, r := range c.view.Tool.Net {
		ports = append(ports, r.Port)
	}
	for _, addr := range []string{"127.0.0.1", "0.0.0.0", "10.0.0.1"} {
		host := ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(addr)}
		for _, port := range Without(ports) {
			c.proof.Hosts++
			if c.view.Decide(ir.Listen{Host: host, Port: port}).Allowed() && !policy.Listens(port) {
				return &wider{what: fmt.Sprintf("the rules would permit to listen at %s port %d, and the settings do not", addr, port)}
			}
			to := ir.Endpoint{Scheme: ir.Stream, Host: host, Port: port}
			if c.view.Decide(ir.Connect{To: to, Own: true}).Allowed() && !policy.Connects(addr, port) {
				return &wider{what: fmt.Sprintf("the rules would permit to connect to %s port %d, where the tool itself listens, and the settings do not", addr, port)}
			}
		}
	}
	return nil
}

// Permits asks a policy about a capability on a place.
func Permits(p foreign.Policy, cap ir.Capability, abs string) bool {
	switch detailed, ok := p.(foreign.Detailed); {
	case ok:
		return detailed.Permits(cap.String(), abs)
	case cap == ir.Read || cap == ir.Execute:
		return p.Reads(abs)
	}
	return p.Writes(abs)
}
