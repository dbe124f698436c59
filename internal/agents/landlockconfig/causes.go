package landlockconfig

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyNoLandlock  ir.CauseID = "landlockconfig.no-landlock"
	whyDeeper      ir.CauseID = "landlockconfig.deeper"
	whyAsk         ir.CauseID = "landlockconfig.ask"
	whyException   ir.CauseID = "landlockconfig.exception"
	whyUnread      ir.CauseID = "landlockconfig.unread"
	whyReplace     ir.CauseID = "landlockconfig.replace"
	whyFill        ir.CauseID = "landlockconfig.fill"
	whyItself      ir.CauseID = "landlockconfig.itself"
	whyBase        ir.CauseID = "landlockconfig.base"
	whyTruncate    ir.CauseID = "landlockconfig.truncate"
	whyMetadata    ir.CauseID = "landlockconfig.metadata"
	whySocket      ir.CauseID = "landlockconfig.socket"
	whyPinned      ir.CauseID = "landlockconfig.pinned"
	whyLinks       ir.CauseID = "landlockconfig.links"
	whyWithheld    ir.CauseID = "landlockconfig.withheld"
	whyCompared    ir.CauseID = "landlockconfig.compared"
	whyRefer       ir.CauseID = "landlockconfig.refer"
	whyPlaces      ir.CauseID = "landlockconfig.places"
	whyApart       ir.CauseID = "landlockconfig.apart"
	whyTCP         ir.CauseID = "landlockconfig.tcp"
	whyUDP         ir.CauseID = "landlockconfig.udp"
	whyHost        ir.CauseID = "landlockconfig.host"
	whyNames       ir.CauseID = "landlockconfig.names"
	whyAddress     ir.CauseID = "landlockconfig.address"
	whyUnbound     ir.CauseID = "landlockconfig.unbound"
	whyEnvironment ir.CauseID = "landlockconfig.environment"
	whyPrograms    ir.CauseID = "landlockconfig.programs"
	whyArgs        ir.CauseID = "landlockconfig.args"
	whyEnvs        ir.CauseID = "landlockconfig.envs"
	whyLimit       ir.CauseID = "landlockconfig.limit"
	whySignal      ir.CauseID = "landlockconfig.signal"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyDeeper: "places are known and no names: protected ones can be created in every directory that may be " +
			"written",
		whyNoLandlock: "this kernel has no Landlock, and landlockconfig starts the tool all the same",
		whyAsk:        "what the list may covers is not granted while a tool runs here",
		whyException: "Landlock cannot take a right away below a directory, so it is granted nowhere in one that " +
			"holds an exception",
		whyUnread: "the kernel opens a program for reading before it starts it",
		whyReplace: "with delete, Landlock would allow a rename to replace files, which needs update, so nothing is " +
			"created",
		whyFill: "Landlock allows an empty file to be created here, but not to be filled",
		whyItself: "Landlock creates and deletes the path itself by the rights of its parent, which another rule " +
			"governs",
		whyBase: "places that are the tool's own only under a supervisor are closed: /proc/self, the terminal, " +
			"shared memory and descriptors by their names",
		whyTruncate: "files can be emptied by truncate(2): Landlock mediates it from ABI 3",
		whyMetadata: "Landlock has no right for mode, owner, times and attributes",
		whySocket:   "landlockconfig knows no right for connecting to socket files",
		whyPinned: "a directory that leads to a rule's path can be moved, and a symlink in its place is followed by " +
			"the next start",
		whyLinks:    "Landlock does not ask for read and update of a file that gets a further name",
		whyWithheld: "a file can move to where the policy grants more, if the configuration withholds that there",
		whyCompared: "Landlock compares all rights of the directories at both ends of a move, and replaces a name by " +
			"create and delete together",
		whyRefer: "moves and links between directories are refused: Landlock allows them from ABI 2",
		whyPlaces: "assumes that places are there when the tool starts, since others are passed over, that no name " +
			"on the way is a symlink, since those are followed, and that no other process moves files of the rule " +
			"elsewhere, since they stay granted",
		whyApart: "assumes that no variable's directory lies in another one's, since rights add up",
		whyTCP:   "TCP is open at every port: Landlock knows its ports from ABI 4",
		whyUDP:   "UDP and other protocols are open: landlockconfig knows TCP alone",
		whyHost:  "the accepted gap opens TCP to every host at the ports of the rules",
		whyNames: "Landlock knows ports and no hosts, so the host stays closed; access.accept = [\"net.host\"] opens " +
			"the port to every host",
		whyAddress: "Landlock knows ports and no addresses, so connections are accepted only at a port that is " +
			"granted at every address",
		whyUnbound: "a socket that listens without a port of its choice gets one, and Landlock does not see it",
		whyEnvironment: "assumes that the program that starts the tool hands over the variables of the rules and no " +
			"others: a configuration says nothing about them",
		whyPrograms: "all programs are treated alike",
		whyArgs:     "arguments are not checked",
		whyEnvs:     "every program gets the environment",
		whyLimit:    "landlockconfig has no limits",
		whySignal:   "Landlock keeps signals inside the sandbox from ABI 6",
	}
}
