// Package supervisor is the supervisor of a confined tool. The Landlock ruleset that the
// tool runs under is the floor: it grants less than the policy wherever it cannot
// grant it exactly. The calls that a specification traps reach the broker through
// seccomp user notification (seccomp_unotify(2)). It copies their arguments once,
// resolves what they name by itself, asks ir.View.Decide, carries out what the policy
// grants on descriptors that it holds, and hands the result over.
//
// The invariant that makes this safe: a call is either answered by the broker, from
// its own copy of the arguments, or continued in the kernel, where the floor bounds
// it. What the floor does not bound (metadata, moves, sockets) is never continued. So
// nothing that the tool does to its memory, its descriptors or its links while a call
// is pending gains it anything. When the broker dies the tool is killed, and what is
// left of it gets ENOSYS from every trapped call.
//
// What the broker carries out for a process that has restricted itself by Landlock it
// carries out under the same rulesets; see domain. Whatever the kernel would not hold
// against them there, as a file without a place, is nothing to give to such a process.
//
// A start that the floor lacks and the policy grants becomes one of a copy in memory: it
// holds what the tool may read, and what a process has become is looked at before it runs.
//
// The broker has the user's rights and no capability: like the tool it loses what
// root would bypass.
//
// Not held here: what a process outside of the sandbox does to files in the moment
// between judgement and act, beyond that the act is on what was judged. A socket that
// the broker connected shows the broker's process to its peer (SO_PEERCRED).
package supervisor
