// Package source finds the layers of a configuration, reads them and parses them
// into values that know where they were written.
//
// It is the only room that knows TOML. Everything in a file is parsed, so that a
// syntax error anywhere is found; what the compiler does not ask for is somebody
// else's and stays untouched. Reading refuses what is not a regular file of
// bounded size: a FIFO or a device in place of a layer must not hang the compiler.
package source
