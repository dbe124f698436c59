// Package undo keeps the originals of the files that a run changes, and brings them back.
//
// A Keeper writes a run's journal ahead of each change: what stood at a name before it was first made, removed or
// given to another file, and mode, owner, times, attributes and contents of a file before they first changed. Contents
// are a clone where the file system can share blocks, else a copy. A file that loses its name gets a further name in
// the directory of the run, if that is on the same file system. What cannot be kept must not be changed: the Keeper
// returns an error, and its caller refuses the call.
//
// The end of a run adds how it left these files (Print). That is how a later undo sees what others have changed since.
// A journal without an end belongs to a run that was killed.
//
// An undo is planned as a pure function of the journal and of what is on the disk (plan), and carried out through a
// Keeper of its own: so it is a run that can be undone, and one that fails or is killed on its way is taken back. It
// opens everything over no symlink and below the places of the journal only.
//
// Nothing is synced before a change: a journal outlives the death of any process, but a change of the last half minute
// before a power cut may lack its original.
package undo
