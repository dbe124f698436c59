package ir

import (
	"slices"
	"strings"
)

// Enforcement says how a platform holds one cell of a policy.
type Enforcement uint8

// The levels of enforcement. The zero value is a blank, which no ledger may hold.
const (
	// Unstated is the zero value.
	Unstated Enforcement = iota
	// Exact: the platform does what the policy says.
	Exact
	// Brokered: exact, by the supervisor.
	Brokered
	// Stricter: the platform permits less.
	Stricter
	// Coarser: the platform permits more.
	Coarser
	// Cooperative: only the tool's own check holds it.
	Cooperative
	// Unenforced: nothing holds it.
	Unenforced
	// Assumed: the cell is exact as long as something outside of the sandbox stays as it
	// is, which the reason says. It stops nothing and has no name to be accepted by.
	Assumed
)

var enforcementNames = [...]string{"unstated", "exact", "broker", "stricter", "coarser", "cooperative", "none", "assumption"}

// String returns the word that artifacts and messages use.
func (e Enforcement) String() string {
	if int(e) < len(enforcementNames) {
		return enforcementNames[e]
	}
	return "unstated"
}

// ParseEnforcement is the inverse of Enforcement.String.
func ParseEnforcement(s string) (Enforcement, bool) {
	for i, n := range enforcementNames {
		if n == s && i > 0 {
			return Enforcement(i), true
		}
	}
	return Unstated, false
}

// Held reports whether a cell may be relied upon without being accepted by name.
func (e Enforcement) Held() bool { return e == Exact || e == Brokered || e == Stricter || e == Assumed }

// Aspect is what a cell is about: a capability, or a part of one that platforms
// hold by other means than the rest.
type Aspect string

// The aspects. The five capabilities carry their own names.
const (
	AspectRead    Aspect = "read"
	AspectCreate  Aspect = "create"
	AspectUpdate  Aspect = "update"
	AspectDelete  Aspect = "delete"
	AspectExecute Aspect = "execute"
	// AspectMetadata is the part of update that is not contents.
	AspectMetadata Aspect = "metadata"
	// AspectMove is what renames and links may carry, and what is made and removed at names
	// that lead to rules: pins and no gain by moving.
	AspectMove Aspect = "move"
	// AspectSocket is connecting to socket files, which is a part of update.
	AspectSocket Aspect = "socket"
	// AspectOthers is the grants of a rule after other processes move or replace during a
	// run the files that the rule was about at its start.
	AspectOthers Aspect = "others"
	// AspectConnect is reaching a network target.
	AspectConnect Aspect = "connect"
	// AspectForward is handing over a variable.
	AspectForward Aspect = "forward"
	// AspectProgram is which programs start.
	AspectProgram Aspect = "program"
	// AspectArgs is with which arguments they start.
	AspectArgs Aspect = "args"
	// AspectEnvs is which variables they get.
	AspectEnvs Aspect = "envs"
	// AspectSignal is reaching processes outside by signals.
	AspectSignal Aspect = "signal"
)

// AspectOf returns the aspect of a capability.
func AspectOf(c Capability) Aspect { return Aspect(c.String()) }

// Aspects lists what a ledger must state for every rule of a resource. The aspect
// of a limit is its key.
func Aspects(r Resource) []Aspect {
	switch r {
	case FS:
		return []Aspect{
			AspectRead, AspectCreate, AspectUpdate, AspectDelete, AspectExecute, AspectMetadata, AspectMove, AspectSocket,
			AspectOthers,
		}
	case Net:
		return []Aspect{AspectConnect}
	case Env:
		return []Aspect{AspectForward}
	case Commands:
		return []Aspect{AspectProgram, AspectArgs, AspectEnvs}
	case Limits:
		return []Aspect{"limit"}
	case Process:
		return []Aspect{AspectSignal}
	default:
		return nil
	}
}

// Levels is a range of feature levels: Landlock ABI versions on Linux, tiers on
// Windows, always 0 on macOS. To is inclusive.
type Levels struct {
	From, To int
}

// Holds reports whether level is in the range.
func (l Levels) Holds(level int) bool { return l.From <= level && level <= l.To }

// Row says how a platform holds some cells that it holds alike.
type Row struct {
	Resource Resource
	// Rules are identifiers such as "fs[0]", "base", "home" or "default".
	Rules    []string
	Aspects  []Aspect
	Platform Platform
	Levels   Levels
	Is       Enforcement
	// Why is the reason, empty only for Exact.
	Why string
	// Accept is the name under which the cell may be accepted unheld; empty where
	// there is nothing to accept.
	Accept string
}

// Ledger is the enforcement of one tool on every platform.
type Ledger []Row

// Cell finds the row that states one cell.
func (l Ledger) Cell(r Resource, rule string, a Aspect, p Platform, level int) (Row, bool) {
	for _, row := range l {
		if row.Resource == r && row.Platform == p && row.Levels.Holds(level) &&
			slices.Contains(row.Aspects, a) && slices.Contains(row.Rules, rule) {
			return row, true
		}
	}
	return Row{}, false
}

// On returns the rows of one platform at one level.
func (l Ledger) On(p Platform, level int) Ledger {
	var out Ledger
	for _, row := range l {
		if row.Platform == p && row.Levels.Holds(level) {
			out = append(out, row)
		}
	}
	return out
}

// LedgerBuilder collects cells and joins those that are held alike.
type LedgerBuilder struct {
	platform Platform
	index    map[ledgerKey]int
	rows     Ledger
}

type ledgerKey struct {
	resource Resource
	aspect   Aspect
	levels   Levels
	is       Enforcement
	why      string
	accept   string
}

// NewLedger starts the ledger of one platform.
func NewLedger(p Platform) *LedgerBuilder {
	return &LedgerBuilder{platform: p, index: make(map[ledgerKey]int)}
}

// Held is how a cell is held.
type Held struct {
	Is     Enforcement
	Why    string
	Accept string
}

// Add states one cell. Stating a cell twice is a defect that Ledger tests find.
func (b *LedgerBuilder) Add(r Resource, rule string, a Aspect, l Levels, h Held) {
	k := ledgerKey{r, a, l, h.Is, h.Why, h.Accept}
	i, ok := b.index[k]
	if !ok {
		i = len(b.rows)
		b.index[k] = i
		b.rows = append(b.rows, Row{
			Resource: r, Aspects: []Aspect{a}, Platform: b.platform, Levels: l, Is: h.Is, Why: h.Why, Accept: h.Accept,
		})
	}
	b.rows[i].Rules = append(b.rows[i].Rules, rule)
}

// Ledger returns the rows, aspects that share everything else joined, in the
// order in which their first cell was stated.
func (b *LedgerBuilder) Ledger() Ledger {
	type key struct {
		resource Resource
		levels   Levels
		is       Enforcement
		why      string
		accept   string
		rules    string
	}
	seen := make(map[key]int, len(b.rows))
	var out Ledger
	for _, row := range b.rows {
		k := key{row.Resource, row.Levels, row.Is, row.Why, row.Accept, strings.Join(row.Rules, " ")}
		if i, ok := seen[k]; ok {
			out[i].Aspects = append(out[i].Aspects, row.Aspects...)
			continue
		}
		seen[k] = len(out)
		out = append(out, row)
	}
	return out
}

// Acceptable lists every name under which a cell may be accepted, with what is
// then not held.
var Acceptable = []AcceptName{
	{"commands.args", "arguments of started programs are not checked"},
	{"commands.envs", "started programs see all of the tool's variables"},
	{"commands.program", "a program that may be read can still be run by a loader or an interpreter"},
	{"fs.create", "a tool can do more or less with what it creates itself than the rules say"},
	{"fs.default", "system directories that every confined program may read stay readable"},
	{"fs.metadata", "mode, owner, times and attributes can be changed everywhere"},
	{"fs.move", "a rule's path can be moved, or what moves keeps the rights of its old place"},
	{AcceptNames, "other spellings of a rule's name, in upper or lower case, are not under the rule"},
	{"fs.paths", "file rules are not held by the system"},
	{"fs.protected", "protected paths that are not there at the start can be made, and then be changed"},
	{"fs.revoke", "directories that hold an exception are closed to what appears in them later"},
	{"limits.cpu_time", "the limit counts per process"},
	{"limits.file_size", "the limit is not held"},
	{"limits.memory", "the limit counts per process, or is not held"},
	{"limits.open_files", "the limit is not held"},
	{"limits.processes", "the limit counts all of the user's processes"},
	{"limits.wall_time", "the limit is not held"},
	{"net.address", "addresses are not opened, or more than the rules name"},
	{"net.default", "the network is not closed"},
	{"net.host", "any host is reached at the ports that the rules name"},
	{"process.signal", "signals reach processes outside of the sandbox"},
}

// AcceptNames is the name of a cell that depends on the directories of a host: whether they
// tell upper from lower case.
const AcceptNames = "fs.names"

// AcceptName is one name that --accept and access.accept take.
type AcceptName struct {
	Name, Effect string
}

// BestTier is the strongest tier of the Windows loader: an AppContainer. Tier 0 is
// a job object with a restricted token.
const BestTier = 1
