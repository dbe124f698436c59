package landlock

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Supervision is what changes when a supervisor stands behind the ruleset: it holds
// the cells that are listed, some calls that the filter refuses otherwise are judged
// one by one, and the traps say which calls it sees at all. Every other call runs
// without it.
type Supervision struct {
	Cells []string `json:"cells"`
	// Replaces names the groups of the filter that the blocks here take the place of.
	Replaces []string `json:"replaces"`
	Filter   []Block  `json:"filter"`
	// Traps are asked after all blocks.
	Traps []Trap `json:"traps"`
	// Connect lists the addresses that may be connected to.
	Connect []string `json:"connect,omitempty"`
	// Judged is what the supervisor decides by, in a resolved specification.
	Judged *Judged `json:"judged,omitempty"`
}

// Trap hands system calls to the supervisor. All conditions must hold.
type Trap struct {
	Group    string      `json:"group"`
	Syscalls []string    `json:"syscalls"`
	When     []Condition `json:"when,omitempty"`
}

// Judged is a policy with the places of its roots. Policy is read by those who
// supervise and by nobody else.
type Judged struct {
	// External maps the names of external rules to their approved targets.
	External map[string]string `json:"external,omitempty"`
	// Policy is the canonical document of package irjson.
	Policy json.RawMessage `json:"policy"`
}

// traps says which classes of calls a policy needs judged.
type traps struct {
	reads, writes, starts, moves, metadata, connect, programs bool
}

// trapsFor derives the classes from what the floor withholds and from what the
// ledger says that it cannot hold.
func (f *floor) trapsFor(l ir.Ledger) traps {
	t := traps{metadata: f.updatesMetadata(), programs: f.view.Tool.Commands != nil}
	f.walk(func(p, parent *plan) {
		if kind := p.region.At.Root.Kind; kind != ir.Workspace && kind != ir.External {
			// The base and the private directories are left to the floor.
			return
		}
		spine := p.spine()
		t.reads = t.reads || spine&groupRead != 0
		t.writes = t.writes || spine&(groupUpdate|groupCreate|groupDelete) != 0
		// What may be started by a rule on itself alone, the ruleset does not know any more
		// when it is made anew.
		own := parent != nil && p.wants&^parent.wants&groupExecute != 0
		t.starts = t.starts || spine&groupExecute != 0 || own
	})
	for _, r := range l {
		if r.Is == ir.Brokered {
			t.writes = t.writes || r.Accept == "fs.create"
			t.moves = t.moves || r.Accept == "fs.move"
			t.connect = t.connect || r.Accept == "net.address"
		}
	}
	return t
}

// supervised are the names of the cells that a supervisor holds.
var supervised = []string{"commands.args", "commands.envs", "commands.program", "fs.create", "fs.metadata", "fs.move", "fs.revoke", "limits.wall_time", "net.address"}

// supervision is what a supervisor of the policy does, nil where none is needed.
func (f *floor) supervision(l ir.Ledger, target backends.Target) (*Supervision, error) {
	s := &Supervision{Replaces: []string{"network"}, Connect: addresses(f.view.Tool.Net)}
	for _, cell := range supervised {
		if slices.ContainsFunc(l, func(r ir.Row) bool { return r.Is == ir.Brokered && r.Accept == cell }) {
			s.Cells = append(s.Cells, cell)
		}
	}
	if s.Cells == nil {
		return nil, nil
	}
	t := f.trapsFor(l)
	s.Filter = slices.Concat(underSupervisor, supervisedSockets(t.connect))
	s.Traps = t.list()
	if t.metadata {
		s.Filter = append(s.Filter, newerMetadata)
	}
	if t.programs {
		s.Filter = append(s.Filter, tracing)
	}
	if (t.writes || t.moves) && f.refusesLinks() {
		s.Replaces = append(s.Replaces, "links")
	}
	if target.Form != backends.Resolved {
		return s, nil
	}
	var err error
	s.Judged, err = f.judged(target)
	return s, err
}

// judgedPart is what decides about files and addresses, with where each rule was
// written, so that a refusal names it.
func judgedPart(t *ir.Tool) *ir.Tool {
	out := &ir.Tool{
		Name: t.Name, Source: ir.Source{Kind: t.Source.Kind, Detail: t.Source.Detail}, Base: t.Base, Home: t.Home,
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
	{Group: "supervisor", Errno: "OK", Syscalls: []string{"prctl"}, When: []Condition{{Arg: 0, In: []string{"PR_SET_DUMPABLE"}}}},
}

// Programs is the group of the calls that start programs.
const Programs = "programs"

// tracing is refused where programs are judged: the supervisor looks at each through
// ptrace(2), which a process lets one tracer do, and nobody may write to a program that
// has been judged and not yet begun.
var tracing = Block{Group: Programs, Errno: "EPERM", Syscalls: []string{"ptrace", "process_vm_writev"}}

// newerMetadata are calls that pass their arguments in structures of growing size;
// callers fall back to the older ones.
var newerMetadata = Block{
	Group: "metadata", Errno: "ENOSYS", Syscalls: []string{"setxattrat", "removexattrat", "file_setattr"},
}

// supervisedSockets lets those sockets be made whose way out is a call that the
// supervisor judges: connected unix sockets and, where addresses are allowed, TCP.
func supervisedSockets(tcp bool) []Block {
	families := []string{"AF_UNIX"}
	if tcp {
		families = append(families, inet...)
	}
	block := func(call string, when ...Condition) Block {
		return Block{Group: "network", Errno: "EACCES", Syscalls: []string{call}, When: when}
	}
	out := []Block{
		block("socket", Condition{Arg: 0, NotIn: families}),
		block("socket", Condition{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM", "SOCK_SEQPACKET"}}),
	}
	out = append(out, sockets[1:]...)
	if !tcp {
		return out
	}
	fastOpen := []string{"MSG_FASTOPEN"}
	return append(out,
		block("socket", Condition{Arg: 0, In: inet}, Condition{Arg: 1, Mask: sockTypeMask, NotIn: []string{"SOCK_STREAM"}}),
		block("socket", Condition{Arg: 0, In: inet}, Condition{Arg: 2, NotIn: []string{"IPPROTO_IP", "IPPROTO_TCP"}}),
		block("sendto", Condition{Arg: 3, AnyBit: fastOpen}),
		block("sendmsg", Condition{Arg: 2, AnyBit: fastOpen}),
		block("sendmmsg", Condition{Arg: 3, AnyBit: fastOpen}),
	)
}

var inet = []string{"AF_INET", "AF_INET6"}

// addresses are what rules about one address and port allow.
func addresses(rules []ir.NetRule) []string {
	var out []string
	for i := range rules {
		if r := &rules[i]; r.Allow && literal(r, rules) {
			out = append(out, netip.AddrPortFrom(r.Host.Addr, r.Port).String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ParseAddress reads an address of Connect.
func ParseAddress(s string) (ir.Endpoint, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return ir.Endpoint{}, err
	}
	return ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: a.Addr()}, Port: a.Port()}, nil
}

// Supervises reports whether a supervisor holds a cell.
func (s *Supervision) Supervises(n Need) bool {
	return s != nil && n.Is == ir.Brokered.String() && slices.Contains(s.Cells, n.Cell)
}

// list writes the classes as traps.
func (t traps) list() []Trap {
	var out []Trap
	add := func(group string, when []Condition, calls ...string) {
		out = append(out, Trap{group, calls, when})
	}
	if t.reads || t.writes {
		flags := func(arg int) []Condition {
			// An O_PATH descriptor reaches no contents and is judged when it is used.
			when := []Condition{{Arg: arg, Mask: constants["O_PATH"], In: []string{"O_RDONLY"}}}
			if !t.reads {
				when = append(when, Condition{Arg: arg, AnyBit: []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "__O_TMPFILE"}})
			}
			return when
		}
		add("open", flags(1), "open")
		add("open", flags(2), "openat")
		// Its flags are in memory, where a filter cannot see them.
		add("open", nil, "openat2")
	}
	if t.writes {
		add("names", nil, "creat", "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir")
		add("truncate", nil, "truncate")
	}
	if t.writes || t.moves {
		add("moves", nil, "rename", "renameat", "renameat2", "link", "linkat")
	}
	if t.metadata {
		add("metadata", nil, trappedMetadata...)
		add("metadata", metadata[1].When, "ioctl")
	}
	switch {
	case t.programs:
		add(Programs, nil, "execve", "execveat")
	case t.starts:
		add("starts", nil, "execve", "execveat")
	}
	calls := []string{"bind", "connect"}
	if t.connect {
		calls = append(calls, "listen")
	}
	add("sockets", nil, calls...)
	// What the supervisor does in a process's place is bound by the rulesets that the
	// process gave itself, so it knows them.
	add("rulesets", nil, "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
	return out
}

// trappedMetadata is the calls that newerMetadata leaves.
var trappedMetadata = slices.DeleteFunc(slices.Clone(metadata[0].Syscalls), func(name string) bool {
	return slices.Contains(newerMetadata.Syscalls, name)
})
