package winjob

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	// Tier 0.
	whyAsk         ir.CauseID = "windows.ask"
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
	whyNoListen   ir.CauseID = "windows.no-listen"
	whyNameClosed ir.CauseID = "windows.name-closed"
	whyNamedHeld  ir.CauseID = "windows.named-held"
	whyNoName     ir.CauseID = "windows.no-name"

	// Tier 1: what is let through.
	whyOwn       ir.CauseID = "windows.own"
	whyByName    ir.CauseID = "windows.by-name"
	whyBrings    ir.CauseID = "windows.brings"
	whyGain      ir.CauseID = "windows.escalation"
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
	whySet    ir.CauseID = "windows.set"
	whySets   ir.CauseID = "windows.sets"
	whyItself ir.CauseID = "windows.itself"

	// Tier 1: conditions that have to hold outside of the sandbox.
	whyBlock   ir.CauseID = "windows.block"
	whyConsole ir.CauseID = "windows.console"
	whyConhost ir.CauseID = "windows.conhost"

	// Tier 1: accesses that need a prepared host, and programs that do not run there.
	whyNull      ir.CauseID = "windows.null"
	whyAncestors ir.CauseID = "windows.ancestors"
	whyPerUser   ir.CauseID = "windows.per-user"
	whyChildPipe ir.CauseID = "windows.child-pipes"
	whyMSYS      ir.CauseID = "windows.msys"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyByName: "a name of the rule that is made or moved there after the start can be used as the rule around it " +
			"says: access lists belong to files and know no names",
		whyNameClosed: "a name of the rule that is made or moved there after the start stays closed where the rule " +
			"around it gives less",
		whyNamedHeld: "while the tool runs, files with names of rules by name that were there at the start neither " +
			"move nor go nor are replaced, and the directories that they are in do not move",
		whyBrings: "names in a moved directory, and files that are moved, keep their access lists or take those of " +
			"their new place, whatever " +
			"rules by name say",
		whyAsk:         "what the list may covers is not granted while a tool runs here",
		whyNoFiles:     "a job object and a token of the same user do not restrict files",
		whyNoNetwork:   "a job object does not restrict the network",
		whySameUser:    "processes of the same user can be opened and ended",
		whyAnyProgram:  "neither a job object nor the token keeps a program from being started",
		whySurrogate:   "a process that a service starts on the tool's behalf is outside of the job",
		whyNoEnvs:      "the process that starts a program chooses its environment",
		whyNoArgs:      "arguments are not checked",
		whyUserTime:    "only time in user mode counts",
		whyTimer:       "the loader ends the job when the time is over",
		whyNoSuchLimit: "a job object has no such limit",
		whyCarried: "files that other processes move here, or create with an explicit access list, are " +
			"refused",
		whyAbsent: "a path that does not exist at the start has the rights of the directory above it",
		whySelf: "one right covers removing and moving, so the paths of rules and the directories that " +
			"lead to them cannot be removed",
		whySymlink:    "symbolic links need a privilege that an AppContainer lacks",
		whyHidden:     "size and times are hidden too, unless the directory above may be listed",
		whyLibrary:    "a library loads only where execute is granted",
		whyListed:     "where programs are listed, nothing else can be executed or loaded as a library",
		whyMetadata:   "owner, access list and the attributes of directories cannot be changed",
		whySocket:     "an AppContainer may be refused even where the file may be written",
		whyReplaceAll: "a rename replaces a file only with create and delete there",
		whyOwnBase:    "files without an entry for ALL APPLICATION PACKAGES are refused",
		whyNoHosts: "no connection is opened, whatever its scheme, path or method: the capabilities of an " +
			"AppContainer know no hosts, and there is no proxy on this system",
		whyNoListen: "an AppContainer without capabilities accepts no connections from outside of it",
		whyNoName:   "no file on NTFS can have this name",
		whyOwn:      "the process that creates a file chooses its access list, and a moved file keeps its own",
		whyGain: "a move or link that would be an escalation succeeds, and takes effect when the next " +
			"start renews the access lists",
		whyLink:    "a hard link does not need read of the file",
		whyReplace: "with create and delete, a rename can replace a file without update of it",
		whyAmbient: "every AppContainer can read and run files with an entry for ALL APPLICATION PACKAGES",
		whyProfile: "Windows gives every AppContainer a profile directory to write in",
		whyOthers: "files that other processes move here stay as usable to the tool as they were, until " +
			"the next start",
		whyGuardless: "a protected path that does not exist at the start can be created, with an access list " +
			"that the tool chooses",
		whyMovedAway: "assumes that no other process moves files of the rule elsewhere during the run: they " +
			"keep their access lists",
		whyPipes:    "named pipes with an entry for ALL APPLICATION PACKAGES are open to every AppContainer",
		whyPrograms: "programs of the ambient directories, and programs that the tool creates, can be started",
		whySet:      "variables about the machine are set too, to values that every process can ask for",
		whySets: "variables about the machine are set too, to values that every process can ask for, and " +
			"LOCALAPPDATA, to a directory of the tool",
		whyItself: "processes of the tool may reach each other on loopback, and nothing else",
		whyBlock:  "assumes that the system hands the variables on to an AppContainer as they were set",
		whyConsole: "assumes that no process of low integrity can attach to a console outside of the " +
			"sandbox, nor type into one (CVE-2021-41346, until October 2021); the tool's own has no other process",
		whyConhost: "assumes that a console which the tool makes starts conhost.exe of the system and " +
			"no other program",
		whyNull: "the device NUL is refused unless an administrator has opened it since the system " +
			"started (accessc doctor --prepare)",
		whyAncestors: "size and times of the drive's root and of the directories that lead to the " +
			"workspace are refused unless an administrator has opened them (accessc doctor --prepare)",
		whyPerUser: "programs that are installed for one user, or outside of Program Files, are refused " +
			"without a rule of their own",
		whyChildPipe: "a named pipe can be made below \\\\.\\pipe\\LOCAL alone: node before the libuv of mid 2026 " +
			"starts no program whose output it reads",
		whyMSYS: "programs of MSYS and Cygwin, such as Git Bash, do not run in an AppContainer",
	}
}
