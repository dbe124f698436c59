package ir

import "strings"

// Capability is a thing that a filesystem rule can grant. The zero value is
// no capability.
type Capability uint8

// The five atomic capabilities, in the order in which they are always listed.
const (
	// Read covers file contents and directory listings. Existence, size, times,
	// mode, link targets and extended attributes are not protected.
	Read Capability = iota + 1
	// Create covers new names: file, directory, symlink, hard link, socket, fifo.
	Create
	// Update covers the contents, truncation and metadata of existing files.
	Update
	// Delete covers removing a name.
	Delete
	// Execute covers the kernel starting that very file as a program.
	Execute
)

// Capabilities lists every capability in canonical order.
var Capabilities = [...]Capability{Read, Create, Update, Delete, Execute}

// String returns the configuration key of c.
func (c Capability) String() string {
	switch c {
	case Read:
		return "read"
	case Create:
		return "create"
	case Update:
		return "update"
	case Delete:
		return "delete"
	case Execute:
		return "execute"
	default:
		return "none"
	}
}

// ParseCapability returns the capability with the given configuration key.
func ParseCapability(s string) (Capability, bool) {
	for _, c := range Capabilities {
		if c.String() == s {
			return c, true
		}
	}
	return 0, false
}

// CapSet is a set of capabilities. The zero value grants nothing.
type CapSet uint8

// Sets that have a name in the configuration or recur in the backends.
const (
	// Write is the alias "write".
	Write = CapSet(1<<Create | 1<<Update | 1<<Delete)
	// All is every capability.
	All = Write | CapSet(1<<Read|1<<Execute)
	// FileCaps are the capabilities that matter for a regular file that is moved
	// or linked: names are created and deleted in its directory, not in it.
	FileCaps = CapSet(1<<Read | 1<<Update | 1<<Execute)
)

// Caps returns the set of the given capabilities.
func Caps(cs ...Capability) CapSet {
	var s CapSet
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// Has reports whether c is in s.
func (s CapSet) Has(c Capability) bool { return c != 0 && s&(1<<c) != 0 }

// Contains reports whether every capability of t is in s.
func (s CapSet) Contains(t CapSet) bool { return t&^s == 0 }

// With returns s with c added.
func (s CapSet) With(c Capability) CapSet { return s | 1<<c }

// Without returns s with c taken away.
func (s CapSet) Without(c Capability) CapSet { return s &^ (1 << c) }

// List returns the members of s in canonical order.
func (s CapSet) List() []Capability {
	out := make([]Capability, 0, len(Capabilities))
	for _, c := range Capabilities {
		if s.Has(c) {
			out = append(out, c)
		}
	}
	return out
}

// String lists the members of s separated by blanks, or a dash for the empty set.
func (s CapSet) String() string {
	if s == 0 {
		return "–"
	}
	names := make([]string, 0, len(Capabilities))
	for _, c := range s.List() {
		names = append(names, c.String())
	}
	return strings.Join(names, " ")
}
