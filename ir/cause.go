package ir

import "strings"

// CauseID identifies why a cell is not exact, or what an exact cell rests on, as
// BACKEND.NAME. The backend that states a cause has the sentence for it
// (backends.Sentences).
type CauseID string

// Cause is a cause with the parts that its sentence names.
type Cause struct {
	ID CauseID // selects the sentence
	// Place is a path or the identifier of a rule, empty for most causes.
	Place string
	// Caps are capabilities, empty for most causes.
	Caps CapSet
}

// String returns the form that documents have: the identifier, and in parentheses the
// capabilities and the place where there are any.
func (c Cause) String() string {
	if c.Place == "" && c.Caps == 0 {
		return string(c.ID)
	}
	caps := ""
	if c.Caps != 0 {
		caps = c.Caps.String()
	}
	return string(c.ID) + "(" + caps + ": " + c.Place + ")"
}

// ParseCause is the inverse of Cause.String.
func ParseCause(s string) (Cause, bool) {
	id, parts, ok := strings.Cut(s, "(")
	if !ok {
		return Cause{ID: CauseID(s)}, s != ""
	}
	parts, closed := strings.CutSuffix(parts, ")")
	caps, place, ok := strings.Cut(parts, ": ")
	if !ok || !closed || id == "" {
		return Cause{}, false
	}
	c := Cause{ID: CauseID(id), Place: place}
	for _, word := range strings.Fields(caps) {
		one, ok := ParseCapability(word)
		if !ok {
			return Cause{}, false
		}
		c.Caps |= Caps(one)
	}
	return c, true
}
