// Package compiler is the front end: layers of configuration in, a typed and
// validated policy and every problem at once out.
//
// Compile reads the layers (source), joins them by the merge laws (merge), checks
// what each says, turns paths, hosts and programs into canonical forms (resolve)
// and builds the model that everything behind it works on (ir). It writes nothing.
// A program is returned only when no finding stops the run; there is no partial
// policy.
package compiler
