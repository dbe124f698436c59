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
	WhyGain       ir.CauseID = "seatbelt.gain"
	WhyWall       ir.CauseID = "seatbelt.wall"
)

// Sentences are the sentences of the causes. Each is one part of a sentence that a reviewer
// can check.
var Sentences = backends.Sentences{
	WhyHidden: "size, times, mode and attributes of what no rule grants anything on are hidden, its " +
		"existence is not",
	WhyRoot: "size, times, mode and attributes of what no rule grants anything on are hidden, its " +
		"existence is not; the names in / are listed, without which the loader aborts",
	WhyMap: "without execute, code is not mapped from here: libraries are not loaded",
	WhyFill: "nothing is made here without update: the system lets whoever may create replace " +
		"files by a rename",
	WhyPin: "the names of rules and of listed programs, and names that lead to them, are neither " +
		"made nor removed, or they could be moved; make them before the start",
	WhyAtomic: "without create, a rename does not replace files here: the system asks for create of " +
		"what is replaced",
	WhyEmptyDir: "a rename replaces an empty directory here, for which the system does not ask for delete",
	WhySetID:    "bits that change user or group are not set, and setattrlist(2) is refused",
	WhyDevice:   "devices are read and written; their mode, owner and attributes stay",
	WhySugid:    "programs that change user or group do not start in a sandbox",
	WhyImage:    "without read, the system may refuse to start a program",
	WhyPortable: "programs are started by file, and a portable profile knows no files of a host, so " +
		"it starts none",
	WhyMissing: "no file is known for this program",
	WhyLinks: "hard links are refused: the link could be executed at its new place, and the system " +
		"does not compare",
	WhySocket: "unix sockets are closed",
	WhyHost:   "a profile sees no names, schemes and paths of hosts, so the connection stays closed",
	WhyDispute: "a profile cannot tell this from a connection that another rule denies, so both stay " +
		"closed",
	WhyOwn: "all addresses of this machine are one host to a profile, so the port is open on its " +
		"local network addresses",
	WhyEvery: "the port is open to private and loopback addresses as well, and names are resolved",
	WhyLoader: "a listed shell or interpreter runs whatever it reads, and what /bin/sh and the " +
		"developer tools start in their turn may start by itself",
	WhyArgs:       "the system does not look at arguments",
	WhyEnvs:       "the system does not look at the environment",
	WhyLoaderVar:  "the system drops variables of its loader when it starts the sandbox",
	WhyPerProcess: "the limit counts each process by itself",
	WhyPerUser:    "the limit counts all processes of the user",
	WhyMemory:     "the system enforces no limit on the memory of a process",
	WhyGain: "the system does not compare the two ends of a move: what is moved from here into " +
		"PLACE gains CAPABILITIES",
	WhyWall: "nobody is there to count",
}
