// Command gate runs the tests over and over, to show that they say the same every time.
//
//	go run ./test/gate run [CONDITION[=TIMES]...]   the gate in a fresh clone, once or more under each condition
//	go run ./test/gate soak -for 2h [PACKAGE...]    random tests and races with fresh seeds, beside two busy loops
//	go run ./test/gate list                         the conditions
//
// Both work in a clone of what is committed and with caches of their own, and write tables into
// docs/testing.md. A soak brings back what its failures leave in testdata: the smallest case of a property,
// or a seed. The gate replays these first from then on; a named regression test is still to be written.
package main
