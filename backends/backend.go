// Package backends is the contract between the model and the systems: a backend turns a tool's
// policy and the facts of a target into one artifact and into the ledger that states, per rule
// and capability, how that system enforces it.
//
// A backend is a pure function. It reads no disk and asks no host, so every target can be
// compiled, reviewed and tested anywhere. Rules that a target cannot express become a ledger
// row or a refusal that names the rule; none is dropped silently. The list of backends is in
// package registry.
package backends

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// Form distinguishes artifacts for every host from those for one.
// See decision D22.
type Form uint8

// The forms.
const (
	// Portable artifacts name roots by symbol and contain no path of a user; they are committed
	// and reviewed.
	Portable Form = iota + 1
	// Resolved artifacts contain absolute canonical paths; the loader runs these.
	Resolved
)

// String returns the word that artifacts use.
func (f Form) String() string {
	switch f {
	case Portable:
		return "portable"
	case Resolved:
		return "resolved"
	default:
		return "none"
	}
}

// Target is the target of a compilation.
type Target struct {
	Form Form // how far the host is known
	// Facts describe the host of a resolved artifact and are zero for a portable one.
	Facts ir.Facts
	// Context is the text of the tool's Context; empty in a portable artifact.
	Context string
	// Image is true where the base is that of an image that nothing has looked at: any place of it
	// may be a symlink there.
	Image bool
	// Node returns the kind of the file at a place, as Place writes it, and the place that a symbolic link
	// there leads to: the place itself where there is none. It is nil where that is not known, as in a
	// portable artifact.
	Node func(place string) (kind ir.NodeKind, to string)
	// Known is a view of the tool that is compiled, for Facts, which a backend of its system need not make again; nil
	// for none.
	Known *ir.View
}

// View returns a view of a tool on a system of the target.
func (t Target) View(tool *ir.Tool, p ir.Platform) *ir.View {
	if t.Known != nil && t.Known.Tool == tool && t.Known.Platform == p {
		return t.Known
	}
	return ir.NewView(tool, p, t.Facts)
}

// Place writes a location for the target: absolute where it is bound, with the
// root's symbol otherwise.
func (t Target) Place(l ir.Location) string {
	if t.Form == Resolved && t.Facts.Bindings != nil {
		if abs, ok := t.Facts.Bindings.Path(l); ok {
			return abs
		}
	}
	return l.String()
}

// Output is the result of a backend for one tool.
type Output struct {
	// Data is the artifact, nil when the backend refused.
	Data []byte
	// Ledger states the enforcement of every rule and aspect where accessc starts the tool.
	Ledger ir.Ledger
	// Elsewhere states it where another program does. It is no part of a manifest, whose rows are
	// those that a start by accessc needs.
	Elsewhere ir.Ledger
	// Refusals are rules that cannot be written for the target at all.
	Refusals []Refusal
}

// Refusal is a rule that a target cannot even approximate. Rule is nil when the policy as a
// whole is refused.
type Refusal struct {
	Rule ir.Rule // nil when the policy as a whole is refused
	// TooMany distinguishes a policy over the target's size from one rule's form.
	TooMany bool
	// Why is the reason, for messages.
	Why string
}

// Backend compiles policies for one system.
type Backend interface {
	// Name is the name that --target takes.
	Name() string
	// File is the artifact's file name.
	File() string
	// Platform is the system; zero for artifacts that are for every system.
	Platform() ir.Platform
	// Compile is a pure function of its arguments.
	Compile(t *ir.Tool, target Target) (Output, error)
}

// Refuser is a backend that finds its refusals without the work for an artifact and its ledger.
// See decision D94.
type Refuser interface {
	// Refusals are those that Compile has for the same arguments.
	Refusals(t *ir.Tool, target Target) []Refusal
}

// Refusals returns those that a backend has for a tool.
func Refusals(b Backend, t *ir.Tool, target Target) ([]Refusal, error) {
	if r, ok := b.(Refuser); ok {
		return r.Refusals(t, target), nil
	}
	out, err := b.Compile(t, target)
	return out.Refusals, err
}

// ErrOlder is wrapped by errors about documents of an older version.
var ErrOlder = errors.New("written by an older accessc")

// CheckHeader refuses a document of another format or version than a program reads, and of no
// known form, before it reads the rest. Its errors wrap kind.
func CheckHeader(kind error, data []byte, format string, version int) error {
	f, v, form := strictjson.Header(data)
	switch {
	case f != format && !json.Valid(data):
		return nil // the reader says what is wrong with it
	case f != format:
		return fmt.Errorf("%w: format %q is not %q", kind, f, format)
	case v < version:
		return fmt.Errorf("%w: version %d, %w, and this one reads version %d; build it anew", kind, v, ErrOlder, version)
	case v > version:
		return fmt.Errorf("%w: version %d, written by a newer accessc, and this one reads version %d", kind, v, version)
	case form != Portable.String() && form != Resolved.String():
		return fmt.Errorf("%w: form %q", kind, form)
	}
	return nil
}
