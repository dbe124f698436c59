// Package explain renders policies, verdicts and ledgers as text and as JSON. It computes
// nothing that the model has not decided: every line is a view of ir values.
package explain
