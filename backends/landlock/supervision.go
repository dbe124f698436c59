package landlock

import (
	"encoding/json"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Supervision is what changes when a supervisor stands behind the ruleset: it meets
// the requirements that are listed, some calls that the filter refuses otherwise are judged
// one by one, and the traps say which calls it sees at all. Every other call runs
// without it.
// See decision D43.
type Supervision struct {
	// Gaps are the requirements that the supervisor meets, by the names of the gaps that they are without a supervisor.
	// It is empty where a supervisor is of use and nothing depends on it.
	Gaps []string `json:"gaps"`
	// Judges says which classes of calls the supervisor answers itself; see judged.
	Judges Judges `json:"judges"`
	// Paths replace the specification's own paths.
	Paths []Path `json:"paths"`
	// Replaces names the groups of the filter that the blocks here replace.
	Replaces []string `json:"replaces"`
	// Filter lists the blocks that replace those groups.
	Filter []Block `json:"filter"`
	// Traps are asked after all blocks.
	Traps []Trap `json:"traps"`
	// Connect lists the addresses that may be connected to.
	Connect []string `json:"connect,omitempty"`
	// Egress is set where rules name hosts: every other connection passes the egress proxy of
	// the run, which knows them by name.
	Egress bool `json:"egress,omitempty"`
	// Listen is set where the tool may accept connections.
	Listen bool `json:"listen,omitempty"`
	// Undo is set where the originals of the files are kept that the tool changes: the supervisor makes all changes of
	// files and names.
	Undo bool `json:"undo,omitempty"`
	// Judged is the policy to judge by, in a resolved specification.
	Judged *Judged `json:"judged,omitempty"`
}

// Judges selects classes of calls. For a selected class the policy decides by the place where
// the file is now, and the supervisor makes the call; the kernel makes starts, and the
// supervisor judges the started program once more. For other classes the ruleset grants whole
// directories, and the kernel decides.
type Judges struct {
	// Reads are opens for reading and listing, Lists opens of only directories, Updates opens
	// for writing and truncation, Names the making, removing and moving of names, Starts the
	// starting of programs.
	Reads   bool `json:"reads"`
	Lists   bool `json:"lists"`
	Updates bool `json:"updates"`
	Names   bool `json:"names"`
	Starts  bool `json:"starts"`
}

// Trap hands system calls to the supervisor. All conditions must be true.
type Trap struct {
	Group    string      `json:"group"`          // the list that the calls are on
	Syscalls []string    `json:"syscalls"`       // by their names in the kernel
	When     []Condition `json:"when,omitempty"` // all must be true
}

// Judged is a policy with the places of its roots. Only a supervisor reads Policy.
type Judged struct {
	// Base is the base at the places where this host keeps it, and the tool's own program
	// where no other rule is about it.
	Base []Granted `json:"base"`
	// External maps the names of external rules to their approved targets.
	External map[string]string `json:"external,omitempty"`
	// Closed are the places below grants that are no tool's.
	Closed []Closed `json:"closed,omitempty"`
	// Policy is the canonical document of package irjson.
	Policy json.RawMessage `json:"policy"`
}

// Closed is a place at which nothing is granted.
type Closed struct {
	Path string `json:"path"` // absolute
	Why  string `json:"why"`  // it is closed
}

// Granted is a place of the base and its capabilities.
type Granted struct {
	Path string   `json:"path"` // absolute
	Caps []string `json:"caps"` // by their names
}

// judged are the classes of calls that a supervisor answers, with the groups of calls that
// it sees for other reasons.
type judged struct {
	Judges
	metadata, programs bool
	// own is set where metadata calls can succeed only in the tool's own directories. The kernel decides its opens.
	own bool
	internet
	// narrows is set where some program has fewer variables than the tool.
	narrows bool
	// late is set where the policy asks for a supervisor.
	late bool
}

// judges derives the classes from the grants that the ruleset cannot express.
// See decision D43.
func (s *ruleset) judges() Judges {
	j := Judges{Names: s.unseenGain() || s.view.ProtectsNames()}
	executes, alone := false, false
	for _, r := range s.byName() {
		executes = executes || s.grantableOf(r).Has(ir.Execute)
	}
	s.walk(func(r *ir.Region) {
		j.Names = j.Names || s.loose(r)
		if !governed(r) {
			return
		}
		late := s.late(r)
		j.add(s.expanded(r)&^late | s.givenByName(r))
		j.Lists = j.Lists || late.Has(ir.Read)
		if s.view.Tool.LateOpen {
			j.add(late)
		}
		j.Names = j.Names || fills(r) || s.foreign(r)&names != 0
		executable := s.wants(r).Has(ir.Execute)
		executes = executes || executable
		alone = alone || executable && s.alone(r)
	})
	j.add(s.linkable())
	j.Lists = j.Lists && !j.Reads
	// A name that can be made or moved is a file that can be written.
	j.Updates = j.Updates || j.Names
	// The ruleset is asked for reading as well when a program starts. Listed programs are
	// judged as such.
	j.Starts = (j.Starts || j.Reads && executes || alone && s.judged(j).serves()) && s.view.Tool.Commands == nil
	return j
}

// judged are the classes of j and the other parts of the policy that have a supervisor see every open.
func (s *ruleset) judged(j Judges) judged {
	return judged{
		Judges: j, metadata: s.updatesMetadata(), own: s.updatesOwn(), programs: s.view.Tool.Commands != nil,
		narrows: s.view.Tool.Commands.Narrows(), late: s.view.Tool.LateOpen,
	}
}

// alone reports whether only a rule on the path of r lets programs be started, which is about the file that is there
// at the start; a supervisor that is there for something else judges these starts as well. The target of an external
// rule may be a file; the workspace is a directory, and those around it grant nothing.
func (s *ruleset) alone(r *ir.Region) bool {
	if r.IsRoot() {
		return r.At.Root.Kind == ir.External
	}
	return !s.wants(r.Above).Has(ir.Execute)
}

// linkable returns the capabilities that a file is granted by a rule on its own path and keeps where less is
// granted, if the tool gives it a further name there: the ruleset applies to the file, not to
// the name.
func (s *ruleset) linkable() ir.CapSet {
	var has, lacks ir.CapSet
	s.walk(func(r *ir.Region) {
		if governed(r) && r.Named && r.Caps.Contains(ir.Caps(ir.Read, ir.Update)) {
			switch {
			case !r.IsRoot():
				has |= s.wants(r) &^ s.whole(r.Above)
			case r.At.Root.Kind == ir.External:
				has |= s.wants(r) // its target may be a file
			}
		}
		if r.Caps.Has(ir.Create) && !answered(r) {
			lacks |= ir.All &^ s.wants(r)
		}
	})
	return has & lacks & ir.FileCaps
}

// add selects the classes of some capabilities.
func (j *Judges) add(c ir.CapSet) {
	j.Reads = j.Reads || c.Has(ir.Read)
	j.Updates = j.Updates || c.Has(ir.Update)
	j.Names = j.Names || c&names != 0
	j.Starts = j.Starts || c.Has(ir.Execute)
}

// met are the gaps that a supervisor closes.
var met = []ir.Gap{
	ir.GapCommandsArgs, ir.GapCommandsEnvs, ir.GapCommandsProgram, ir.GapFSCreate, ir.GapFSMetadata, ir.GapFSMove,
	ir.GapFSNames, ir.GapFSProtected, ir.GapFSRevoke,
	ir.GapLimitWallTime, ir.GapNetAddress, ir.GapNetHost, ir.GapNetListen,
}

// supervision returns the supervisor's part in a policy, nil where none is needed.
func (s *ruleset) supervision(l ir.Ledger, target backends.Target) (*Supervision, error) {
	net, undo := s.view.Tool.Net, s.view.Tool.Undo
	out := &Supervision{
		Gaps: []string{}, Replaces: []string{"network", "others"}, Connect: addresses(net), Egress: named(net),
		Listen: listens(net), Undo: undo,
	}
	for _, gap := range met {
		if slices.ContainsFunc(l, func(r ir.Row) bool { return r.Is == ir.Supervised && r.Gap == gap }) {
			out.Gaps = append(out.Gaps, string(gap))
		}
	}
	j := s.judged(s.judges())
	j.internet = out.internet()
	if len(out.Gaps) == 0 && !j.Lists && !j.late && !j.own && !undo {
		return nil, nil
	}
	// Without these the tool makes no names in shared memory (sem_open(3)).
	j.Names, j.Updates = j.Names || j.late || undo, j.Updates || j.late || undo
	out.Judges, out.Paths, out.Traps = j.Judges, s.supervisedPaths(target, j.Judges), j.list()
	out.Filter = slices.Concat(underSupervisor, j.internet.filter())
	if j.serves() {
		out.Replaces = append(out.Replaces, "openat2")
	}
	if j.metadata || j.own {
		out.Replaces = append(out.Replaces, "set-id", "metadata")
		out.Filter = append(out.Filter, newerMetadata)
	}
	if j.programs {
		out.Filter = append(out.Filter, tracing)
	}
	if j.Names && s.refusesLinks() {
		out.Replaces = append(out.Replaces, "links")
	}
	if j.Updates {
		out.Replaces = append(out.Replaces, "truncate")
	}
	if target.Form != backends.Resolved {
		return out, nil
	}
	var err error
	out.Judged, err = s.policy(target, false)
	return out, err
}

// judgedPart returns the rules that decide about files and addresses, with their origins, so
// that a refusal names them, and the risk of the whole tool.
func judgedPart(t *ir.Tool, protected []ir.ProtectedPath) *ir.Tool {
	out := &ir.Tool{
		Name: t.Name, Source: ir.Source{Kind: t.Source.Kind, Detail: t.Source.Detail}, Base: t.Base, Home: t.Home,
		Protects: t.Protects, Protected: slices.Concat(t.Protected, protected), LeastRisk: ir.RiskOf(t),
		FS: slices.Clone(t.FS), Net: slices.Clone(t.Net), Commands: t.Commands, Declared: t.Declared,
	}
	for i := range out.FS {
		out.FS[i].Leaves = nil
	}
	for i := range out.Net {
		out.Net[i].Leaves = nil
	}
	return out
}

// underSupervisor is refused so that nothing hides from the supervisor: a process that
// is not dumpable cannot be read (ptrace(2), access mode checking). The call succeeds and
// does nothing, so that key agents start.
var underSupervisor = []Block{
	{Group: "supervisor", Errno: "OK", Syscalls: []string{"prctl"},
		When: []Condition{{Arg: 0, In: []string{"PR_SET_DUMPABLE"}}}},
}

// Programs is the group of the calls that start programs.
const Programs = "programs"

// tracing is refused where programs are judged: the supervisor looks at each through
// ptrace(2), which a process lets a single tracer do. No other process may write to a program that
// has been judged and not yet begun, or read the variables of a program that has more.
var tracing = Block{Group: Programs, Errno: "EPERM",
	Syscalls: []string{"ptrace", "process_vm_readv", "process_vm_writev"}}

// newerMetadata are calls that pass their arguments in structures of growing size;
// callers fall back to the older calls.
var newerMetadata = Block{
	Group: "metadata", Errno: "ENOSYS", Syscalls: []string{"setxattrat", "removexattrat", "file_setattr"},
}

// Supervises reports whether a supervisor meets a requirement.
func (s *Supervision) Supervises(n backends.Row) bool {
	return s != nil && n.Is == ir.Supervised.String() && slices.Contains(s.Gaps, n.Gap)
}

// Answers reports whether the supervisor answers the calls of a group.
func (s *Supervision) Answers(group string) bool {
	return slices.ContainsFunc(s.Traps, func(t Trap) bool { return t.Group == group })
}

// Opens reports whether the supervisor sees the opens of files, not only of directories.
func (s *Supervision) Opens() bool {
	return s != nil && slices.ContainsFunc(s.Traps, func(t Trap) bool {
		return t.Group == "open" && slices.Contains(t.Syscalls, "openat2")
	})
}

// serves reports whether the supervisor sees every open, whatever is judged: processes of
// the tool are shown themselves in /proc, and its terminals and shared memory are its own.
// Tools that only read are spared that.
func (j judged) serves() bool {
	return j.Reads || j.Updates || j.Names || j.Starts || j.metadata || j.narrows || j.late
}

// Serves reports whether a tool has, on a host that can supervise, a supervisor that sees every open and every
// name that is made: the base is whole then, its shared memory as well.
func Serves(t *ir.Tool, f ir.Facts) bool {
	return t.LateOpen || newRuleset(ir.NewView(t, ir.Linux, f)).judges().Names
}

// list writes the classes as traps. A descriptor that is opened with O_PATH reaches no
// contents and is judged when it is used; openat2 has its flags in memory.
func (j judged) list() []Trap {
	var out []Trap
	add := func(group string, when []Condition, calls ...string) {
		out = append(out, Trap{group, calls, when})
	}
	contents := func(arg int) []Condition { return []Condition{{Arg: arg, Mask: pathOnly, In: []string{"O_RDONLY"}}} }
	if !j.serves() {
		contents = func(arg int) []Condition { return []Condition{{Arg: arg, AnyBit: []string{"O_DIRECTORY"}}} }
	}
	if j.serves() || j.Lists {
		add("open", contents(1), "open")
		add("open", contents(2), "openat")
	}
	if j.serves() {
		add("open", nil, "openat2", "creat")
	}
	if j.Updates {
		add("truncate", nil, "truncate")
	}
	if j.Names {
		add("names", nil, "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir")
		add("moves", nil, "rename", "renameat", "renameat2", "link", "linkat")
	}
	if j.metadata || j.own {
		add("metadata", nil, trappedMetadata()...)
		add("metadata", metadata[1].When, "ioctl")
	}
	switch {
	case j.programs:
		add(Programs, nil, "execve", "execveat")
	case j.Starts:
		add("starts", nil, "execve", "execveat")
	}
	add("watches", nil, "inotify_add_watch")
	add(Objects, nil, objectCalls...)
	add(Queues, nil, queueCalls...)
	out = append(out, j.internet.traps()...)
	for _, b := range others {
		add("others", b.When, b.Syscalls...)
	}
	// A call that the supervisor makes in a process's place must obey the rulesets that the
	// process gave itself, so the supervisor tracks them.
	add("rulesets", nil, "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
	return out
}

// trappedMetadata is the calls that newerMetadata leaves.
func trappedMetadata() []string {
	return slices.DeleteFunc(slices.Clone(metadata[0].Syscalls), func(name string) bool {
		return slices.Contains(newerMetadata.Syscalls, name)
	})
}
