package start

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger; Sentences says what each means.
const (
	WhyHidden   ir.CauseID = "seatbelt.hidden"
	WhyRoot     ir.CauseID = "seatbelt.root"
	WhyMap      ir.CauseID = "seatbelt.map"
	WhyFill     ir.CauseID = "seatbelt.fill"
	WhyPin      ir.CauseID = "seatbelt.pin"
	WhyAtomic   ir.CauseID = "seatbelt.atomic"
	WhyEmptyDir ir.CauseID = "seatbelt.empty-dir"
	WhySetID    ir.CauseID = "seatbelt.set-id"
	WhyTimes    ir.CauseID = "seatbelt.times"
	WhyDevice   ir.CauseID = "seatbelt.device"
	WhySugid    ir.CauseID = "seatbelt.sugid"
	WhyImage    ir.CauseID = "seatbelt.image"
	WhyPortable ir.CauseID = "seatbelt.portable"
	WhyMissing  ir.CauseID = "seatbelt.missing"
	WhyLinks    ir.CauseID = "seatbelt.links"
	WhySocket   ir.CauseID = "seatbelt.socket"
	WhyProxy    ir.CauseID = "seatbelt.proxy"
	WhyUnseen   ir.CauseID = "seatbelt.unseen"
	WhyServer   ir.CauseID = "seatbelt.server"
	WhyScheme   ir.CauseID = "seatbelt.scheme"
	WhyStream   ir.CauseID = "seatbelt.stream"
	WhyOwn      ir.CauseID = "seatbelt.own"
	WhyLoopback ir.CauseID = "seatbelt.loopback"

	WhyListenOwn     ir.CauseID = "seatbelt.listen-own"
	WhyListenLow     ir.CauseID = "seatbelt.listen-low"
	WhyListenMapped  ir.CauseID = "seatbelt.listen-mapped"
	WhyListenDispute ir.CauseID = "seatbelt.listen-dispute"
	WhyListenAddress ir.CauseID = "seatbelt.listen-address"
	WhyListenConnect ir.CauseID = "seatbelt.listen-connect"

	WhyLoader     ir.CauseID = "seatbelt.loader"
	WhyArgs       ir.CauseID = "seatbelt.args"
	WhyEnvs       ir.CauseID = "seatbelt.envs"
	WhyLoaderVar  ir.CauseID = "seatbelt.loader-var"
	WhyPerProcess ir.CauseID = "seatbelt.per-process"
	WhyPerUser    ir.CauseID = "seatbelt.per-user"
	WhyMemory     ir.CauseID = "seatbelt.memory"
	WhyGain       ir.CauseID = "seatbelt.escalation"
	WhyWall       ir.CauseID = "seatbelt.wall"
	WhyTrust      ir.CauseID = "seatbelt.trust"
	WhySame       ir.CauseID = "seatbelt.same"
	WhyDirectory  ir.CauseID = "seatbelt.directory"
	WhyAsk        ir.CauseID = "seatbelt.ask"

	WhyBytes     ir.CauseID = "seatbelt.bytes"
	WhyDeep      ir.CauseID = "seatbelt.deep"
	WhyWay       ir.CauseID = "seatbelt.way"
	WhyAncestors ir.CauseID = "seatbelt.ancestors"
	WhyServices  ir.CauseID = "seatbelt.services"
	WhySemaphore ir.CauseID = "seatbelt.semaphore"
	WhySearch    ir.CauseID = "seatbelt.search"
	WhyProcArgs  ir.CauseID = "seatbelt.procargs"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		WhyAsk: "what the list may covers is not granted while a tool runs here",
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
		WhySetID:    "set-user-id and set-group-id bits cannot be set by chmod(2)",
		WhyTimes: "without read, most programs cannot set times: the system asks the same of setattrlist(2), by " +
			"which they do, as of exchangedata(2), which could carry contents to where they can be read",
		WhyDevice:   "devices can be read and written; their mode, owner and attributes stay",
		WhySugid:    "set-user-id and set-group-id programs do not start in a sandbox",
		WhyImage:    "without read, the system may refuse to start a program",
		WhyPortable: "programs are started by file, and a portable profile knows no files, so it starts none",
		WhyMissing:  "this program was not found on the host",
		WhyLinks: "hard links are refused: the link could be executed at its new place, and the system " +
			"does not compare",
		WhySocket: "Unix sockets are closed",
		WhyProxy: "a profile knows no hosts but this machine, so the proxy of the run connects, and programs " +
			"that read no proxy variable reach no host",
		WhyUnseen: "requests in TLS are not seen without inspect: all of the host's paths and methods are " +
			"reached, or none",
		WhyServer: "assumes that the server of a name serves no other name inside of TLS",
		WhyScheme: "the proxy serves HTTP and TLS; connections of other kinds pass by a rule with scheme = " +
			"\"tcp\" alone",
		WhyStream: "bytes that a rule with scheme = \"tcp\" or opaque = true lets pass are not looked at",
		WhyOwn: "a profile knows all addresses of this machine as one host, so the port is also open " +
			"on its local network addresses",
		WhyLoopback: "of the loopback addresses 127.0.0.1 and ::1 alone are open",
		WhyListenOwn: "a profile knows all addresses of this machine as one host, so connections are also " +
			"accepted on its local network addresses",
		WhyListenLow: "a profile knows no range of ports, so the ports below 1024 are open as well, which " +
			"any user can bind to all addresses",
		WhyListenMapped: "an IPv6 socket that is bound to 127.0.0.1, as Java does, is refused",
		WhyListenDispute: "a profile cannot tell this from an address that another rule denies, so the port " +
			"stays closed to both",
		WhyListenAddress: "a profile knows no addresses, so the port stays closed",
		WhyListenConnect: "the tool connects to its own listeners only by a rule about localhost and the port",
		WhyLoader: "a listed shell or interpreter runs any script, and programs that /bin/sh and the " +
			"developer tools start may start as well",
		WhyArgs:       "the system does not check arguments",
		WhyEnvs:       "the system does not check the environment",
		WhyLoaderVar:  "the system removes variables of its loader when it starts the sandbox",
		WhyPerProcess: "the limit counts each process separately",
		WhyPerUser: "the limit counts all processes of the user, and a number that they fill already stops the " +
			"start",
		WhyMemory: "the system enforces no limit on the memory of a process",
		WhyGain: "the system does not compare the two ends of a move: a file that moves from here into " +
			"PLACE gains CAPABILITIES",
		WhyWall: "no process stays to enforce it",
		WhyTrust: "programs that have the system check certificates, as those in Go and Swift, refuse TLS: its " +
			"service fetches addresses that certificates name, so it is closed",
		WhySame: "assumes that the system takes two runs of a tool for two sandboxes",
		WhyBytes: "the system's expressions know bytes and no characters: a pattern with ?, a set or letters outside " +
			"of ASCII may match other names than here",
		WhyDeep: "nothing is granted where two rules by name disagree about a path and more than four directories " +
			"are below both names",
		WhyWay: "the directories between the rule's place and a name that it grants are hidden where no rule grants " +
			"something in them",
		WhyAncestors: "the directories above the workspace are not listed: Bun, and programs compiled with it, list " +
			"them at their start and do not run",
		WhySearch: "without execute, access(2) may say of directories that they cannot be searched, and git then " +
			"finds no repository",
		WhyServices: "services of the system and shared memory are closed but for users and groups: nothing is told " +
			"by FSEvents, configd or the pasteboard, and libraries that share memory under a name fail",
		WhySemaphore: "a POSIX semaphore is no process's own: two tools that agree on a name can signal each other " +
			"by one",
		WhyProcArgs: "assumes that the system asks the profile before it shows the environment and the arguments of " +
			"the user's other processes, as kern.procargs2 does: some of them may have the variables that the tool " +
			"does not get",
		WhyDirectory: "assumes that this Mac asks no directory server about users: the names that a tool asks for " +
			"would reach it",
	}
}
