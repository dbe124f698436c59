// Package learn records runs of a tool, keeps the operations that they used and that they were refused, and finds with
// package allow the rules that all kept runs need: a Session is a tool whose runs are learned from, Learned what follows
// from them, as a patch, a summary, a document and a page. How a policy judges an operation, and which rule permits it,
// package allow answers.
package learn
