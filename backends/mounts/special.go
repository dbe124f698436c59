package mounts

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Directories of the system in which a tool has files of its own.
const (
	devices   = "dev"
	processes = "proc"
)

// specialPath reports whether a path without its leading slash is in such a directory.
func specialPath(path string) bool {
	return ir.Within(path, devices) || ir.Within(path, processes)
}

func specialPlace(r *ir.Region) bool {
	return r.At.Root.Kind == ir.System && r.At.Path != "" && specialPath(r.At.Path)
}

// specialKind is the kind of the mount that shows a place of the base which is a device or a part of
// /proc.
func (p *Plan) specialKind(r *ir.Region) Kind {
	switch {
	case modeOf(r.Caps) == Closed:
		return Lead
	case ir.Within(r.At.Path, processes):
		return Processes
	case r.At.Path == ir.LinuxShared:
		return Memory
	case private(r.At.Path):
		return Devices
	default:
		return Device
	}
}

// private reports whether a path of /dev is about the tool's own terminals or descriptors.
func private(path string) bool {
	return path == ir.LinuxTerminal || path == ir.LinuxStandard || path == "dev/ptmx" || ir.Within(path, "dev/pts")
}

// special adds the mounts for the devices and /proc, which show more than one place of the base
// together.
func (p *Plan) special() {
	seen := map[Kind]bool{}
	var single []Mount
	for r, at := range p.laid {
		if !specialPlace(r) {
			continue
		}
		if seen[at.by] = true; at.by == Device {
			single = append(single, Mount{Kind: Device, Place: p.target.Place(r.At), Mode: at.want.mode, Node: ir.File})
		}
	}
	slices.SortFunc(single, func(a, b Mount) int { return strings.Compare(a.Place, b.Place) })
	if seen[Processes] {
		p.Mounts = append(p.Mounts, Mount{Kind: Processes, Place: "/" + processes, Node: ir.Dir})
	}
	if seen[Memory] {
		p.Mounts = append(p.Mounts, Mount{Kind: Memory, Place: "/" + ir.LinuxShared, Mode: ReadWrite, NoExec: true,
			Node: ir.Dir})
	}
	if seen[Devices] {
		p.Mounts = append(p.Mounts, Mount{Kind: Devices, Place: "/" + devices, Node: ir.Dir})
		single = nil
	}
	p.Mounts = append(p.Mounts, single...)
}
