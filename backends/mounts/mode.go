package mounts

import "github.com/accessc/accessc/ir"

// Mode is the access that a mount gives to everything below it. The zero value is none.
type Mode uint8

// The modes, each of which gives more than the mode before.
const (
	Closed Mode = iota
	ReadOnly
	ReadWrite
)

// modeOf returns the narrowest mode with which a tool can do all that capabilities permit. The kernel
// opens a program for reading before it starts it, so execute by itself opens nothing.
func modeOf(c ir.CapSet) Mode {
	switch {
	case c&ir.Write != 0:
		return ReadWrite
	case c.Has(ir.Read):
		return ReadOnly
	default:
		return Closed
	}
}

// gives returns the capabilities that a mode gives. Without execution a program is only read.
func (m Mode) gives(noExec bool) ir.CapSet {
	var out ir.CapSet
	switch m {
	case Closed:
		return 0
	case ReadOnly:
		out = ir.Caps(ir.Read, ir.Execute)
	case ReadWrite:
		out = ir.All
	}
	if noExec {
		out = out.Without(ir.Execute)
	}
	return out
}
