// Package irjson is the canonical text form of a compiled policy: JSON with a
// format version, byte-identical for equal values across runs and machines.
//
// It stands beside package ir because encoding/json reaches os through fmt, and
// ir reaches nothing that does I/O. Reading refuses unknown fields and newer
// versions: a reader that skipped what it does not know would answer questions
// about another policy than the one that was written.
package irjson
