// Command cases checks that a running system enforces policies: each case is a policy, the
// files that it is about, and operations with the answer that each must get. A tool under the
// policy, started by accessc exec, tries them for real.
//
//	go run ./test/conformance [-v] [NAME...]
//
// The same files are run on every system. On Linux a test does so; on macOS and Windows they
// have not been run yet, so rows of their ledgers name the cases that will settle them
// (build.CasesOf). docs/platforms/cases.md has the format.
package main
