//go:build !unix

package tool

// directoryFlag is not needed here: reading the entries of a file fails.
const directoryFlag = 0
