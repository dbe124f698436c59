// Package mount lets tools reach a directory or file beside the workspace, and takes
// that back: the symlink, the approval of its target, and the grants in the local
// layer, all of it or nothing.
//
// What is to happen is planned first. A plan has passed every check, up to compiling
// the configuration as it would be, before anything is changed. Carrying it out keeps
// a journal, and an error or an interruption takes back what was done.
//
// The workspace may hold directories that somebody swaps for symlinks meanwhile. No
// component of a name is followed: each directory is opened below the one before,
// compared with what stood there, and held open; links and files are made relative to
// it. So nothing is made outside of the directories that were checked.
package mount
