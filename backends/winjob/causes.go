package winjob

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	// Tier 0.
	whyNoFiles     ir.CauseID = "windows.no-files"
	whyNoNetwork   ir.CauseID = "windows.no-network"
	whySameUser    ir.CauseID = "windows.same-user"
	whyAnyProgram  ir.CauseID = "windows.any-program"
	whySurrogate   ir.CauseID = "windows.surrogate"
	whyNoEnvs      ir.CauseID = "windows.no-envs"
	whyNoArgs      ir.CauseID = "windows.no-args"
	whyUserTime    ir.CauseID = "windows.user-time"
	whyTimer       ir.CauseID = "windows.timer"
	whyNoSuchLimit ir.CauseID = "windows.no-such-limit"

	// Tier 1: what is withheld besides.
	whyCarried    ir.CauseID = "windows.carried"
	whyAbsent     ir.CauseID = "windows.absent"
	whySelf       ir.CauseID = "windows.self"
	whySymlink    ir.CauseID = "windows.symlink"
	whyHidden     ir.CauseID = "windows.hidden"
	whyLibrary    ir.CauseID = "windows.library"
	whyListed     ir.CauseID = "windows.listed"
	whyMetadata   ir.CauseID = "windows.metadata"
	whySocket     ir.CauseID = "windows.socket"
	whyReplaceAll ir.CauseID = "windows.replace-all"
	whyOwnBase    ir.CauseID = "windows.own-base"
	whyNoHosts    ir.CauseID = "windows.no-hosts"
	whyNoName     ir.CauseID = "windows.no-name"

	// Tier 1: what is let through.
	whyOwn       ir.CauseID = "windows.own"
	whyGain      ir.CauseID = "windows.gain"
	whyLink      ir.CauseID = "windows.link"
	whyReplace   ir.CauseID = "windows.replace"
	whyAmbient   ir.CauseID = "windows.ambient"
	whyProfile   ir.CauseID = "windows.profile"
	whyOthers    ir.CauseID = "windows.others"
	whyGuardless ir.CauseID = "windows.guardless"
	whyMovedAway ir.CauseID = "windows.moved-away"
	whyPipes     ir.CauseID = "windows.pipes"
	whyPrograms  ir.CauseID = "windows.programs"

	// Exact, with a remark.
	whySet  ir.CauseID = "windows.set"
	whySets ir.CauseID = "windows.sets"
)

// Sentences are the sentences of the causes. Each is one part of a sentence that a reviewer
// can check.
var Sentences = backends.Sentences{
	whyNoFiles:     "a job object and a token of the same user do not restrict files",
	whyNoNetwork:   "a job object does not restrict the network",
	whySameUser:    "processes of the same user can be opened and ended",
	whyAnyProgram:  "neither a job object nor the token keeps a program from being started",
	whySurrogate:   "a process that a service starts on the tool's behalf is outside of the job",
	whyNoEnvs:      "whoever starts a program chooses its environment",
	whyNoArgs:      "nobody looks at arguments",
	whyUserTime:    "only time in user mode counts",
	whyTimer:       "the loader ends the job when the time is over",
	whyNoSuchLimit: "a job object has no such limit",
	whyCarried:     "what others move here, or make with an access list of its own, is refused",
	whyAbsent:      "a path that is not there at the start has what the directory above has",
	whySelf: "one right covers removing and moving, so the paths of rules and what leads to them " +
		"cannot be removed",
	whySymlink:    "symbolic links need a privilege that an AppContainer lacks",
	whyHidden:     "size and times are hidden as well, unless the directory above may be listed",
	whyLibrary:    "a library loads only where execute is granted",
	whyListed:     "where programs are listed, nothing else may be executed or loaded as a library",
	whyMetadata:   "owner, access list, and the attributes of directories stay as they are",
	whySocket:     "unverified: an AppContainer may be refused although the file may be written",
	whyReplaceAll: "replacing a file by a rename needs create and delete there",
	whyOwnBase:    "what lacks an entry for ALL APPLICATION PACKAGES is refused",
	whyNoHosts:    "nothing is opened, since the capabilities of an AppContainer know no hosts",
	whyNoName:     "no file on NTFS can have this name",
	whyOwn:        "who makes a file chooses its access list, and what is moved keeps its own",
	whyGain: "a move or link that would gain succeeds, and the object gains when the next start " +
		"renews the lists",
	whyLink:    "a hard link needs no read of the file",
	whyReplace: "with create and delete, a rename replaces a file without update of it",
	whyAmbient: "every AppContainer reads and runs what has an entry for ALL APPLICATION PACKAGES",
	whyProfile: "Windows gives every AppContainer a profile directory to write in",
	whyOthers:  "what others move here stays as usable to the tool as it was, until the next start",
	whyGuardless: "a protected path that is not there at the start can be made, with an access list of " +
		"the tool's choice",
	whyMovedAway: "assumes that no other process moves files of the rule elsewhere during the run: " +
		"they keep their access lists",
	whyPipes:    "named pipes with an entry for ALL APPLICATION PACKAGES are open to every AppContainer",
	whyPrograms: "programs of the ambient directories, and what the tool makes itself, can be started",
	whySet:      "SystemRoot is set besides, to what every process can read",
	whySets: "SystemRoot and LOCALAPPDATA are set besides, to what every process can read and to " +
		"a place of the tool's own",
}
