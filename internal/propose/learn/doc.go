// Package learn keeps the operations that runs of a tool used and that were refused, and puts several
// runs together, for proposals of rules. It decides nothing: package allow answers how a policy judges
// the recorded operations, and which rules would permit them.
package learn
