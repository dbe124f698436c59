// Package learn keeps what runs of a tool used and were refused, and puts several runs together, for
// proposals of rules. It decides nothing: what the recorded operations mean to a policy, and which
// rules would permit them, is asked of package allow.
package learn
