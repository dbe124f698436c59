// Package enforce is the room that turns an artifact into a confined process. Package start applies an artifact and
// becomes the tool, supervisor answers the calls that the kernel cannot decide exactly, live holds grants that the
// user gives during a run, kerneltest puts a policy's own tests to the kernel, and attested compares what is about to
// be applied with what was signed. Package direct starts tools from artifacts without the configuration. Package
// resolved compiles the artifact of a tool for this host, and bundle puts it into a container.
//
// Commands, seats of agents (internal/gate) and the library for hosts (sandbox) call it. What starts knows no
// configuration: it applies what an artifact says, wholly or not at all. What a system cannot hold is the artifact's
// ledger to say.
package enforce
