// Package source finds the layers of a configuration, reads them and parses them into values
// that know where they were written.
//
// It is the only package that knows TOML. Everything in a file is parsed, so that a syntax
// error anywhere is found; the compiler ignores tables that belong to other programs. Reading
// accepts only regular files of bounded size: a FIFO or a device in place of a layer must not
// hang the compiler.
package source
