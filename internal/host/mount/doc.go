// Package mount lets tools reach a directory or file beside the workspace, and undoes that: the
// symlink, the approval of its target, and the grants in the local layer, all of it or nothing.
//
// Every run is planned first. A plan has passed every check, up to compiling the resulting
// configuration, before anything is changed. Carrying it out keeps a journal, and an error or
// an interruption undoes the steps so far.
//
// Another process may swap directories of the workspace for symlinks meanwhile. No component of
// a name is followed: each directory is opened below the directory before, compared with the
// directory that was checked, and kept open; links and files are made relative to it. So
// nothing is made outside of the directories that were checked.
package mount
