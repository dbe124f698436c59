// Package start is the loader: it applies a resolved specification to its own process and
// becomes the tool, on macOS by way of sandbox-exec(1); on Windows it starts the tool in a job
// and an AppContainer and stays with it.
//
// It fails closed. Any part of the sandbox that cannot be applied stops the start, requirements
// that this host does not meet must be accepted by name, and after everything is applied a
// canary must be denied before the tool runs. Where nothing needs supervising the process
// replaces itself (execve(2)), so signals, job control, exit status and resource use are the
// tool's own. Otherwise it starts the tool as a child and supervises it (package supervisor).
//
// On Linux a start is one walk: starting_linux.go has it, and each part is a type with the run (run_linux.go) and the
// parts that it needs, in a file of its name. Calls run down this list:
//
//	start, plan     the request of a process that becomes the tool or stays for it, or of one that starts many
//	wrapped         a start by bubblewrap, which goes another way
//	starting        the walk
//	records         what is written about the run: outputs, record, refusals
//	supervision     the supervisor, the egress proxy and the user who is asked
//	remains         the home and the directories, and the sweeper that outlives the run
//	confinement     the ruleset and the filter (package seccomp)
//	program         the command with its environment
//	limits          the cgroup, what each process gets, and the time
//	run             identity and directories
//	settled         the terms between the specification and this host
//	sweep, request  what the others rest on
//
// On Windows changes are what a run makes on the system and takes back, and tool is its process in a job. On macOS
// profileStart does all, on a system that tests can put in its place.
//
// The package is imported by the early start of the command and must stay light: no TOML, no
// templates, no command-line parser, no network.
//
// Not enforced here: what a process outside of the sandbox does to files, and cells of the
// ledger that are not enforced.
package start
