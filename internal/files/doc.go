// Package files is the room of reading and writing files on a disk that other programs change meanwhile: bounded
// reads, locks that end with their process, files that are replaced whole or not at all, removal of trees, and which
// file systems are the kernel's own.
//
// Every room may call it. It knows nothing of policies.
package files
