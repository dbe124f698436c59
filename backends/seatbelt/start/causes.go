package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger; Sentences says what each means.
const (
	WhyHidden     ir.CauseID = "seatbelt.hidden"
	WhyRoot       ir.CauseID = "seatbelt.root"
	WhyMap        ir.CauseID = "seatbelt.map"
	WhyFill       ir.CauseID = "seatbelt.fill"
	WhyPin        ir.CauseID = "seatbelt.pin"
	WhyAtomic     ir.CauseID = "seatbelt.atomic"
	WhyEmptyDir   ir.CauseID = "seatbelt.empty-dir"
	WhySetID      ir.CauseID = "seatbelt.set-id"
	WhyDevice     ir.CauseID = "seatbelt.device"
	WhySugid      ir.CauseID = "seatbelt.sugid"
	WhyImage      ir.CauseID = "seatbelt.image"
	WhyPortable   ir.CauseID = "seatbelt.portable"
	WhyMissing    ir.CauseID = "seatbelt.missing"
	WhyLinks      ir.CauseID = "seatbelt.links"
	WhySocket     ir.CauseID = "seatbelt.socket"
	WhyHost       ir.CauseID = "seatbelt.host"
	WhyDispute    ir.CauseID = "seatbelt.dispute"
	WhyOwn        ir.CauseID = "seatbelt.own"
	WhyEvery      ir.CauseID = "seatbelt.every"
	WhyLoader     ir.CauseID = "seatbelt.loader"
	WhyArgs       ir.CauseID = "seatbelt.args"
	WhyEnvs       ir.CauseID = "seatbelt.envs"
	WhyLoaderVar  ir.CauseID = "seatbelt.loader-var"
	WhyPerProcess ir.CauseID = "seatbelt.per-process"
	WhyPerUser    ir.CauseID = "seatbelt.per-user"
	WhyMemory     ir.CauseID = "seatbelt.memory"
	WhyGain       ir.CauseID = "seatbelt.escalation"
	WhyWall       ir.CauseID = "seatbelt.wall"
)

// Sentences are the sentences of the causes. Each is one part of a sentence that a reviewer
// can check.
var Sentences = backends.Sentences{
	WhyHidden: "size, times, mode and attributes of files without a grant are hidden; their existence " +
		"is not",
	WhyRoot: "size, times, mode and attributes of files without a grant are hidden, their existence " +
		"is not; the names in / are listed, or the loader would abort",
	WhyMap: "without execute, libraries cannot be loaded from here",
	WhyFill: "nothing can be created here without update: the system lets create replace files by a " +
		"rename",
	WhyPin: "the names of rules, of listed programs and of directories that lead to them can be " +
		"neither created nor removed, since they could then be moved; create them before the " +
		"start",
	WhyAtomic: "without create, a rename cannot replace files here: the system asks for create of the " +
		"replaced file",
	WhyEmptyDir: "a rename can replace an empty directory here: the system does not ask for delete",
	WhySetID:    "set-user-id and set-group-id bits cannot be set, and setattrlist(2) is refused",
	WhyDevice:   "devices can be read and written; their mode, owner and attributes stay",
	WhySugid:    "set-user-id and set-group-id programs do not start in a sandbox",
	WhyImage:    "without read, the system may refuse to start a program",
	WhyPortable: "programs are started by file, and a portable profile knows no files, so it starts none",
	WhyMissing:  "this program was not found on the host",
	WhyLinks: "hard links are refused: the link could be executed at its new place, and the system " +
		"does not compare",
	WhySocket: "Unix sockets are closed",
	WhyHost:   "a profile knows no host names, schemes or paths, so the connection stays closed",
	WhyDispute: "a profile cannot tell this from a connection that another rule denies, so both stay " +
		"closed",
	WhyOwn: "a profile knows all addresses of this machine as one host, so the port is also open " +
		"on its local network addresses",
	WhyEvery: "the port is also open to private and loopback addresses, and names are resolved",
	WhyLoader: "a listed shell or interpreter runs any script, and programs that /bin/sh and the " +
		"developer tools start may start as well",
	WhyArgs:       "the system does not check arguments",
	WhyEnvs:       "the system does not check the environment",
	WhyLoaderVar:  "the system removes variables of its loader when it starts the sandbox",
	WhyPerProcess: "the limit counts each process separately",
	WhyPerUser:    "the limit counts all processes of the user",
	WhyMemory:     "the system enforces no limit on the memory of a process",
	WhyGain: "the system does not compare the two ends of a move: a file that moves from here into " +
		"PLACE gains CAPABILITIES",
	WhyWall: "no process stays to enforce it",
}
