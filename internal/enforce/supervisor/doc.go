// Package supervisor is the supervisor of a confined tool. The tool runs under a Landlock
// ruleset that grants less than the policy wherever it cannot grant it exactly. The calls that
// a specification traps reach the supervisor through seccomp user notification
// (seccomp_unotify(2)). The supervisor copies their arguments once, resolves paths by itself,
// asks ir.View.Decide, carries out the granted calls on descriptors that it holds, and hands
// the result over.
//
// The invariant that makes this safe: a call is either answered by the supervisor, from its own
// copy of the arguments, or continued in the kernel, where the ruleset bounds it. Calls that
// the ruleset does not bound (metadata, moves, sockets) are never continued. So the tool gains
// nothing by changing its memory, its descriptors or its links while a call is pending. When
// the supervisor dies the kernel kills the tool, and its remaining processes get ENOSYS from
// every trapped call.
//
// A call consists of the thread that makes it (caller), a resolver of the paths that this
// thread sees, and the latest judgement, which carries the operation and the verdict of the
// policy (judge). Types that embed a call answer one kind of calls each, such as opens, moves,
// programs and sockets; table_linux.go says which.
//
// For a process that has restricted itself by Landlock the supervisor acts under the same
// rulesets; see domain. Such a process is never handed anything that Landlock would not check
// for it, such as a file without a path.
//
// A start that the policy grants and the ruleset lacks becomes the start of a copy in memory:
// the copy has the contents of a file that the tool may read, and the supervisor inspects the
// new program before it runs.
//
// The supervisor has the user's rights and no capability: like the tool it loses the
// capabilities that bypass permissions as root.
//
// Not enforced here: what a process outside of the sandbox does to files between judgement and
// act, beyond that the supervisor acts on the very file that it judged. A socket that the
// supervisor connected shows the supervisor's process to its peer (SO_PEERCRED).
package supervisor
