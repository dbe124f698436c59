// Command cases checks that a running system enforces policies: each case is a policy, the
// files that it is about, and operations with the answer that each must get. A tool under the
// policy, started by accessc exec, tries them for real.
//
//	go run ./test/conformance [-v] [NAME...]
//
// The same files are run on every system. On Linux a test does so; on macOS and Windows they
// have not been run yet, so rows of their ledgers name the cases that will settle them
// (build.CasesOf).
//
// # Format
//
// A txtar archive in files. Its comment states the question.
//
//	accessc.toml   the policy of the tool probe; $PROBE is its program, $PORT a port of 127.0.0.1 with a listener,
//	               $OTHER one without, and in do $SIBLING the process of another run of the same tool, $RUNNER one
//	               without a policy
//	do             the operations, one per line, tried in this order
//	accept         gaps to accept, as --accept takes them
//	any other      is laid out in the workspace; a name that ends in / is a directory, one in .sock a socket with a
//	               listener, a file that begins with #! can be started; one in .exe is the tool's own program
//
// A line of do is an expectation and an operation. allow and deny are answers that it must get: those that a row of
// the ledger claims. report asks where a row holds under either answer. A comment above it, beginning with
// "# reported for fs.read: ", names the row (or "no row") and says what each answer changes; answer and comment are in
// the note of the result.
// Lines of do and accept may begin with the systems that they are for: "linux,darwin: deny …".
//
//	read F, list D                           contents
//	create F, mkdir D, symlink TO L          new names
//	update F, truncate F                     contents of an existing file
//	chmod F, touch F                         mode, times
//	delete P, rename P Q, link P Q           names
//	start F, run PROGRAM ARG                 programs
//	access D                                 access(2) with X_OK
//	works PROGRAM ARG                        that a program ends with 0
//	map F                                    mapping a file for execution, as the loader maps libraries
//	setid F, attrid F                        the set-user-ID bit, by chmod(2) or by setattrlist(2) of macOS
//	clone P Q                                a copy; on macOS by clonefile(2), of a directory as well
//	exchange P Q                             two names change places
//	connect HOST:PORT, listen HOST:PORT,
//	  dial SOCKET                            connections; a port without a listener counts as reached
//	env NAME                                 whether a variable was handed over
//	open F N                                 opening a file that often at once
//	signal, reach PID                        reaching the process outside, or another one
//	seen PID                                 the arguments and the environment of a process; on macOS kern.procargs2
//
// An operation is refused if the system reports no permission, another device for a move, or too many files for a
// limit; on Windows also a sharing violation, which the loader's hold on a rule's path is. Anything else is neither,
// and fails the case.
package main
