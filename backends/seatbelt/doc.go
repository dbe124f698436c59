// Package seatbelt compiles a policy into a profile of the macOS sandbox, in the profile
// language that /usr/bin/sandbox-exec reads.
//
// The invariant is that the text means the same under every reading of it. Which of two rules
// wins in a profile depends on whether they name an operation or a family of operations, on
// whether they carry a filter, and only then on their order; two published measurements of that
// do not even agree. So in the part that a policy decides, the profile names leaf operations,
// and of the families file-write* alone, gives each place an allow and a deny that together name
// all of them with the same filters, denies the family before its leaves, goes from shallow to deep, and writes no rule without a filter behind one with a
// filter. Then "the last match wins", "the named operation wins" and the naive reading agree,
// and the evaluator of test/sbpl, which reads the emitted text by two of them, treats a
// disagreement as an error.
//
// Not enforced by these means: arguments and environments of programs, host names, schemes and
// paths of connections, escalation by moving files, and the limits on resources. Each has its
// row in the ledger, with the reason. Other known gaps are in docs/platforms/macos.md; nothing
// here has been run on a Mac.
package seatbelt
