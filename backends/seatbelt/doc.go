// Package seatbelt compiles a policy into a profile of the macOS sandbox, in the profile
// language that /usr/bin/sandbox-exec reads.
//
// The invariant is that the text means the same under every reading of it. Which of two rules
// wins in a profile depends on whether they name an operation or a family of operations, on
// whether they carry a filter, and only then on their order; two published measurements of that
// do not even agree. So in the part that a policy decides, the profile names leaf operations,
// and of the families only file-write*. It gives each place an allow and a deny that together name
// all of them with the same filters, denies the family before its leaves, goes from shallow to deep, and writes no rule
// without a filter behind a rule with a filter. Then "the last match wins", "the named operation wins" and the naive
// reading agree, and the evaluator of test/sbpl, which reads the emitted text by two of them, treats a disagreement as
// an error.
//
// Not enforced by these means: arguments and environments of programs, host names, schemes and
// paths of connections, escalation by moving files, and the limits on resources. Each has its
// row in the ledger, with the reason. Other known gaps are in docs/platforms/macos.md; nothing
// here has been run on a Mac.
//
// # Operations that system calls ask for
//
// As far as they decide the mapping:
//
//	open for reading, readdir                  file-read-data
//	open for writing, truncate                 file-write-data
//	mkdir, symlink, mkfifo, open of a new file file-write-create of the new path
//	unlink, rmdir                              file-write-unlink of the path
//	rename                                     file-write-unlink of the source, file-write-create of the
//	                                           target, existing or not
//	link                                       file-link of the source, file-write-create of the target
//	clonefile                                  file-clone of the source, a directory as a whole;
//	                                           file-write-create of the target
//	stat, readlink                             file-read-metadata; of each link on the way, too
//	utimensat, setattrlist, exchangedata       file-write*
//	execve                                     process-exec* of the file, for a script
//	                                           process-exec-interpreter of its interpreter
//	connect, bind of a unix socket             network-outbound, network-bind of its path; file rules do
//	                                           not matter
//
// # Sources
//
// Precedence: the tests of microsoft/mxc, GreyhavenHQ/greywall pull 20, navikt/cplt pull 455, and
// eehrich/ScarabHive, which also has case, terminals, protection classes and temporary files on macOS 27.
// A filter of the form (require-all (subpath …) (vnode-type …)) has been seen to win over a later denial, and
// the system's compiler to abort at a dash in a comment: outside of strings a profile is ASCII. Operations that
// version 1 allows, existence, symlink nodes, path-ancestors, setattrlist, ioctl-command, names per release:
// strands-agents/box, crates/containment/AGENTS.md. System calls and operations: steven-michaud/SandboxMirror.
// Names, filters and the prelude: 0xbf00/simbple. Base: openai/codex, the Chromium project's
// sandbox/policy/mac/common.sb, anthropic-experimental/sandbox-runtime, Homebrew. Sizes (string literals of about
// a thousand bytes): nolabs-ai/nono. Strings: TinyScheme. Manual pages: sandbox-exec(1), sandbox(7), setrlimit(2),
// sh(1), xcrun(1), mDNSResponder(8).
package seatbelt
