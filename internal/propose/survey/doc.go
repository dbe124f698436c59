// Package survey looks at the files of a repository and proposes tools that build and test it.
//
// It runs nothing, follows no symlink, and takes no text of the repository over: names of tools,
// commands and paths are its own, chosen by the files that are there and by a few words in them.
// A repository may be hostile, and its policy confines it.
package survey
