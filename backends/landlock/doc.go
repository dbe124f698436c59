// Package landlock compiles a policy into a specification of Linux means: a Landlock ruleset, a
// seccomp filter, and their companions.
//
// The invariant is that the emitted ruleset under-approximates the policy. Landlock can only
// add rights down a tree, so a right is granted on a directory only where no rule below takes
// it away; a directory above an exception is expanded: the specification asks the loader to
// grant the right on the existing entries, all but the exceptions. Rights that the policy
// grants and the ruleset withholds are stated in the ledger, never granted by approximation.
//
// Not enforced by these means: existence, size, times and mode of files (Landlock has no right
// for stat), and everything outside of the policy language, such as System V IPC. Facts about
// the kernel are from Documentation/userspace-api/landlock.rst and from measurements on the
// levels that the table in rights.go lists.
package landlock
