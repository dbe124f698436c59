package compiler

import "github.com/accessc/accessc/compiler/source"

// enabled is what the layers say of a tool's enable. Who hosts the tool decides what it
// means in full; here it tells for which tools a grant to every tool is meant.
type enabled uint8

const (
	unsaid enabled = iota
	on
	off
)

// read takes over what a layer says. Only true, "on" and "always" enable: "explicit" is
// a tool that nobody asked for yet, and what is not known is not granted anything.
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

// over returns what e says, or what the defaults say where it says nothing.
func (e enabled) over(defaults enabled) enabled {
	if e == unsaid {
		return defaults
	}
	return e
}

func (r *Result) disable(tool string) {
	if r.disabled == nil {
		r.disabled = map[string]bool{}
	}
	r.disabled[tool] = true
}

// Enabled reports whether a tool is enabled without being asked for by name.
func (r *Result) Enabled(tool string) bool { return !r.disabled[tool] }
