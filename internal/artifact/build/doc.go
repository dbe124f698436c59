// Package build is the output of a build: every tool's artifacts, the manifest that lists and
// hashes them, and the directory that they are written to.
//
// Tools are compiled several at a time, and the files of a tool are staged before the next is
// begun. A directory is written completely or not at all: everything is staged beside its place
// first, a failed write leaves the old content, and equal files are not touched. Only files that
// an earlier manifest lists are ever removed. All paths are opened below the output directory
// without following symlinks out of it.
package build
