// Package landlock compiles a policy into a specification of Linux means: a
// Landlock ruleset, a seccomp filter, and what has to stand beside them.
//
// The invariant is the floor: the emitted ruleset under-approximates the policy.
// Landlock can only add rights down a tree, so a right is granted on a directory
// only where no rule below takes it away; elsewhere the specification asks the
// loader to grant it on the existing entries, all but the exceptions. What the
// floor withholds although the policy grants it is stated in the ledger, never
// granted by approximation.
//
// Not held by these means: existence, size, times and mode of files (Landlock has
// no right for stat), and everything that the policy language does not speak of,
// such as System V IPC. Facts about the kernel are from Documentation/userspace-api/
// landlock.rst and from measurements on the levels that the table in rights.go lists.
package landlock
