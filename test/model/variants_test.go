package model_test

// variant is one search: of a model, with switches.
type variant struct {
	name, model, flags string
	// wrong is the error that the search must find; empty where it must find none.
	wrong string
	// trail are steps that the shortest way there takes, in order, as expressions.
	trail []string
	// short searches are part of every run.
	short bool
}

const (
	done     = "wrong: done though denied"
	refused  = "wrong: refused though granted"
	moves    = "the tool moves p to d/p"
	links    = "the tool links p to d/p"
	carries  = "the tool moves g to d/g"
	swaps    = "the host exchanges g and d"
	hostMove = "the host moves p to d/p"
	hostLink = "the host links p to d/p"
	replaces = "the host replaces p"
	goesOn   = "goes on: .*"
)

var variants = []variant{
	// Opens of a class that is judged.
	{name: "open", model: "open.pml", flags: "-DTOOL_CHANGES -DHOST=2 -DHOST_CHANGES"},
	{name: "open/one worker", model: "open.pml", flags: "-DWORKERS=1 -DTOOL_CHANGES -DHOST=1 -DHOST_CHANGES"},
	{name: "open/needs no lock", model: "open.pml", flags: "-DWALKS -DNO_LOCK -DTOOL_CHANGES -DHOST=1 -DHOST_CHANGES"},
	{name: "open/all resolved", model: "open.pml", flags: "-DWALKS -DTOOL_CHANGES -DHOST=2 -DHOST_CHANGES"},
	{name: "open/directly", model: "open.pml", flags: "-DLATE -DHOST=3 -DHOST_SWAPS -DHOST_LINKS"},
	{name: "open/directly, whatever was opened", model: "open.pml", flags: "-DLATE -DDIRECT_BLIND -DHOST=3 -DHOST_SWAPS -DHOST_LINKS",
		wrong: done, trail: []string{swaps, swaps, hostLink, "directly", "thread . opens d/p, handed"}},
	{name: "open/old while nothing moves", model: "open.pml", flags: "-DWALKS -DOLD", short: true},
	{name: "open/old, the tool moves", model: "open.pml", flags: "-DWALKS -DOLD -DTOOL_MOVES", short: true,
		wrong: done, trail: []string{moves, goesOn, "thread . writes the path d/p", "thread . opens d/p, continued"}},
	{name: "open/old, the tool links", model: "open.pml", flags: "-DWALKS -DOLD -DTOOL_LINKS",
		wrong: done, trail: []string{links, "thread . opens d/p, continued"}},
	{name: "open/old, the tool moves a directory", model: "open.pml", flags: "-DWALKS -DOLD -DTOOL_CARRIES",
		wrong: done, trail: []string{carries, goesOn, "thread . opens d/f, continued"}},
	{name: "open/old, the host exchanges directories", model: "open.pml", flags: "-DWALKS -DOLD -DHOST=1 -DHOST_SWAPS",
		wrong: done, trail: []string{swaps, goesOn, "thread . opens d/f, continued"}},
	{name: "open/old, the host moves", model: "open.pml", flags: "-DWALKS -DOLD -DHOST=1 -DHOST_MOVES",
		wrong: done, trail: []string{hostMove, goesOn, "thread . opens d/p, continued"}},
	{name: "open/old, the host links", model: "open.pml", flags: "-DWALKS -DOLD -DHOST=1 -DHOST_LINKS",
		wrong: done, trail: []string{hostLink, "thread . opens d/p, continued"}},
	{name: "open/faults continued", model: "open.pml", flags: "-DWALKS -DCONTINUE_FAULTS -DTOOL_MOVES",
		wrong: done, trail: []string{moves, "goes on: a fault", "thread . opens d/p, continued"}},
	{name: "open/base continued", model: "open.pml", flags: "-DWALKS -DCONTINUE_BASE -DHOST=1 -DHOST_SWAPS",
		wrong: done, trail: []string{swaps, "goes on: the base", "thread . opens d/f, continued"}},
	{name: "open/copied twice", model: "open.pml", flags: "-DWALKS -DCOPY_TWICE", short: true,
		wrong: done, trail: []string{"thread . writes the path d/f", "thread . opens d/f, handed"}},
	{name: "open/made by path", model: "open.pml", flags: "-DWALKS -DACT_BY_PATH",
		wrong: done, trail: []string{"thread . leads l to d", "thread . opens d/f, handed"}},
	{name: "open/text judged", model: "open.pml", flags: "-DWALKS -DJUDGE_TEXT",
		wrong: done, trail: []string{"thread . leads l to d", "thread . opens d/f, handed"}},
	{name: "open/bound by the ruleset", model: "open.pml", flags: "-DWALKS -DACT_BOUND -DHOST=1 -DHOST_REPLACES",
		wrong: refused, trail: []string{replaces, "thread . is refused"}},

	// Opens of a class that is not judged.
	{name: "whole", model: "whole.pml", flags: "-DHOST=2 -DHOST_OTHERS"},
	{name: "whole/replaced", model: "whole.pml", flags: "-DHOST=2 -DHOST_OTHERS -DHOST_REPLACES -DSTRICTER"},
	{name: "whole/replaced is refused", model: "whole.pml", flags: "-DHOST=1 -DHOST_REPLACES",
		wrong: refused, trail: []string{replaces, "thread . is refused"}},
	{name: "whole/without the assumption, exchanged", model: "whole.pml", flags: "-DHOST=1 -DHOST_SWAPS -DSTRICTER", short: true,
		wrong: done, trail: []string{swaps, "thread . opens d/f, continued"}},
	{name: "whole/without the assumption, moved", model: "whole.pml", flags: "-DHOST=1 -DHOST_MOVES -DSTRICTER",
		wrong: done, trail: []string{hostMove, "thread . opens d/p, continued"}},
	{name: "whole/without the assumption, linked", model: "whole.pml", flags: "-DHOST=1 -DHOST_LINKS -DSTRICTER",
		wrong: done, trail: []string{hostLink, "thread . opens d/p, continued"}},
	{name: "whole/the tool may link a granted file", model: "whole.pml", flags: "-DTOOL_LINKS",
		wrong: done, trail: []string{links, "thread . opens d/p, continued"}},
	{name: "whole/the tool may move a granted file", model: "whole.pml", flags: "-DTOOL_MOVES",
		wrong: done, trail: []string{moves, "thread . opens d/p, continued"}},
	{name: "whole/the tool may move a granted directory", model: "whole.pml", flags: "-DTOOL_CARRIES",
		wrong: done, trail: []string{carries, "thread . opens d/f, continued"}},

	// Starts.
	{name: "start", model: "start.pml", flags: "-DTOOL_CHANGES -DHOST=1 -DHOST_CHANGES"},
	{name: "start/by name, judged again", model: "start.pml", flags: "-DJUDGE_AGAIN -DBY_NAME -DTOOL_CHANGES -DHOST=1 -DHOST_CHANGES"},
	{name: "start/by name", model: "start.pml", flags: "-DBY_NAME -DTOOL_LINKS",
		wrong: done, trail: []string{links, "thread . runs d/p, continued"}},
	{name: "start/old, the tool moves", model: "start.pml", flags: "-DOLD -DNO_RACE -DTOOL_MOVES", short: true,
		wrong: done, trail: []string{moves, goesOn, "thread . runs d/p, continued"}},
	{name: "start/old, the tool links", model: "start.pml", flags: "-DOLD -DBY_NAME -DNO_RACE -DTOOL_LINKS",
		wrong: done, trail: []string{links, "thread . runs d/p, continued"}},
	{name: "start/old, the tool moves a directory", model: "start.pml", flags: "-DOLD -DNO_RACE -DTOOL_CARRIES",
		wrong: done, trail: []string{carries, goesOn, "thread . runs d/f, continued"}},
	{name: "start/old, the host moves", model: "start.pml", flags: "-DOLD -DNO_RACE -DHOST=1 -DHOST_MOVES",
		wrong: done, trail: []string{hostMove, goesOn, "thread . runs d/p, continued"}},
	{name: "start/old, the host exchanges directories", model: "start.pml", flags: "-DOLD -DNO_RACE -DHOST=1 -DHOST_SWAPS",
		wrong: done, trail: []string{swaps, goesOn, "thread . runs d/f, continued"}},
	{name: "start/asked of the ruleset first", model: "start.pml", flags: "-DBY_RULESET -DNO_RACE -DTOOL_MOVES",
		wrong: done, trail: []string{moves, goesOn, "thread . runs d/p, continued"}},
	{name: "start/not compared", model: "start.pml", flags: "-DNO_COMPARISON -DTOOL_MOVES",
		wrong: done, trail: []string{moves, "thread . writes the path d/p", "thread . runs d/p, continued"}},
	{name: "start/not copied", model: "start.pml", flags: "-DNO_COPIES -DHOST=1 -DHOST_REPLACES",
		wrong: refused, trail: []string{replaces, "thread . is refused"}},

	// Starts of threads that have a debugger.
	{name: "debugger", model: "start.pml", flags: "-DDEBUGGER"},
	{name: "debugger/the flag alone, nothing new", model: "start.pml", flags: "-DDEBUGGER -DFLAG_ALONE -DNOTHING_NEW"},
	{name: "debugger/the flag alone", model: "start.pml", flags: "-DDEBUGGER -DFLAG_ALONE",
		wrong: done, trail: []string{carries, "the tool makes n in the directory", "thread 0 runs d/n, continued"}},
	{name: "debugger/no flag", model: "start.pml", flags: "-DDEBUGGER -DNO_FLAG",
		wrong: done, trail: []string{"the tool (moves|links) .*", "thread 0 runs d/., continued"}},
	{name: "debugger/flag set after the move", model: "start.pml", flags: "-DDEBUGGER -DFLAG_LATE",
		wrong: done, trail: []string{"the tool (moves|links) .*", "thread 0 runs d/., continued"}},
	{name: "debugger/flag read without the lock", model: "start.pml", flags: "-DDEBUGGER -DFLAG_UNLOCKED",
		wrong: done, trail: []string{carries, "the tool makes n in the directory", "thread 0 runs d/n, continued"}},

	// Names.
	{name: "names", model: "names.pml", flags: "-DSYMLINK"},
	{name: "names/one change by the host", model: "names.pml", flags: "-DHOST=1"},
	{name: "names/moves, three changes by the host", model: "names.pml", flags: "-DHOST=3 -DMOVES_ALONE"},
	{name: "names/moves, names made in the kernel", model: "names.pml", flags: "-DHOST=1 -DMOVES_ALONE -DIN_KERNEL"},
	{name: "names/the way back is taken", model: "names.pml", flags: "-DSTRAYS_STAY -DHOST=3 -DMOVES_ALONE",
		wrong: "wrong: a stray stays", trail: []string{"the host moves d/f into the directory", "thread . moves f from g to root", "the host makes f in the directory"}},
	{name: "names/judged at the act", model: "names.pml", flags: "-DHOST=1 -DAT_THE_ACT",
		wrong: "wrong: denied where it lies now", trail: []string{"the host moves g to o/g", "thread . makes f in g"}},
	{name: "names/made by path", model: "names.pml", flags: "-DACT_BY_PATH -DSYMLINK", short: true,
		wrong: done, trail: []string{"thread . leads l to o", "thread . makes f in o"}},
	{name: "names/linked by name", model: "names.pml", flags: "-DLINK_BY_NAME -DHOST=2",
		wrong: done, trail: []string{"the host moves d/f into the directory", "thread . links f in g to root"}},
	{name: "names/old, kinds compared", model: "names.pml", flags: "-DNO_LOOK -DHOST=2 -DMOVES_ALONE",
		wrong: done, trail: []string{"the host moves d/f into the directory", "thread . moves f from g to root"}},
	{name: "names/no lock", model: "names.pml", flags: "-DNO_LOCK",
		wrong: "wrong: a stray is seen", trail: []string{"thread 1 moves g from root to d", "thread 1 makes f in g", "thread 0 moves f from g to root"}},
	{name: "names/no lock, no look", model: "names.pml", flags: "-DNO_LOCK -DNO_LOOK",
		wrong: done, trail: []string{"thread 1 moves g from root to d", "thread 1 makes f in g", "thread 0 moves f from g to root"}},

	// Names that lead to rules.
	{name: "pins", model: "pins.pml"},
	{name: "pins/linked", model: "pins.pml", flags: "-DLINKED -DCOUNT=3"},
	{name: "pins/old, a symlink made", model: "pins.pml", flags: "-DSYMLINK_AT_PIN",
		wrong: "wrong: the secret is read", trail: []string{"the tool makes a symlink a in root", "the host writes the secret"}},
	{name: "pins/old, a symlink removed", model: "pins.pml", flags: "-DLINKED -DREMOVE_AT_PIN",
		wrong: "wrong: the secret is read", trail: []string{"the tool removes b in a", "the host writes the secret"}},
	{name: "pins/a file linked", model: "pins.pml", flags: "-DLINK_AT_PIN",
		wrong: "wrong: the secret is read", trail: []string{"the tool links n in root to s in b", "the host writes the secret"}},
	{name: "pins/moved there", model: "pins.pml", flags: "-DMOVE_TO_PIN",
		wrong: "wrong: the secret is read", trail: []string{"the tool moves n in root to a in root", "the host writes the secret"}},
	{name: "pins/moved away", model: "pins.pml", flags: "-DMOVE_OF_PIN",
		wrong: "wrong: the secret is read", trail: []string{"the host writes the secret", "the tool moves a in root to n in root"}},

	// Waiting.
	{name: "waits", model: "waits.pml", short: true},
	{name: "waits/room for all", model: "waits.pml", flags: "-DPATIENT=3"},
	{name: "waits/the lock is held", model: "waits.pml", flags: "-DHOLD_LOCK", short: true,
		wrong: "invalid end state", trail: []string{"a move wants the lock", "side 1 of fifo 0 waits for the other"}},
	{name: "waits/one pool", model: "waits.pml", flags: "-DONE_POOL",
		wrong: "invalid end state", trail: []string{"side . of fifo . waits for the other", "side . of fifo . waits for the other"}},

	// Grants by the user, and their revocation.
	{name: "grants", model: "grants.pml", short: true},
	{name: "grants/exchanged without the lock", model: "grants.pml", flags: "-DNO_LOCK", short: true,
		wrong: "wrong: used after its revocation was answered", trail: []string{"the revocation is answered", "thread . makes its call"}},
	{name: "grants/asked under the lock", model: "grants.pml", flags: "-DHOLD_LOCK", short: true, wrong: "invalid end state"},
	{name: "grants/once by the view of the question", model: "grants.pml", flags: "-DOLD_VIEW", short: true,
		wrong: "wrong: used after its revocation was answered", trail: []string{"the revocation is answered", "thread . makes its call"}},
	{name: "grants/once for all", model: "grants.pml", flags: "-DONCE_FOR_ALL", short: true,
		wrong: "wrong: used more often than granted", trail: []string{"thread . makes its call", "thread . makes its call"}},
	{name: "grants/once is kept", model: "grants.pml", flags: "-DONCE_KEPT", short: true,
		wrong: "wrong: used more often than granted", trail: []string{"thread . makes its call", "thread . makes its call"}},
}
