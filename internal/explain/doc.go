// Package explain turns policies, verdicts and ledgers into what people read, and
// into the same as JSON. It computes nothing that the model has not decided: every
// line is a view of ir values.
package explain
