// Package ir is the typed model of a compiled policy and its only evaluator: tools, rules
// with the place that wrote each of their fields, the region tree of a filesystem policy, the
// decision functions and the vocabulary of the enforcement ledger.
//
// Invariants. Nothing here performs I/O: the package imports no os, no fmt and no configuration
// format, so a decision depends only on its arguments. View.Decide is the only place in
// this repository that answers "may this happen"; explain, can, the policy tests, every
// backend's self-check and the loader ask it. Every zero value means "denied", "unset" or "not
// enforced", never "allowed".
//
// The package does not look at the disk. Callers turn a path as typed into a Place (package
// compiler/resolve) before they ask, and a verdict is about that place, not about the spelling.
package ir
