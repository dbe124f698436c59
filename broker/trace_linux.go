package broker

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/broker/denial"
	"github.com/accessc/accessc/ir"
)

// Tracing is what a supervisor needs to name also what the kernel refuses without it.
type Tracing struct {
	// View is the whole policy, with the base where this host keeps it.
	View *ir.View
	// ABI is the version of Landlock that the ruleset was made for.
	ABI int
	// Blocks are what the filter hands over in place of refusing it.
	Blocks []landlock.Block
}

// trace foresees what the ruleset will do with a call that goes on. What it says is
// for the report alone: nothing is granted by it.
type trace struct {
	Tracing
	spec *landlock.Spec
	// granted are the files that the ruleset was made with, by the paths that they had:
	// it knows files, so that what takes the place of one has nothing. entries are the
	// directories that are granted entry by entry.
	granted map[string]Inode
	entries map[string]bool
}

func newTrace(s *landlock.Spec, t *Tracing) *trace {
	if t == nil {
		return nil
	}
	out := &trace{Tracing: *t, spec: s, granted: map[string]Inode{}, entries: map[string]bool{}}
	for _, p := range s.Paths {
		dir := strings.TrimSuffix(p.Path, "/")
		if p.Entries == nil {
			out.grant(p.Path, true)
			continue
		}
		out.entries[dir] = true
		list, _ := os.ReadDir(p.Path)
		for _, e := range list {
			// Of the processes only the tool's own is granted; see isOwn.
			if !p.Entries.OwnProcess || strings.Trim(e.Name(), "0123456789") != "" {
				out.grant(dir+"/"+e.Name(), p.Entries.OwnProcess)
			}
		}
	}
	return out
}

// grant remembers a file. One with several names gets nothing by an entry alone.
func (t *trace) grant(path string, linked bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) == nil && (linked || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink == 1) {
		t.granted[path] = Inode{st.Dev, st.Ino}
	}
}

// kind is what stands at a path, as far as it is what the ruleset was made with.
func (t *trace) kind(path string) ir.NodeKind {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return ir.Absent
	}
	was, known := t.granted[path]
	if !known && t.entries[path[:max(strings.LastIndexByte(path, '/'), 0)]] || known && was != (Inode{st.Dev, st.Ino}) {
		return ir.Absent
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return ir.Dir
	}
	return ir.File
}

// model is the ruleset as it stands to the files that are there now.
func (t *trace) model() *landlock.Model { return landlock.NewModel(t.spec, t.ABI, t.kind) }

// blocked is the answer of the filter, where it would have had one.
func (c *call) blocked() (answer, bool) {
	if c.trace == nil {
		return answer{}, false
	}
	for _, b := range c.trace.Blocks {
		if b.Refuses(c.calls[c.nr], c.args) {
			c.refused = &grounds{by: denial.ByFilter, why: "no tool may make this call (" + b.Group + ")"}
			if b.Errno == "EPERM" {
				return fails(unix.EPERM), true
			}
			return fails(unix.EACCES), true
		}
	}
	return answer{}, false
}

// foresee notes what the ruleset will refuse of a call that goes on to a place outside
// of what the supervisor answers for.
func (c *call) foresee(p ir.Place, kind ir.NodeKind, caps ...ir.Capability) {
	path, ok := c.roots.Path(p.At)
	if c.trace == nil || p.At.Root.Kind != ir.System || !ok || c.isOwn(path) {
		return
	}
	for _, one := range caps {
		if !c.trace.permits(path, kind, one) {
			c.foreseen(ir.Access{Cap: one, On: p}, ir.Caps(caps...))
			return
		}
	}
}

func (t *trace) permits(path string, kind ir.NodeKind, c ir.Capability) bool {
	m := t.model()
	switch c {
	case ir.Read:
		return m.Read(path, kind)
	case ir.Create:
		return m.Create(path, kind)
	case ir.Update:
		return m.Update(path)
	case ir.Delete:
		return m.Delete(path, kind)
	case ir.Execute:
		return m.Execute(path)
	default:
		return false
	}
}

// foreseen notes one refusal of the ruleset. Where the policy would have granted it, a
// cell of the ledger says "stricter".
func (c *call) foreseen(op ir.Operation, wants ir.CapSet) {
	g := &grounds{by: denial.ByFloor, op: op, wants: wants, verdict: c.trace.View.Decide(op), goesOn: true}
	if g.verdict.Allowed() {
		g.why = "the ruleset holds less than the policy grants here; explain --ledger says why (stricter)"
	}
	c.refused = g
}

// isOwn reports whether a path is below the directory of /proc that is the tool's.
func (c *call) isOwn(path string) bool {
	rest, ok := strings.CutPrefix(path, "/proc/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && first == strconv.Itoa(c.tool)
}

// foreseeStart notes what the ruleset will refuse of a start that goes on.
func (c *call) foreseeStart(obj int) {
	if c.trace == nil {
		return
	}
	where := c.where(obj)
	op := ir.Start{On: c.at(where)}
	switch op.On.At.Root.Kind {
	case ir.Home, ir.Temp:
		return
	case ir.Workspace, ir.External, ir.System:
	}
	if !c.trace.View.Decide(op).Allowed() || !c.trace.permits(where, ir.File, ir.Execute) {
		c.foreseen(op, 0)
	}
}

// kill is the ruleset's, which keeps signals inside (ABI 6).
func (c *call) kill() answer {
	pid := int(int32(uint32(c.args[0])))
	if pid > 0 && c.trace.ABI >= 6 && !c.ours(pid) && unix.Kill(pid, 0) != unix.ESRCH {
		c.refused = &grounds{by: denial.ByFloor, why: "a process outside of the sandbox", goesOn: true}
	}
	return proceed
}

// watch sets the handlers of calls that are trapped for the report alone.
func (b *Broker) watch() {
	b.handlers[unix.SYS_KILL] = (*call).kill
}

// attributed is a verdict about the system's files by the whole policy: what the
// supervisor decides by leaves the base to the ruleset.
func (c *call) attributed(g *grounds) ir.Verdict {
	if c.trace == nil || g.op == nil {
		return g.verdict
	}
	if v := c.trace.View.Decide(g.op); !v.Allowed() {
		return v
	}
	return g.verdict
}
