package mxc

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyAsk       ir.CauseID = "mxc.ask"
	whyNames     ir.CauseID = "mxc.names"
	whyByName    ir.CauseID = "mxc.by-name"
	whyNoName    ir.CauseID = "mxc.no-name"
	whyBrings    ir.CauseID = "mxc.brings"
	whyWhole     ir.CauseID = "mxc.whole"
	whyUnread    ir.CauseID = "mxc.unread"
	whyExecute   ir.CauseID = "mxc.execute"
	whyMovedAway ir.CauseID = "mxc.moved-away"
	whyMoves     ir.CauseID = "mxc.moves"
	whySocket    ir.CauseID = "mxc.socket"
	whyBase      ir.CauseID = "mxc.base"
	whyMissing   ir.CauseID = "mxc.missing"
	whyHost      ir.CauseID = "mxc.host"
	whyListen    ir.CauseID = "mxc.listen"
	whyValues    ir.CauseID = "mxc.values"
	whyPrograms  ir.CauseID = "mxc.programs"
	whyArgs      ir.CauseID = "mxc.args"
	whyEnvs      ir.CauseID = "mxc.envs"
	whyLimit     ir.CauseID = "mxc.limit"
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
		whyAsk:     "what the list may covers is not granted while a tool runs here",
		whyWhole:   "a place is writable as a whole or not at all, so it is not",
		whyUnread:  "a place without read cannot be used at all",
		whyExecute: "files that may be read may be started",
		whyMovedAway: "assumes that no other process moves files of the rule elsewhere during the run: they " +
			"stay granted",
		whyMoves:  "a directory that leads to a place with rules of its own can be moved away",
		whySocket: "a socket file that may be read may also be connected to",
		whyBase: "MXC lets every tool read and run the system's programs and libraries, and brings a " +
			"directory for temporary files",
		whyMissing: "a denied place that does not exist is created, as a directory",
		whyHost: "rules are about addresses and ports; names, schemes, paths and methods stay closed, and " +
			"so does this machine",
		whyListen:   "connections are accepted at every port or at none, so at none",
		whyValues:   "the configuration holds values; its user adds those of the environment",
		whyPrograms: "all programs are treated alike",
		whyArgs:     "arguments are not checked",
		whyEnvs:     "every program gets the environment",
		whyLimit:    "MXC has no limit of this kind",
	}
}
