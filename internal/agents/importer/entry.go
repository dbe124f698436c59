package importer

import (
	"fmt"
)

// Fate tells whether an entry of the settings carried over.
type Fate uint8

// The fates. An entry without one is a mistake of a reader.
const (
	// Carried over: the result permits the same.
	Carried Fate = iota + 1
	// Narrowed: the result permits less.
	Narrowed
	// DeniedInPart: the settings deny more of it. The rest is left to a person.
	DeniedInPart
	// LeftOut: the result says nothing about it.
	LeftOut
)

// String returns the word that reports use.
func (f Fate) String() string {
	return [...]string{"unread", "carried over", "narrowed", "denied in part", "left out"}[f]
}

// Entry is a part of the settings, and its fate.
type Entry struct {
	// File, Line and Col are its place.
	File      string
	Line, Col int
	// Key is its path in the document, Text its value as far as that is shown.
	Key, Text string
	Fate      Fate
	// Why says where it was carried to, or why not.
	Why string
}

// Place is where the entry stands.
func (e *Entry) Place() string { return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col) }

// Become sets the fate. An entry that was narrowed, or denied in part, stays so.
func (e *Entry) Become(f Fate, format string, args ...any) {
	if e.Fate < f {
		e.Fate, e.Why = f, fmt.Sprintf(format, args...)
	}
}
