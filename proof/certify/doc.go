// Package certify writes certificates of builds: for each artifact the classes of questions on which the policy and the
// artifact are constant, with the answers of both, and the rows of the ledger that state each difference.
//
// The policy's answers are those of ir.View.Decide, the artifact's those of the checker's model of its text. The
// checker (package check) has an evaluator of policies of its own, and believes neither. A difference that no row
// states is an error: nothing is certified then.
package certify
