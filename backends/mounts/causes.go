package mounts

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyAsk       ir.CauseID = "mounts.ask"
	whyNames     ir.CauseID = "mounts.names"
	whyByName    ir.CauseID = "mounts.by-name"
	whyNoName    ir.CauseID = "mounts.no-name"
	whyBrings    ir.CauseID = "mounts.brings"
	whyWhole     ir.CauseID = "mounts.whole"
	whyStarts    ir.CauseID = "mounts.starts"
	whyUnread    ir.CauseID = "mounts.unread"
	whyMapped    ir.CauseID = "mounts.mapped"
	whyMissing   ir.CauseID = "mounts.missing"
	whyLate      ir.CauseID = "mounts.late"
	whyOwnName   ir.CauseID = "mounts.own-name"
	whyApart     ir.CauseID = "mounts.apart"
	whyLink      ir.CauseID = "mounts.link"
	whyReplaced  ir.CauseID = "mounts.replaced"
	whyMovedAway ir.CauseID = "mounts.moved-away"
	whyLeftPipe  ir.CauseID = "mounts.left-pipe"
	whySocket    ir.CauseID = "mounts.socket"
	whyNoSocket  ir.CauseID = "mounts.no-socket"
	whyProc      ir.CauseID = "mounts.proc"
	whyTree      ir.CauseID = "mounts.tree"
	whyCovered   ir.CauseID = "mounts.covered"
	whyLoose     ir.CauseID = "mounts.loose"
	whyCaller    ir.CauseID = "mounts.caller"
	whyDevice    ir.CauseID = "mounts.device"
	whyReopened  ir.CauseID = "mounts.reopened"
	whyHanded    ir.CauseID = "mounts.handed"
	whyNamed     ir.CauseID = "mounts.named"
	whySetID     ir.CauseID = "mounts.set-id"
	whyTyped     ir.CauseID = "mounts.typed"
	whySockets   ir.CauseID = "mounts.sockets"
	whyTerminal  ir.CauseID = "mounts.terminal"
	whyHost      ir.CauseID = "mounts.host"
	whyListen    ir.CauseID = "mounts.listen"
	whyLoopback  ir.CauseID = "mounts.loopback"
	whyVsock     ir.CauseID = "mounts.vsock"
	whyValues    ir.CauseID = "mounts.values"
	whyPrograms  ir.CauseID = "mounts.programs"
	whyArgs      ir.CauseID = "mounts.args"
	whyEnvs      ir.CauseID = "mounts.envs"
	whyLimit     ir.CauseID = "mounts.limit"
	whyPerProc   ir.CauseID = "mounts.per-process"
	whyPerUser   ir.CauseID = "mounts.per-user"
	whySignal    ir.CauseID = "mounts.signal"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyNames: "places are known and no names: protected ones can be created in every directory that may be written",
		whyByName: "places are known and no names: what a rule by name takes away can be used as the rule around it " +
			"says",
		whyNoName: "places are known and no names: what a rule by name gives stays closed where the rule around it " +
			"gives less",
		whyBrings: "names in a moved directory, and files that are moved, are under the rule around their new place, " +
			"whatever rules by name say",
		whyAsk: "the places that the list may covers are not granted while a tool runs here",
		whyWhole: "a place is writable as a whole or not at all: one of create, update and delete gives all three, " +
			"and reading",
		whyStarts: "files that may be read may be started",
		whyUnread: "the kernel opens a program for reading before it starts it",
		whyMapped: "files that may not be started cannot be mapped as code either, so a loader or runtime cannot " +
			"load libraries from there",
		whyMissing: "a place that is not there at the start gets no mount, and what is made there later is under the " +
			"rule around it",
		whyLate: "a place that is not there at the start gets no mount, so that files which are made there later can " +
			"be used as the rule around it says",
		whyOwnName: "the place itself is a mount, which cannot be removed or replaced",
		whyApart: "moves and links between the workspace, other directories and places with other capabilities are " +
			"refused, also where the policy permits them",
		whyLink: "a symbolic link cannot be a mount, so its name can be moved and removed",
		whyReplaced: "a mount goes with the name it is on: after another process has replaced the file, as editors " +
			"do when they save, the tool can use the new one as the rule around it says",
		whyMovedAway: "assumes that no other process moves files of the rule elsewhere during the run: they stay " +
			"granted",
		whyLeftPipe: "assumes that no other process has left a fifo where the tool may only read: a mount that is " +
			"read-only lets it be written to",
		whySocket:   "a socket file that may be seen may be connected to",
		whyNoSocket: "the tool can make no sockets",
		whyProc:     "the tool sees all files of /proc that are about the machine",
		whyTree: "directories that lead to granted places are the host's or temporary: their names can be listed, " +
			"and files be made that nothing outside sees, but those of root in /run",
		whyCovered: "nothing can be shown again below a directory that is covered",
		whyLoose: "a name that leads to a place with a rule of its own can be moved, and a file to a place where it " +
			"permits more",
		whyCaller:   "assumes that the caller hands over only the variables that the policy forwards",
		whyDevice:   "a device that may only be read can be written to as well, and its owner can change its mode",
		whyTerminal: "the tool has a session of its own, and no controlling terminal",
		whyReopened: "assumes that the tool may read and write each file that it gets as descriptor 0, 1 or 2: it " +
			"can open such a file anew by /proc, with all rights that the file's mode gives its user",
		whyNamed: "assumes that the arguments are used by accessc exec, which opens each place, hands over its " +
			"descriptor and looks for it in the sandbox, or that no other process exchanges files meanwhile: the " +
			"program finds places by their names, also over symbolic links to the host",
		whyHanded: "assumes that descriptors 0 to 2 are no directories: the tool can open all that lies in one, and " +
			"around it, on the host",
		whySockets: "assumes that descriptors 0 to 2 are no sockets: the tool can connect and listen by one in the " +
			"network that it comes from",
		whyTyped: "assumes that the tool starts without a controlling terminal, as by setsid(1), or that the kernel " +
			"takes no typing from programs (dev.tty.legacy_tiocsti): otherwise it can type commands there for the " +
			"shell",
		whySetID: "assumes that no other user starts files of the tool: it can set their set-user-ID bits, so that " +
			"they run with the rights of its user, also of root",
		whyHost:     "the tool has a network of its own that reaches nothing: hosts stay closed",
		whyListen:   "connections are accepted from the tool's own processes alone",
		whyLoopback: "the tool can listen in a network of its own, which no other process reaches",
		whyVsock:    "assumes that this machine has no vsock device: a network of its own does not close it",
		whyValues:   "values of variables are the user's, who adds them",
		whyPrograms: "all programs are treated alike",
		whyArgs:     "arguments are not checked",
		whyEnvs:     "every program gets the environment",
		whyLimit:    "there is no limit of this kind",
		whyPerProc:  "the limit counts each process separately",
		whyPerUser:  "the limit counts all processes of the user, and does not bind root",
		whySignal:   "the tool sees and signals other processes of its user",
	}
}
