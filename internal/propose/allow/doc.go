// Package allow plans additions to a layer that permit operations of a tool: the rule in the
// spelling of the file, its reach beyond these operations, and the proof that it permits the
// operations and nothing sensitive or protected.
//
// Each stage is a type, and knows only those before it: Policy answers what the configuration permits, and reads
// operations as needs (needs.go); Bounds has the reasons for proposing nothing (bounds.go); candidates decides on which
// directory a rule is proposed (directories.go); selection, which candidates go together (lesson.go); draft finds their
// rules (draft.go), writer puts them into the text of the layer (text.go), and Planner proves the result (planner.go).
package allow
