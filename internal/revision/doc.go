// Package revision reads a revision of a git repository without checking it out.
//
// Whoever reviews must not run the commands of those who are reviewed: a tool that may
// write .git/config can name programs there that git starts when it fills a work tree,
// looks at an index, fetches or shows a page. So a revision is read in two steps, and
// neither asks the repository how:
//
//   - the name is turned into a commit by git rev-parse, with everything closed that a
//     repository could have it start: filters, hooks, fsmonitor, transports, helpers;
//   - objects come from git cat-file --batch in a git directory of our own, empty but for
//     the way to the repository's objects. The repository's configuration is not read.
//
// Every object is held against its name, so that below a commit nothing can be exchanged.
// The work tree's place is where .git lies, whatever core.worktree says. Sizes, counts and
// times are bounded.
//
// Not held: a branch, a tag or HEAD is what .git says at that moment. Whoever may write
// there may move it; a full commit id cannot be moved.
package revision
