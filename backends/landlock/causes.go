package landlock

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyNoLandlock ir.CauseID = "landlock.no-landlock"
	whyExpanded   ir.CauseID = "landlock.no-subtraction"
	whyList       ir.CauseID = "landlock.list"
	whyLate       ir.CauseID = "landlock.late"
	whyFromMemory ir.CauseID = "landlock.started-from-memory"
	whyBeside     ir.CauseID = "landlock.beside"
	whyEnviron    ir.CauseID = "landlock.environ"
	whyBase       ir.CauseID = "landlock.own-proc"
	whyFill       ir.CauseID = "landlock.fill"
	whyReplace    ir.CauseID = "landlock.replace"
	whySelf       ir.CauseID = "landlock.self"
	whyTruncate   ir.CauseID = "landlock.truncate"
	whyExecute    ir.CauseID = "landlock.execute"
	whyMetadata   ir.CauseID = "landlock.metadata"
	whyNoUpdate   ir.CauseID = "landlock.no-update"
	whyOwn        ir.CauseID = "landlock.own"
	whyRefer      ir.CauseID = "landlock.refer"
	whyPinned     ir.CauseID = "landlock.pinned"
	whyGain       ir.CauseID = "landlock.escalation"
	whyNames      ir.CauseID = "landlock.names"
	whyByName     ir.CauseID = "landlock.by-name"
	whyBrings     ir.CauseID = "landlock.brings"
	whyLinks      ir.CauseID = "landlock.links"
	whyMoveOver   ir.CauseID = "landlock.move-over"
	whySocket     ir.CauseID = "landlock.socket"
	whyHost       ir.CauseID = "landlock.host"
	whyAnyTCP     ir.CauseID = "landlock.host-tcp"
	whyAnyUDP     ir.CauseID = "landlock.host-udp"
	whyAddress    ir.CauseID = "landlock.address"
	whyPath       ir.CauseID = "landlock.path"
	whyStream     ir.CauseID = "landlock.stream"
	whyServer     ir.CauseID = "landlock.server"
	whyScheme     ir.CauseID = "landlock.scheme"
	whyListen     ir.CauseID = "landlock.listen"
	whySignal     ir.CauseID = "landlock.signal"
	whyLoader     ir.CauseID = "landlock.loader"
	whyArgs       ir.CauseID = "landlock.args"
	whyEnvs       ir.CauseID = "landlock.envs"
	whyPerProc    ir.CauseID = "landlock.per-proc"
	whyPerTree    ir.CauseID = "landlock.per-tree"
	whyUserWide   ir.CauseID = "landlock.user-wide"
	whyWall       ir.CauseID = "landlock.wall"
	whyMoved      ir.CauseID = "landlock.moved"
	whyHeld       ir.CauseID = "landlock.held"
	whyAsk        ir.CauseID = "landlock.ask"
	whyKernel     ir.CauseID = "landlock.kernel"

	// Folds is stated by a loader, of a directory that it finds on its host.
	Folds ir.CauseID = "landlock.folds"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		Folds: "the directory PLACE folds upper and lower case, so another spelling of a rule's name " +
			"escapes the rule",
		whyAsk: "exec --ask has a supervisor make what the user grants, and the ruleset grants none of it",
		whyKernel: "file systems of the kernel, such as proc or sysfs, that are mounted below a grant are closed, " +
			"with all that is in them, and so is accessc's own state",
		whyNoLandlock: "this kernel has no Landlock",
		whyExpanded:   "Landlock cannot take a right away below a directory",
		whyList: "a directory that holds an exception can be listed only under a supervisor, by calls " +
			"that pass O_DIRECTORY",
		whyLate: "names that other processes create beside an exception during the run stay closed " +
			"until the next start; the tool cannot create one itself (late = \"open\" has them " +
			"supervised)",
		whyFromMemory: "a program that appears there later starts from a copy in memory: /proc/self/exe and " +
			"$ORIGIN do not lead to its place",
		whyBeside: "files that appear beside the workspace after the start, in a directory of the base, " +
			"are refused",
		whyEnviron: "where a rule gives a program fewer variables, no process of the tool can read another " +
			"one's",
		whyBase: "without a supervisor, /proc cannot be listed and child processes cannot see themselves " +
			"there, files behind standard descriptors are not opened again, and there is no shared " +
			"memory and no pseudo-terminal by its name",
		whyFill:    "Landlock allows an empty file to be created here, but not to be filled",
		whyReplace: "with delete, Landlock would allow a rename to replace files, which needs update",
		whySelf: "Landlock creates and deletes the path itself by the rights of its parent, which " +
			"another rule governs",
		whyTruncate: "truncate(2) and opening for reading with O_TRUNC are refused: Landlock mediates them " +
			"from ABI 3",
		whyExecute:  "the kernel opens a program for reading before it starts it",
		whyMetadata: "Landlock has no right for mode, owner, times and attributes",
		whyNoUpdate: "calls that change mode, owner, times or attributes are refused everywhere",
		whyOwn: "a supervisor makes calls that change mode, owner, times or attributes in the tool's own " +
			"directories; a host without one refuses them everywhere",
		whyRefer:  "moves and links between directories are refused: Landlock allows them from ABI 2",
		whyPinned: "Landlock allows a directory that leads to a rule's path to be renamed",
		whyGain: "Landlock compares rights, and the new directory does not show all that a file would " +
			"gain there",
		whyNames: "Landlock knows directories and files, and no names: protected ones could be created in every " +
			"directory",
		whyByName: "Landlock knows directories and files, and no names: without a supervisor nothing that a rule by " +
			"name takes away or gives is granted around it",
		whyBrings:   "Landlock allows a directory to be moved here in which the tool has created protected names",
		whyLinks:    "hard links are refused: Landlock does not ask for update of the linked file",
		whyMoveOver: "a rename replaces a file only with create and delete of it",
		whySocket:   "without a supervisor no socket can be created",
		whyHost: "the kernel sees addresses and ports, no names, schemes or paths; accepting the gap " +
			"opens TCP to every host at the ports of the rules, and UDP for name resolution",
		whyAnyTCP: "TCP is then open at every port: Landlock knows its ports from ABI 4",
		whyAnyUDP: "UDP is then open at every port: Landlock knows its ports from ABI 10",
		whyPath: "TLS hides paths and methods: without inspect = true a connection to the host passes as a " +
			"whole if some request is allowed",
		whyStream: "bytes that a rule with scheme = \"tcp\" or opaque = true lets pass are not looked at",
		whyServer: "TLS hides which name a request asks for: a server that serves further names can be " +
			"asked for them, without inspect = true",
		whyScheme: "the proxy takes no connection for one of this scheme: it tells HTTP and TLS apart, and passes " +
			"other bytes by a rule with scheme = \"tcp\" alone",
		whyListen:  "Landlock knows ports but no addresses",
		whyAddress: "the ruleset knows ports but no addresses",
		whySignal:  "Landlock keeps signals inside the sandbox from ABI 6",
		whyLoader:  "the kernel also starts loaders, interpreters and files in memory",
		whyArgs:    "the kernel does not check arguments",
		whyEnvs:    "the kernel does not check the environment",
		whyPerProc: "the limit counts each process separately",
		whyPerTree: "without a delegated cgroup the limit counts each process separately",
		whyUserWide: "without a delegated cgroup the limit counts all processes of the user, and does not " +
			"bind root",
		whyWall: "no process stays to enforce it",
		whyMoved: "assumes that no other process moves a directory of the rule elsewhere during the run, " +
			"or links a file with a rule of its own there: the ruleset knows both by their inodes, " +
			"so they stay granted; and that none mounts a file system of the kernel, such as proc, below one",
		whyHeld: "assumes that no other process moves to a place with fewer grants what the tool has " +
			"opened, mapped or linked: descriptors, mappings and hard links keep their grants",
	}
}
