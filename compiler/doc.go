// Package compiler is the front end. It turns layers of configuration into a typed and
// validated policy, or reports every problem at once.
//
// Compile reads the layers (source), joins them by the merge laws (merge), checks their
// content, turns paths, hosts and programs into canonical forms (resolve) and builds the model
// that the rest of the program works on (ir). It writes nothing. A program is returned only
// when no finding stops the run; there is no partial policy.
package compiler
