package winjob

import (
	"math"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "winjob" }

// File implements backends.Backend.
func (Backend) File() string { return "winjob.json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Windows }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	spec, ledger, refusals := Build(t, target)
	out := backends.Output{Ledger: ledger, Refusals: refusals}
	if len(refusals) > 0 {
		return out, nil
	}
	var err error
	out.Data, err = backends.JSON(spec)
	return out, err
}

// Refusals implements backends.Refuser.
func (Backend) Refusals(t *ir.Tool, target backends.Target) []backends.Refusal {
	return newLayout(ir.NewView(t, ir.Windows, target.Facts), target).refusals
}

// Build compiles a tool to the value that the artifact is the text of. With a
// refusal the value is incomplete and must not be used.
func Build(t *ir.Tool, target backends.Target) (*Spec, ir.Ledger, []backends.Refusal) {
	l := newLayout(ir.NewView(t, ir.Windows, target.Facts), target)
	ledger := l.ledger()
	s := &Spec{
		Header:       backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()},
		Launch:       backends.NewLaunch(t, target, ledger),
		MinimumBuild: MinimumBuild, Tier: ir.BestTier, Tiers: tiers(ledger), Variables: l.variables(),
		Console: consoleOwn,
		Job:     job(t), Token: token(), Attributes: attributes(),
		Container: container(t), Files: l.files(), Programs: l.programs(), Network: network(t),
	}
	s.Workspace = path(target, ir.In(""))
	if s.Home != "" {
		s.Home = path(target, ir.Location{Root: ir.Root{Kind: ir.Home}})
	}
	return s, ledger, l.refusals
}

// The sections that every tier applies, and those for the AppContainer.
var (
	sectionsOfJob = []string{"command", "console", "environment", "jobObject", "limits", "procThreadAttributes",
		"token", "variables"}
	sectionsOfContainer = []string{"appContainer", "fileAccess", "network", "programs"}
)

// tiers summarises the sections and the enforcement of each tier.
func tiers(l ir.Ledger) []Tier {
	return []Tier{
		{0, "job", false, sectionsOfJob, sectionsOfContainer, weakest(l, 0)},
		{
			ir.BestTier, "appcontainer", true, slices.Concat(sectionsOfJob, sectionsOfContainer), []string{},
			weakest(l, ir.BestTier),
		},
	}
}

func weakest(l ir.Ledger, tier int) Weakest {
	worst := map[ir.Resource]ir.Enforcement{}
	for _, r := range l.On(ir.Windows, tier) {
		if slices.Contains(r.Aspects, ir.AspectAsk) {
			continue // it grants nothing by itself
		}
		if have, ok := worst[r.Resource]; !ok || backends.Weakness(r.Is) > backends.Weakness(have) {
			worst[r.Resource] = r.Is
		}
	}
	word := func(r ir.Resource) string {
		if is, ok := worst[r]; ok {
			return is.String()
		}
		return ir.Exact.String()
	}
	return Weakest{word(ir.FS), word(ir.Net), word(ir.Env), word(ir.Commands), word(ir.Limits), word(ir.Process)}
}

// localAppData is set even where it is not the tool's own and no rule forwards it: without it
// CreateProcess starts no AppContainer (error 203, as the arapuca project reports). It names a
// directory of the tool's own.
const localAppData = "LOCALAPPDATA"

// ofMachine are variables about the machine, set even where no rule forwards them: programs take
// them for granted (libuv adds most to the environment of every child, "required_vars" of its
// process.c; without SystemRoot system libraries do not initialise, and without SystemDrive
// PowerShell makes a directory of the name %SystemDrive%). Every process can ask the system for
// each of the values; they are the system's and not the caller's.
var ofMachine = []Variable{
	{"ALLUSERSPROFILE", "${ProgramData}"},
	{"ComSpec", `${SystemRoot}\System32\cmd.exe`},
	{"NUMBER_OF_PROCESSORS", "${processors}"},
	{"OS", "Windows_NT"},
	{"PATHEXT", ".COM;.EXE;.BAT;.CMD"},
	{"PROCESSOR_ARCHITECTURE", "${architecture}"},
	{"ProgramData", "${ProgramData}"},
	{"ProgramFiles", "${ProgramFiles}"},
	{"ProgramFiles(x86)", "${ProgramFiles(x86)}"},
	{"SystemDrive", "${SystemDrive}"},
	{"SystemRoot", "${SystemRoot}"},
	{"USERNAME", "${user}"},
	{"windir", "${SystemRoot}"},
}

// variables lists the variables that the loader sets.
func (l *layout) variables() []Variable {
	out := []Variable{}
	tmp := ir.Root{Kind: ir.Temp}.String()
	home := tmp
	if l.view.Tool.Home == ir.HomePrivate {
		home = ir.Root{Kind: ir.Home}.String()
	}
	for _, v := range slices.Concat([]Variable{
		{ir.ContextVariable, "${context}"},
		{"APPDATA", home + `\AppData\Roaming`},
		{"HOME", home},
		{localAppData, home + `\AppData\Local`},
		{"TEMP", tmp}, {"TMP", tmp}, {"TMPDIR", tmp},
		{"USERPROFILE", home},
		{"XDG_CACHE_HOME", home + `\.cache`},
		{"XDG_CONFIG_HOME", home + `\.config`},
		{"XDG_DATA_HOME", home + `\.local\share`},
		{"XDG_RUNTIME_DIR", tmp},
		{"XDG_STATE_HOME", home + `\.local\state`},
	}, ofMachine) {
		if l.sets(v.Name) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b Variable) int {
		return strings.Compare(strings.ToUpper(a.Name), strings.ToUpper(b.Name))
	})
	return out
}

// sets reports whether the loader sets a variable: the tool's own variables unless a rule with
// the exact name denies them, and those above unless they are forwarded or such a rule
// exists.
func (l *layout) sets(name string) bool {
	v := l.view.Decide(ir.Forward{Name: name})
	if ir.OwnVariable(strings.ToUpper(name), l.view.Tool.Home == ir.HomePrivate, ir.Windows) {
		return v.Allowed()
	}
	about := slices.ContainsFunc(ofMachine, func(m Variable) bool { return m.Name == name })
	if v.Allowed() || name != localAppData && !about {
		return false
	}
	r, ok := v.Rule.(*ir.EnvRule)
	return !ok || r.Prefix
}

// PlainJob is the job of a tool without limits, as every job is at least.
func PlainJob() JobObject { return job(&ir.Tool{}) }

// job bounds the process tree. It ends with the loader, which has the only handle, and shows no
// dialog when it crashes. Breaking away is refused unless a flag allows it
// (learn.microsoft.com, "Job Objects").
func job(t *ir.Tool) JobObject {
	var e ExtendedLimits
	flags := []symbol{limitKillOnClose, limitDieOnException}
	for _, l := range t.Limits {
		switch l.Kind {
		case ir.LimitMemory:
			flags, e.JobMemoryLimit = append(flags, limitJobMemory), l.Value
		case ir.LimitProcesses:
			flags, e.Basic.ActiveProcessLimit = append(flags, limitActiveProcess),
				clamp[uint32](l.Value, math.MaxUint32)
		case ir.LimitCPUTime:
			ticks := clamp[int64](l.Value, math.MaxInt64/ticksPerMillisecond) * ticksPerMillisecond
			flags, e.Basic.PerJobUserTimeLimit = append(flags, limitJobTime), ticks
		case ir.LimitWallTime, ir.LimitOpenFiles, ir.LimitFileSize:
		}
	}
	if childless(t) {
		flags, e.Basic.ActiveProcessLimit = append(flags, limitActiveProcess), 1
	}
	e.Basic.LimitFlags = slices.Compact(names(flags...))
	return JobObject{Extended: e, UI: UIRestrictions{names(uiRestrictions...)}}
}

// ticksPerMillisecond converts to the unit of the job object's times.
const ticksPerMillisecond = 10_000

func clamp[T uint32 | int64](v, most uint64) T { return T(min(v, most)) }

// childless reports whether the tool may start nothing.
func childless(t *ir.Tool) bool { return t.Commands != nil && len(t.Commands.Rules) == 0 }

// token removes all that a restricted token of the same user can do without, the high integrity
// of an administrator among it: an AppContainer then lowers it further. It lists no restricting
// identifiers: with those, according to public reports, either the shells do not start or files
// that all users may write stay writable.
func token() Token {
	return Token{RestrictedToken{
		Flags: names(tokenFlags...), SidsToDisable: []string{sidAdministrators},
		PrivilegesToDelete: []string{}, SidsToRestrict: []string{},
	}, sidMediumIntegrity, defaultDACL}
}

// defaultDACL is the list of objects that the tool makes without an access list: pipes, processes, events.
// CreateRestrictedToken leaves the token's own, and the list of an administrator with full rights
// grants Administrators, who are there for denial only: the tool could not open the objects that it has made.
// codex and zero set it for the same reason. The system adds the package of an AppContainer.
const defaultDACL = "D:(A;;GA;;;SY)(A;;GA;;;${user})"

// attributes put the process into the job before its first instruction, and leave it
// no handles of the loader but the three standard handles.
func attributes() Attributes {
	return Attributes{JobList: []string{"jobObject"}, HandleList: []string{"stderr", "stdin", "stdout"}}
}

// container asks for no capability: each would open something that no rule is about.
func container(t *ir.Tool) AppContainer {
	name := containerName(t.Name)
	c := AppContainer{Security: SecurityCapabilities{name, PackageSID(name), []string{}}}
	if childless(t) {
		c.ChildProcessPolicy = childProcessRestricted.name
	}
	return c
}

func (l *layout) files() FileAccess {
	return FileAccess{
		Hold: hold(), Strip: strip(), Grants: Grants(),
		Entries: l.entries(), Ambient: l.ambient(), Unmatched: l.unmatched(), Patterns: l.patterns(),
	}
}

// hold opens for reading, since share modes restrict only opens for reading, writing or
// deleting, and for changing the list.
func hold() Hold {
	return Hold{names(fileReadData, readControl, writeDAC), names(shareModes...), names(openFlags...)}
}

// strip lists the groups that every AppContainer is in.
func strip() []string { return []string{sidAllPackages, sidAllRestrictedPackages} }

// programs lists the startable files where a policy lists programs, the tool's own program
// first.
func (l *layout) programs() []Program {
	set := l.view.Tool.Commands
	if set == nil {
		return nil
	}
	out := []Program{}
	if own := l.target.Facts.Program; own != nil {
		out = append(out, l.program("", own))
	}
	for i := range set.Rules {
		out = append(out, l.program(set.Rules[i].Program, set.Rules[i].File))
	}
	return out
}

// program gives a file the right to be executed, if the file rules let it execute
// and the system does not.
func (l *layout) program(name string, file *ir.Location) Program {
	p := Program{Name: name, Grants: []Grant{}}
	if file == nil {
		return p
	}
	p.File = path(l.target, *file)
	verdict := l.view.Decide(ir.Access{Cap: ir.Execute, On: ir.Direct(*file)})
	if rule, ok := verdict.Rule.(*ir.FSRule); ok && verdict.Allowed() {
		if p.Ambient = rule.Origin.Layer == ir.LayerBase; !p.Ambient {
			p.Grants = []Grant{GrantOpen, grantOf(ir.Execute)}
		}
	}
	return p
}

// services are the services on which the isolation of an AppContainer's network depends: the
// base filtering engine and the firewall (J. Forshaw, "Understanding Network Access in Windows
// AppContainers", Project Zero, 2021).
var services = []string{"BFE", "MpsSvc"}

const modeClosed = "closed"

// consoleOwn gives the tool a console that no process of the user has: the pseudo console of the
// run where a standard handle is a console, else a console without a window. A tool that shares the
// user's console can type into the shell behind it (AppJailLauncher's issue 8, Synacktiv 2021,
// CVE-2021-41346) and sends it the events of Ctrl+C and Ctrl+Break.
// See decision D279.
const consoleOwn = "own"

// See decision D77.
func network(t *ir.Tool) Network {
	n := Network{Mode: modeClosed, Services: services, Rules: []NetRule{}}
	for i := range t.Net {
		r := &t.Net[i]
		n.Rules = append(n.Rules, NetRule{r.Host.String(), r.Scheme, r.Port, r.Path, r.Methods, r.Listen, r.Allow})
	}
	return n
}
