// Package live holds the grants that the user gives a tool while it runs. A refused operation
// that the policy's list "may" covers waits here for an answer; a grant is in force from its
// answer until it is revoked or the tool ends.
//
// The package decides nothing: ir.Live holds the ceiling of the grants, and ir.View.Decide judges
// by the view that a Session hands out. A Session exchanges that view when a grant is given or
// revoked, and returns once no call is judged by the one before. So an operation that starts after
// a revocation was answered is refused.
package live
