// Package shell takes a command line apart without running it. The result is a tree of parts: the
// programs that would start, with their words, the files that redirections would open, and
// whatever cannot be seen through, with the reason.
//
// The analysis is made for decisions that fail closed. It expands nothing, so a word that the
// shell would expand is not literal; it sees through programs that run other programs by tables
// of the options that are known to be harmless, so an option that is not listed is a doubt. It
// does no I/O and takes time linear in the length of the line.
//
// Two assumptions are outside of a line: the shell that runs it has no aliases or functions that
// rename programs, and no variables such as BASH_ENV or CDPATH that change what it does.
package shell
