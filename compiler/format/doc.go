// Package format lays out the text of a layer: spaces, indentation, blank lines and comments that stand behind values.
//
// It moves nothing and leaves keys, values and comments as they are written: the document is read for the positions of
// its keys and values, by the parser of package source, and what stands between them is written anew. Before a result
// is returned it is read again, and has the same keys, values and comments in the same order, so a document that the
// package does not understand is an error and never a different document.
package format
