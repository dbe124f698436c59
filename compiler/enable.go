package compiler

import "github.com/accessc/accessc/compiler/source"

// enabled is the value of a tool's enable. The host of the tool defines its full meaning; here
// it decides which tools a grant to every tool includes.
// See decision D10.
type enabled uint8

const (
	unsaid enabled = iota
	on
	off
)

// read takes over a layer's value. Only true, "on" and "always" enable: an "explicit" tool has
// not been requested yet, and unknown values are not granted anything.
func (e *enabled) read(t *source.Table) {
	v := t.Get("enable")
	if v == nil {
		return
	}
	*e = off
	if v.Kind == source.BoolKind && v.Bool || v.Kind == source.StringKind && (v.Text == "on" || v.Text == "always") {
		*e = on
	}
}

// over returns e, or the value of the defaults where e is unset.
func (e enabled) over(defaults enabled) enabled {
	if e == unsaid {
		return defaults
	}
	return e
}

// Enabled reports whether a tool is enabled without being asked for by name.
func (r *Result) Enabled(tool string) bool { return !r.disabled[tool] }
