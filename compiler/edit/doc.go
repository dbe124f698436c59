// Package edit adds items to the lists of a TOML document, takes them out, and adds keys; it leaves every
// other byte as it is: comments, order, blank lines, line endings.
//
// A list may be written as [[headers]], as an array, in a table of its own or inside of an
// inline table; the edit keeps the existing form. Nothing is decoded and written again: the
// document is read for the positions of its values, and bytes are inserted or left out there.
// Before a result is returned, it is parsed and compared with the intended content, so a
// document that the package does not understand is an error and never a different document.
package edit
