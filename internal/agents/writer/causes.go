package writer

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes that the ledgers of several programs have.
const (
	WhyAsk      ir.CauseID = "agents.ask"
	WhyWhole    ir.CauseID = "agents.whole"
	WhyUnread   ir.CauseID = "agents.unread"
	WhyNested   ir.CauseID = "agents.nested"
	WhyNames    ir.CauseID = "agents.names"
	WhyByName   ir.CauseID = "agents.by-name"
	WhyNamed    ir.CauseID = "agents.named"
	WhyPattern  ir.CauseID = "agents.pattern"
	WhyTemp     ir.CauseID = "agents.temp"
	WhyUnbound  ir.CauseID = "agents.unbound"
	WhyAbsent   ir.CauseID = "agents.absent"
	WhyLate     ir.CauseID = "agents.late"
	WhyExecute  ir.CauseID = "agents.execute"
	WhyMoves    ir.CauseID = "agents.moves"
	WhyFollows  ir.CauseID = "agents.follows"
	WhySocket   ir.CauseID = "agents.socket"
	WhyHost     ir.CauseID = "agents.host"
	WhyBoth     ir.CauseID = "agents.both"
	WhyBytes    ir.CauseID = "agents.bytes"
	WhyListen   ir.CauseID = "agents.listen"
	WhyOwnNet   ir.CauseID = "agents.own-net"
	WhyEnv      ir.CauseID = "agents.env"
	WhyPrefix   ir.CauseID = "agents.prefix"
	WhyValue    ir.CauseID = "agents.value"
	WhyPrograms ir.CauseID = "agents.programs"
	WhyArgs     ir.CauseID = "agents.args"
	WhyEnvs     ir.CauseID = "agents.envs"
	WhyLimit    ir.CauseID = "agents.limit"
)

// Sentences are the sentences of these causes. Each is one part of a sentence that a reviewer can
// check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		WhyAsk:      "the list may has no counterpart in the settings of this program",
		WhyWhole:    "the program knows no part of writing, so the place can only be read",
		WhyUnread:   "a place without read cannot be used at all",
		WhyNested:   "a place in one that may not be written cannot be opened for writing again",
		WhyNames:    "places are known and no names: protected ones can be created in every directory that may be written",
		WhyByName:   "the settings have no patterns for a rule by name, so a name is as open as the place around it",
		WhyNamed:    "a name gets no more than the place around it, and what a pattern closes no rule opens again",
		WhyPattern:  "a name that the program would read as a pattern has no entry, and the directory in which it is an exception gets no more than it",
		WhyTemp:     "the program has a directory for temporary files of its own",
		WhyUnbound:  "the directory is known on a host alone: build --resolve writes it",
		WhyAbsent:   "a place that is not there when the program starts stays closed to writing, and so does a file in a directory that may only be read",
		WhyLate:     "assumes that no other process makes the place during the run, where it is not there at the start",
		WhyExecute:  "files that may be read may be started",
		WhyMoves:    "a name that leads to a place with rules of its own can be moved away, and files move between places with different rules",
		WhyFollows:  "assumes that no other process moves files of the rule elsewhere during the run: they stay granted",
		WhySocket:   "no socket file can be connected to",
		WhyHost:     "an entry is a name with a dot, or an address of another machine, with a port; the rest of the rule's kind stays closed",
		WhyBoth:     "a rule that denies a part of these hosts closes more of them here, since entries that deny win",
		WhyBytes:    "the name and the port decide alone: a granted one is open to every protocol and request",
		WhyListen:   "no connection from outside reaches a tool",
		WhyOwnNet:   "processes of the tool can accept connections of each other, in a network of their own",
		WhyEnv:      "every variable of the caller is passed on",
		WhyPrefix:   "a variable is withheld by its whole name alone",
		WhyValue:    "the settings set no variable; its user does",
		WhyPrograms: "every program that may be read can be started",
		WhyArgs:     "arguments are not checked",
		WhyEnvs:     "every program gets all variables",
		WhyLimit:    "the program has no limits",
	}
}
