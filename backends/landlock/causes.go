package landlock

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyNoLandlock ir.CauseID = "landlock.no-landlock"
	whySpine      ir.CauseID = "landlock.spine"
	whyList       ir.CauseID = "landlock.list"
	whyLate       ir.CauseID = "landlock.late"
	whySpineExec  ir.CauseID = "landlock.spine-exec"
	whyBeside     ir.CauseID = "landlock.beside"
	whyEnviron    ir.CauseID = "landlock.environ"
	whyBase       ir.CauseID = "landlock.base"
	whyFill       ir.CauseID = "landlock.fill"
	whyReplace    ir.CauseID = "landlock.replace"
	whySelf       ir.CauseID = "landlock.self"
	whyTruncate   ir.CauseID = "landlock.truncate"
	whyExecute    ir.CauseID = "landlock.execute"
	whyMetadata   ir.CauseID = "landlock.metadata"
	whyNoUpdate   ir.CauseID = "landlock.no-update"
	whyRefer      ir.CauseID = "landlock.refer"
	whyPinned     ir.CauseID = "landlock.pinned"
	whyGain       ir.CauseID = "landlock.gain"
	whyLinks      ir.CauseID = "landlock.links"
	whyMoveOver   ir.CauseID = "landlock.move-over"
	whySocket     ir.CauseID = "landlock.socket"
	whyHost       ir.CauseID = "landlock.host"
	whyAddress    ir.CauseID = "landlock.address"
	whySignal     ir.CauseID = "landlock.signal"
	whyLoader     ir.CauseID = "landlock.loader"
	whyArgs       ir.CauseID = "landlock.args"
	whyEnvs       ir.CauseID = "landlock.envs"
	whyPerProc    ir.CauseID = "landlock.per-proc"
	whyPerTree    ir.CauseID = "landlock.per-tree"
	whyUserWide   ir.CauseID = "landlock.user-wide"
	whyWall       ir.CauseID = "landlock.wall"
	whyMoved      ir.CauseID = "landlock.moved"

	// Folds is stated by a loader, of a directory that it finds on its host.
	Folds ir.CauseID = "landlock.folds"
)

// Sentences are the sentences of the causes. Each is one part of a sentence that a reviewer
// can check.
var Sentences = backends.Sentences{
	Folds: "in PLACE upper and lower case lead to the same file, and other spellings of a rule's name are " +
		"not under it",
	whyNoLandlock: "this kernel has no Landlock",
	whySpine:      "Landlock cannot take a right away below a directory",
	whyList: "a directory that holds an exception is listed where the host has a supervisor, by " +
		"calls that pass O_DIRECTORY",
	whyLate: "names that other processes make beside an exception during the run stay closed " +
		"until the next start; the tool cannot make one itself (late = \"open\" has them supervised)",
	whySpineExec: "a program that appears there starts from a copy in memory, so that /proc/self/exe " +
		"and $ORIGIN do not lead to its place",
	whyBeside: "what appears beside the workspace after the start, in a directory of the base, is " +
		"refused",
	whyEnviron: "where a rule gives a program fewer variables, no process of the tool reads those of " +
		"another",
	whyBase: "without a supervisor, child processes are not shown themselves in /proc, and there " +
		"is no shared memory and no pseudo-terminal by its name",
	whyFill:    "Landlock lets an empty file be made here, but not be filled",
	whyReplace: "with delete, Landlock would let a rename replace files, which needs update",
	whySelf: "Landlock has the path itself created and deleted by the rights of its parent, where " +
		"another rule governs",
	whyTruncate: "truncate(2) and opening for reading with O_TRUNC are refused: Landlock mediates " +
		"them from ABI 3",
	whyExecute:  "the kernel opens a program for reading before it starts it",
	whyMetadata: "Landlock has no right for mode, owner, times and attributes",
	whyNoUpdate: "calls that change mode, owner, times or attributes are refused everywhere",
	whyRefer:    "moves and links between directories are refused: Landlock allows them from ABI 2",
	whyPinned:   "Landlock lets a directory that leads to a rule's path be renamed",
	whyGain: "Landlock compares rights, and some of what would be gained is not among the rights " +
		"of the new directory",
	whyLinks:    "hard links are refused: Landlock does not ask for update of what is linked",
	whyMoveOver: "replacing a file by a rename needs create and delete of it",
	whySocket:   "no socket can be made at all where nobody supervises",
	whyHost: "the kernel sees addresses and ports, no names, schemes or paths; accepted, TCP to " +
		"the ports of the rules is open to every host (to every port below ABI 4), and UDP for name resolution (to every port below ABI 10)",
	whyAddress: "the ruleset knows ports, no addresses",
	whySignal:  "Landlock keeps signals inside the sandbox from ABI 6",
	whyLoader:  "the kernel also starts loaders and interpreters by themselves, and files of memory",
	whyArgs:    "the kernel does not look at arguments",
	whyEnvs:    "the kernel does not look at the environment",
	whyPerProc: "the limit counts each process by itself",
	whyPerTree: "without a delegated cgroup the limit counts each process by itself",
	whyUserWide: "without a delegated cgroup the limit counts all processes of the user, and does not " +
		"bind root",
	whyWall: "no process stays to count",
	whyMoved: "assumes that no other process, during the run, moves a directory of the rule " +
		"elsewhere or links a file with a rule of its own there: the ruleset knows both by their inodes, so that they stay granted",
}
