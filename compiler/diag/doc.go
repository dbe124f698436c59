// Package diag defines the compiler's diagnostics and their output formats. A diagnostic names
// the problem, the place where it was written, the found and the expected text, and a
// correction.
//
// Messages follow four rules: one idea per line, lower case, no full stop; the first line names
// the rule that was broken, the caret marks the text that broke it, the hint gives the
// correction. Every problem of a run is reported at once, sorted by place. The content of a
// configuration file is never trusted to be printable.
package diag
