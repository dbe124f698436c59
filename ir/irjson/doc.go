// Package irjson is the canonical text form of a compiled policy: JSON with a format version,
// byte-identical for equal values across runs and machines.
//
// It is separate from package ir because encoding/json imports os through fmt, and ir imports
// nothing that does I/O. Reading refuses unknown fields and newer versions: a reader that
// skipped them would answer questions about another policy than was written.
// See decision D97.
package irjson
