// Package diag is how the compiler speaks: a diagnostic says what is wrong, where
// it was written, what was found and expected, and what to write instead.
//
// The rules of its voice: one idea per line, lower case, no full stop; the first
// line says what rule was broken, the caret says what broke it, the hint says
// what to do. Every problem of a run is reported at once, sorted by place. What a
// configuration file contains is never trusted to be printable.
package diag
