// Package denial records the operations that a tool was refused: one record per refused
// operation, for programs as a line of JSON, for people as a short summary, with the rule that
// decided and the configuration that would permit it.
//
// It decides nothing: a record carries the verdict of ir.View.Decide, and Decide has confirmed
// the configuration that a record proposes. Refusals that the kernel makes on its own are not
// recorded.
//
// The supervisor writes records; commands, seats and package allow read them (package recorded has the accesses of a
// run, package evidencelog the chained log of all that was judged). Every room above may call it.
package denial
