// Package seccomp makes the filter of a start: from the blocks and traps of a specification, on the terms of the
// start, to a program of the kernel (seccomp(2)).
//
// A program refuses every call that no group of the closed list allows. A call, constant or condition that the
// package does not know is an error, and stops the start.
//
// Not enforced here: what a supervisor answers to the calls that a program hands to it (package supervisor).
package seccomp
