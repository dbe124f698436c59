// Package landlockconfig has what the project knows of landlockconfig 0.1.0 (github.com/landlock-lsm/landlockconfig),
// the format of Landlock's own maintainers: its configurations, which it reads, evaluates and writes, for hosts that
// start tools by its llconfig or its library instead of by accessc exec.
//
// The invariant is that a configuration which it writes grants no right on a file that the policy denies. A
// right goes down a tree and cannot be taken away there, and a configuration cannot name the
// entries of a directory: so a right is granted on a directory only where no rule below takes it
// away, and nowhere in the directory otherwise. Rights that are withheld, and all that Landlock's
// first six versions do not know, are rows of the ledger.
//
// Roots of the portable form are variables of the configuration without a text. landlockconfig
// passes over rules whose variables have none, so a root that its user forgets is closed. Not
// enforced by these means: the names of hosts, the environment, arguments, limits, metadata.
// See decision D263.
package landlockconfig
