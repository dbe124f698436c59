// Package sandbox starts the tools of AI agents from a Go program, the host, each under its policy.
//
// A [Host] has the policies of a workspace, compiled once. Its methods have the shapes of package
// os/exec: [Host.Command] returns a [Cmd] that is run once, [Host.Start] starts a [Request] and
// returns a [Process].
//
//	host, err := sandbox.Open(sandbox.Config{Dir: "/path/to/workspace"})
//	if err != nil {
//		return err
//	}
//	defer host.Close()
//	out, err := host.Command("grep", "main", "src/a").Output()
//
// A start fails closed: an error means that the tool has not run and that nothing is left of it. A
// requirement of the policy that this system does not meet is such an error, unless its gap is
// accepted by name. Only with [ErrSupervisorEnded] the tool may have run for a moment, under its policy. The
// package changes neither the host's working directory, its descriptors nor its limits.
//
// # Processes
//
// On Linux a tool that the kernel confines alone is a child of the host, without a process of accessc in
// between. All others are children of one helper process, which answers their calls. The helper also
// removes the temporary directories if the host is killed. If host or helper end, so do the tools.
//
// The helper is the host's own program, started again as /proc/self/exe: package initialisation takes
// it over before main. Packages that this one does not import may be initialised before, in the order
// of their paths, so an init function should start nothing. On macOS and Windows the same way starts
// each tool.
//
// On Linux a host changes its user, groups and capabilities, and installs seccomp filters, before its first
// start: the threads that start tools have no capabilities, and filters of their own. If a host of root calls
// syscall.Setuid, Setgid, Setgroups or the like later, these threads are refused what the others are granted, and
// Go's runtime or the C library ends the program; a filter for all threads is refused.
//
// A program with more rights than its caller, by a set-user-ID or set-group-ID bit or by file capabilities,
// can be no host: [Open] refuses with [ErrElevated], and the program starts as nothing but itself.
//
// A tool gets three standard descriptors and no others, whatever the host has open. A host that waits
// for all of its children (wait4 with -1) takes the ends of tools away, as from os/exec.
//
// # What is not enforced
//
// The tool is confined as by accessc exec, with the same gaps; see docs/hosts.md and SECURITY.md.
package sandbox
