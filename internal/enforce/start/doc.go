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
// The package is imported by the early start of the command and must stay light: no TOML, no
// templates, no command-line parser, no network.
//
// Not enforced here: what a process outside of the sandbox does to files, and cells of the
// ledger that are not enforced.
package start
