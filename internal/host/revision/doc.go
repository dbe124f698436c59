// Package revision reads a revision of a git repository without checking it out.
//
// A review must not run commands of the reviewed repository: a tool that may write .git/config
// can name programs there that git starts when it fills a work tree, looks at an index, fetches
// or shows a page. So a revision is read in two steps, neither of which follows the
// repository's configuration:
//
//   - git rev-parse turns the name into a commit, with everything switched off that a
//     repository could have it start: filters, hooks, fsmonitor, transports, helpers;
//   - objects come from git cat-file --batch in a git directory of our own, empty except for
//     the path of the repository's objects. The repository's configuration is not read.
//
// Every object is verified against its name, so that below a commit nothing can be exchanged.
// The work tree's place is the directory of .git; core.worktree is ignored. Sizes, counts and
// times are bounded.
//
// Names are not protected: a branch, a tag or HEAD is read from .git at that moment, and any
// process with write access there may move it; a full commit id cannot be moved.
package revision
