// Package signers says who may sign: it reads the files that name keys, and judges attestations by them.
//
// The files are the administrator's and the user's own (package userdir), and no layers: nothing that a
// repository contains, and no flag, is merged with them. Each of them is a condition of its own, so that a
// file can only take away from another. A file that cannot be read, or has a mistake, permits nothing.
package signers
