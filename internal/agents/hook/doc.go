// Package hook answers the hooks by which agents ask before they use a tool. Each agent has its own
// form of event and answer, in a package of its own; all of them are judged by one judge.
//
// A command that is not refused is rewritten, where the agent lets a hook do so, to run under the
// policy that it was judged by: the kernel then enforces the policy where the judge could not see.
// Every failure refuses the use of a tool: an event that cannot be read, a policy that does not
// compile, an answer that comes too late.
package hook
