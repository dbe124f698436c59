package ir

import (
	"slices"
	"sync"
)

// Enforcement says how a platform holds a cell of a policy.
type Enforcement uint8

// The levels of enforcement. The zero value is a blank, which no ledger may hold.
const (
	// Unstated is the zero value.
	Unstated Enforcement = iota
	// Exact: the platform does what the policy says.
	Exact
	// Supervised: exact, by the supervisor.
	Supervised
	// Stricter: the platform permits less.
	Stricter
	// Weaker: the platform permits more.
	Weaker
	// Advisory: only the tool's own check enforces it.
	Advisory
	// Unenforced: nothing enforces it.
	Unenforced
	// Assumed: the cell is exact as long as something outside of the sandbox stays as it
	// is, which the reason says. It stops nothing and has no name to be accepted by.
	Assumed
)

var enforcementNames = [...]string{"unstated", "exact", "supervised", "stricter", "weaker", "advisory", "none",
	"assumption"}

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
func (e Enforcement) Held() bool {
	return e == Exact || e == Supervised || e == Stricter || e == Assumed
}

// Aspect is what a cell is about: a capability, or a part of a capability that platforms hold by other means than the
// rest.
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
	// AspectAsk is being granted while the tool runs. Only rules of Tool.May and MayNet have it.
	AspectAsk Aspect = "ask"
	// AspectConnect is reaching a network target.
	AspectConnect Aspect = "connect"
	// AspectListen is accepting connections.
	AspectListen Aspect = "listen"
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
// of a limit is its key. The list is not to be changed.
func Aspects(r Resource) []Aspect {
	switch r {
	case FS:
		return aspectsOfFS
	case Net:
		return aspectsOfNet
	case Env:
		return aspectsOfEnv
	case Commands:
		return aspectsOfCommands
	case Limits:
		return aspectsOfLimits
	case Process:
		return aspectsOfProcess
	default:
		return nil
	}
}

var (
	aspectsOfFS = []Aspect{
		AspectRead, AspectCreate, AspectUpdate, AspectDelete, AspectExecute, AspectMetadata, AspectMove, AspectSocket,
		AspectOthers,
	}
	aspectsOfNet      = []Aspect{AspectConnect, AspectListen}
	aspectsOfEnv      = []Aspect{AspectForward}
	aspectsOfCommands = []Aspect{AspectProgram, AspectArgs, AspectEnvs}
	aspectsOfLimits   = []Aspect{"limit"}
	aspectsOfProcess  = []Aspect{AspectSignal}
)

// Cell is a thing that a ledger states: an aspect of a rule, of the base, or of all that no
// rule is about.
type Cell struct {
	Resource Resource // that the cell is about
	ID       RuleID   // of the rule, or of an implied rule
	Aspect   Aspect   // of the resource
	// Rule is nil for the base, for the default, for limits and for processes. The one of
	// protected paths has all the capabilities that any of them grants.
	Rule Rule
	// Index is the place of a rule in the tool's list for the resource; it is 0 for files, whose
	// rules are not all in a list.
	Index int
	// Limit is zero for other resources.
	Limit LimitKind
}

// Cells lists the cells that a ledger must state for a view, in the order of ledgers.
func (v *View) Cells() []Cell {
	stated := v.Stated()
	out := make([]Cell, 0, len(aspectsOfFS)*len(stated)+v.maxOthers())
	for _, e := range stated {
		out = e.cells(out)
	}
	return v.otherCells(out)
}

// cells adds the cells of a rule on files.
func (e Entry) cells(to []Cell) []Cell {
	for _, a := range aspectsOfFS {
		to = append(to, Cell{Resource: FS, ID: e.ID, Rule: e.Rule, Aspect: a})
	}
	return to
}

// maxOthers is about the number of otherCells.
func (v *View) maxOthers() int {
	return 2*len(aspectsOfFS) + len(v.Tool.Net) + len(v.Tool.Env) + len(v.Tool.Limits) + 64
}

// otherCells adds those that no rule on files is about.
func (v *View) otherCells(out []Cell) []Cell {
	add := func(c Cell) {
		for _, c.Aspect = range Aspects(c.Resource) {
			if r, ok := c.Rule.(*NetRule); !ok || r.Listen == (c.Aspect == AspectListen) {
				out = append(out, c)
			}
		}
	}
	if v.HasBase() {
		add(Cell{Resource: FS, ID: BaseRule})
	}
	add(Cell{Resource: FS, ID: DefaultRule})
	for i := range v.Tool.May {
		out = append(out, Cell{Resource: FS, ID: MayRuleID(i), Aspect: AspectAsk})
	}
	for i := range v.Tool.MayNet {
		out = append(out, Cell{Resource: Net, ID: MayNetRuleID(i), Aspect: AspectAsk})
	}
	for i := range v.Tool.Net {
		add(Cell{Resource: Net, ID: NetRuleID(i), Rule: &v.Tool.Net[i], Index: i})
	}
	add(Cell{Resource: Net, ID: DefaultRule})
	for i := range v.Tool.Env {
		add(Cell{Resource: Env, ID: EnvRuleID(i), Rule: &v.Tool.Env[i], Index: i})
	}
	add(Cell{Resource: Env, ID: DefaultRule})
	if set := v.Tool.Commands; set != nil {
		for i := range set.Rules {
			add(Cell{Resource: Commands, ID: set.Rules[i].ID(), Rule: &set.Rules[i], Index: i})
		}
	}
	add(Cell{Resource: Commands, ID: DefaultRule})
	for _, l := range v.Tool.Limits {
		add(Cell{Resource: Limits, ID: l.ID(), Limit: l.Kind})
	}
	add(Cell{Resource: Process, ID: DefaultRule})
	return out
}

// Restricts reports whether a rule says anything about an aspect of the programs that it lets
// start.
func (r *CommandRule) Restricts(a Aspect) bool {
	return a != AspectArgs && a != AspectEnvs || a == AspectArgs && !r.AnyArgs || a == AspectEnvs && !r.AllEnvs
}

// Levels is a range of feature levels: Landlock ABI versions on Linux, tiers on
// Windows, always 0 on macOS. To is inclusive.
type Levels struct {
	From, To int // both inclusive
}

// Holds reports whether level is in the range.
func (l Levels) Holds(level int) bool { return l.From <= level && level <= l.To }

// Row says how a platform enforces some cells that it enforces alike.
type Row struct {
	Resource Resource // the type of the rules
	Rules    []RuleID // that the row is about
	Aspects  []Aspect // of these rules
	Platform Platform // one system
	Levels   Levels   // its feature levels
	Held
}

// Held is how a cell is enforced.
type Held struct {
	Is Enforcement // the strength
	// Causes are empty only where Is is Exact.
	Causes []Cause
	// Gap is the name under which the cell may be accepted as it is; empty where there is
	// nothing to accept.
	Gap Gap
	// Evidence names the tests that show the cell on a system where no test has run yet.
	Evidence []Evidence
}

// Because is a cell with causes that have no parts.
func Because(is Enforcement, gap Gap, causes ...CauseID) Held {
	h := Held{Is: is, Gap: gap}
	if len(causes) > 0 {
		h.Causes = make([]Cause, len(causes))
	}
	for i, id := range causes {
		h.Causes[i].ID = id
	}
	return h
}

// Equal reports whether two cells are enforced alike, for the same causes.
func (h Held) Equal(o Held) bool {
	return h.Is == o.Is && h.Gap == o.Gap && slices.Equal(h.Causes, o.Causes) && slices.Equal(h.Evidence, o.Evidence)
}

// Cites reports whether one of the causes has an identifier.
func (h Held) Cites(id CauseID) bool {
	return slices.ContainsFunc(h.Causes, func(r Cause) bool { return r.ID == id })
}

// Evidence is the name of a test, with the suite before a colon.
type Evidence string

// Ledger is the enforcement of a tool on every platform.
// See decision D25.
type Ledger []Row

// Cell finds the row that states a cell.
func (l Ledger) Cell(r Resource, rule RuleID, a Aspect, p Platform, level int) (Row, bool) {
	for _, row := range l {
		if row.Resource == r && row.Platform == p && row.Levels.Holds(level) &&
			slices.Contains(row.Aspects, a) && slices.Contains(row.Rules, rule) {
			return row, true
		}
	}
	return Row{}, false
}

// On returns the rows of a platform at a level.
func (l Ledger) On(p Platform, level int) Ledger {
	var out Ledger
	for i := range l {
		if row := &l[i]; row.Platform == p && row.Levels.Holds(level) {
			out = append(out, *row)
		}
	}
	return out
}

// LedgerBuilder collects cells and joins those that are enforced alike.
type LedgerBuilder struct {
	platform Platform
	rows     Ledger
	// at is 1 more than the place of the last row with a key, which is alike in rows and cheap to compare; before is
	// 1 more than the place of the row before it with the same key. Both are 0 for none.
	at     map[ledgerKey]int
	before []int // by row
	// stated are the places of the rows that cells were added to since it was emptied.
	stated []int
}

type ledgerKey struct {
	resource Resource
	aspect   Aspect
	levels   Levels
}

// usualRows is about the number of rows that a ledger has on a platform.
const usualRows = 64

// NewLedger starts the ledger of a platform, which Ledger ends.
func NewLedger(p Platform) *LedgerBuilder {
	b := ledgerBuilders.Get().(*LedgerBuilder)
	b.platform = p
	return b
}

// ledgerBuilders keep their memory: a build makes thousands of ledgers of about the same size.
var ledgerBuilders = sync.Pool{New: func() any {
	return &LedgerBuilder{rows: make(Ledger, 0, usualRows), at: make(map[ledgerKey]int, usualRows/2)}
}}

// Add states a cell. Stating a cell twice is a defect that Ledger tests find.
func (b *LedgerBuilder) Add(c Cell, l Levels, h Held) {
	key := ledgerKey{c.Resource, c.Aspect, l}
	last := b.at[key]
	for i := last; i > 0; i = b.before[i-1] {
		if row := &b.rows[i-1]; row.Equal(h) {
			row.Rules = append(row.Rules, c.ID)
			b.stated = append(b.stated, i-1)
			return
		}
	}
	b.stated = append(b.stated, len(b.rows))
	b.before = append(b.before, last)
	b.at[key] = len(b.rows) + 1
	b.rows = append(b.rows, Row{
		Resource: c.Resource, Rules: []RuleID{c.ID}, Aspects: []Aspect{c.Aspect}, Platform: b.platform, Levels: l,
		Held: h,
	})
}

// Fill states the cells of a view, each by calls of Add in state. Rules on files are
// many and of few kinds: rules of one kind are held alike in every aspect, so state is called only for the cells of the
// first of them. It is to be called once, before any other cell is stated.
// See decision D25.
func Fill[K comparable](b *LedgerBuilder, v *View, kind func(RuleID, *FSRule) K, state func(Cell)) {
	stated := v.Stated()
	rows := make([][]int, len(stated)) // of each rule
	known := map[K][]int{}
	for i, e := range stated {
		k := kind(e.ID, e.Rule)
		of, ok := known[k]
		if !ok {
			b.stated = nil
			for _, c := range e.cells(make([]Cell, 0, len(aspectsOfFS))) {
				state(c)
			}
			of = b.stated
			known[k] = of
		}
		rows[i] = of
	}
	b.list(stated, rows)
	for _, c := range v.otherCells(make([]Cell, 0, v.maxOthers())) {
		state(c)
	}
}

// list sets the rules of all rows, given the rows of each rule.
func (b *LedgerBuilder) list(rules []Entry, rows [][]int) {
	const further = 2 // the base and the default, which come after the rules
	sizes, all := make([]int, len(b.rows)), further*len(b.rows)
	for _, of := range rows {
		for _, at := range of {
			sizes[at]++
		}
		all += len(of)
	}
	ids := make([]RuleID, all)
	for at, size := range sizes {
		b.rows[at].Rules, ids = ids[:0:size+further], ids[size+further:]
	}
	for i, of := range rows {
		for _, at := range of {
			b.rows[at].Rules = append(b.rows[at].Rules, rules[i].ID)
		}
	}
}

// Ledger returns the rows, aspects that share everything else joined, in the
// order in which their first cell was stated. The builder must not be used after that.
func (b *LedgerBuilder) Ledger() Ledger {
	out := make(Ledger, 0, len(b.rows))
	for i := range b.rows {
		row := &b.rows[i]
		if same := out.alike(row); same != nil {
			same.Aspects = append(same.Aspects, row.Aspects...)
			continue
		}
		out = append(out, *row)
	}
	clear(b.rows)
	clear(b.at)
	b.rows, b.before, b.stated = b.rows[:0], b.before[:0], nil
	ledgerBuilders.Put(b)
	return out
}

// alike returns the row that differs from another row only in the aspects, nil if there is none.
func (l Ledger) alike(row *Row) *Row {
	for i := range l {
		o := &l[i]
		if o.Resource == row.Resource && o.Levels == row.Levels && o.Is == row.Is && len(o.Rules) == len(row.Rules) &&
			o.Equal(row.Held) && slices.Equal(o.Rules, row.Rules) {
			return o
		}
	}
	return nil
}

// BestTier is the strongest tier of the Windows loader: an AppContainer. Tier 0 is
// a job object with a restricted token.
const BestTier = 1
