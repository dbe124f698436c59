package supervisor

import (
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// judge answers by the policy for places as the kernel names them.
type judge struct {
	// view is the whole policy, the base at the places of this host included; live is the same
	// with the list May, of which the user can grant during the run.
	view *ir.View
	live func() *ir.Live
	// may is set where the user can grant anything on files.
	may bool
	// session has the grants of the run, nil where none are given. once has the operations that
	// are permitted to this call only.
	session *live.Session
	once    *live.Allowance
	roots   ir.Bindings
	// classes are the classes of calls that the supervisor decides.
	classes landlock.Judges
	// listed are the addresses that the specification lists.
	listed []ir.Endpoint
}

// newJudge reads the policy of a specification. tmp is the temporary directory of
// the run.
func newJudge(s *landlock.Spec, tmp string) (*judge, error) {
	p, err := ReadPolicy(s)
	if err != nil {
		return nil, err
	}
	return p.judge(s, tmp), nil
}

// Policy is the policy of a specification, read. It may serve any number of supervisors.
type Policy struct {
	tool   *ir.Tool
	own    string // the file of the tool's own command, empty for none
	listed []ir.Endpoint
	// view is the view of a run without a temporary directory, facts are the facts that it
	// depends on.
	view  *ir.View
	facts ir.Facts
}

// ReadPolicy reads the policy of a specification.
func ReadPolicy(s *landlock.Spec) (*Policy, error) {
	terms, err := s.Terms()
	if err != nil {
		return nil, err
	}
	p := &Policy{own: terms.Own}
	if p.tool, p.facts, err = terms.Read(); err != nil {
		return nil, err
	}
	for _, a := range s.Supervision.Connect {
		e, err := landlock.ParseAddress(a)
		if err != nil {
			return nil, err
		}
		p.listed = append(p.listed, e)
	}
	p.view = ir.NewView(p.tool, ir.Linux, p.facts)
	return p, nil
}

// judge is the policy for a run with this temporary directory.
func (p *Policy) judge(s *landlock.Spec, tmp string) *judge {
	j := &judge{classes: s.Supervision.Judges, may: len(p.tool.May) > 0, roots: *p.facts.Bindings, listed: p.listed}
	j.roots.Temp = tmp
	facts := p.facts
	facts.Bindings = &j.roots
	var shared bool
	if j.view, shared = p.view.InTemp(tmp); !shared {
		if facts.Program != nil {
			at := j.roots.Locate(p.own)
			facts.Program = &at
		}
		j.view = ir.NewView(p.tool, ir.Linux, facts)
	}
	// It takes twice as long, and few runs need it.
	j.live = sync.OnceValue(func() *ir.Live { return ir.NewLive(p.tool, ir.Linux, facts) })
	return j
}

// startsByName reports whether a rule by name may keep a file from being started that the ruleset starts.
func (j *judge) startsByName() bool {
	return slices.ContainsFunc(j.view.Tool.FS, func(r ir.FSRule) bool { return r.ByName() && !r.Caps.Has(ir.Execute) })
}

// decides reports whether the supervisor decides an open with these flags. The ruleset decides
// all others.
func (j *judge) decides(flags uint64) bool {
	reads := flags&accessMode != writeOnly
	lists := j.classes.Lists && flags&unix.O_DIRECTORY != 0
	return reads && (j.classes.Reads || lists) || flags&writing != 0 && j.classes.Updates
}

// wholly is the set of capabilities for opens that the ruleset of a specification grants on a
// directory and everything below it.
func wholly(s *landlock.Spec, dir string) ir.CapSet {
	var out ir.CapSet
	for _, p := range s.Supervision.Paths {
		if p.Path != dir || p.Entries != nil {
			continue
		}
		for right, c := range map[landlock.Right]ir.Capability{
			landlock.ReadFile: ir.Read, landlock.WriteFile: ir.Update, landlock.MakeReg: ir.Create,
		} {
			if slices.Contains(p.Access, right) {
				out = out.With(c)
			}
		}
	}
	return out
}

// judgement is a verdict of the policy on an operation, or a refusal that the supervisor makes
// without asking the policy.
type judgement struct {
	by      denial.By
	op      ir.Operation
	wants   ir.CapSet
	verdict ir.Verdict
	// why is the reason of a refusal that is not the policy's.
	why string
	// used are the grants of the run without which it would be a refusal; state is the number of the grants in force,
	// and once the question whose answer permits it to this call alone.
	used        []int
	state, once int
	// goesOn is true where the call is continued and the kernel refuses it.
	goesOn bool
	// instead is true where the call was carried out for less than it asked, and succeeded.
	instead bool
}

func (j judgement) allowed() bool { return j.why == "" && j.verdict.Allowed() }

// now is the policy with the grants in force.
func (j *judge) now() *ir.View {
	view, _ := j.inForce()
	return view
}

// inForce is the policy with the grants in force, and their number.
func (j *judge) inForce() (*ir.View, int) {
	if j.session == nil {
		return j.view, 0
	}
	return j.session.InForce()
}

// decide asks about an operation.
func (j *judge) decide(op ir.Operation) judgement {
	points.Reach(points.Found)
	if out, shows := j.inKernel(op); shows {
		return out
	}
	view, state := j.inForce()
	out := judgement{by: denial.ByPolicy, op: op, verdict: view.Decide(op), state: state}
	switch {
	case j.session == nil:
	case out.allowed():
		out.used = j.session.Uses(op)
	case j.once != nil:
		if v, ok := j.once.Decide(op); ok && v.Allowed() {
			out.verdict, out.used, out.once = v, []int{j.once.ID()}, j.once.ID()
		}
	}
	return out
}

// inKernel judges an access to a file by which the kernel shows itself, or a mount another place. Where the policy
// grants nothing either, it says why.
func (j *judge) inKernel(op ir.Operation) (out judgement, shows bool) {
	a, ok := op.(ir.Access)
	why := "a file system of the kernel is mounted there, and closed"
	name, shows := strings.CutPrefix("/"+a.On.At.Path, inKernel)
	if !shows {
		why = "a mount shows another place of the policy there, and is closed"
		name, shows = strings.CutPrefix("/"+a.On.At.Path, inAlias)
	}
	if !ok || !shows || a.On.At.Root.Kind != ir.System {
		return out, false
	}
	a.On.At = j.roots.Locate(name)
	view, state := j.inForce()
	if v := view.Decide(a); !v.Allowed() {
		return judgement{by: denial.ByPolicy, op: a, verdict: v, state: state}, true
	}
	return judgement{by: denial.BySupervisor, op: op, why: why}, true
}

// access asks for capabilities on one place; the judgement is about the first denied
// capability.
func (j *judge) access(p ir.Place, caps ...ir.Capability) judgement {
	out := judgement{verdict: ir.Verdict{Effect: ir.Allow}}
	var used []int
	for _, one := range caps {
		if out = j.decide(ir.Access{Cap: one, On: p}); !out.allowed() {
			break
		}
		used = append(used, out.used...)
	}
	out.used = used
	out.wants = ir.Caps(caps...)
	return out
}

// metadata asks for update of mode, owner, times and attributes. The metadata of the system's
// own files never changes, even where the base grants writing.
func (j *judge) metadata(p ir.Place) judgement {
	out := j.access(p, ir.Update)
	if out.allowed() && p.At.Root.Kind == ir.System && !p.At.Under(ir.Sys(ir.LinuxShared)) {
		return judgement{by: denial.BySupervisor,
			why: "mode, owner, times and attributes of the system's own files stay as they are"}
	}
	return out
}

// run asks whether a file may be started with arguments, the first of which is the name that it
// is given.
func (j *judge) run(at ir.Place, argv []string) judgement {
	return j.decide(ir.Run{Program: argv[0], File: &at, Args: argv[1:]})
}

// connect asks for an address, which the specification must list with its port, so that the
// arguments of connect say everything, or where the tool itself listens. An IPv4 address inside
// of an IPv6 address reaches the same host (RFC 4291, 2.5.5.2) and is judged as such.
func (j *judge) connect(a netip.AddrPort, own bool) judgement {
	to := ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: a.Addr().Unmap().WithZone("")}, Port: a.Port()}
	out := j.decide(ir.Connect{To: to, Own: own})
	shown := own || slices.ContainsFunc(j.listed, func(e ir.Endpoint) bool {
		return e.Host == to.Host && e.Port == to.Port
	})
	if out.allowed() && !shown {
		return judgement{by: denial.BySupervisor, op: out.op,
			why: "the kernel sees an address, and no rule names this address and its port alone"}
	}
	return out
}

// nowhere is the path of a file that is not mounted below this root. No rule grants it.
const nowhere = "/(unreachable)"

// inKernel is before the path of a file by which the kernel shows itself, and which the base is not about. No rule
// grants it, whatever is granted around the place where its file system is mounted.
// See decision D362.
const inKernel = "/(file system of the kernel)"

// inAlias is before the path of a file of a mount that shows a place of the policy under another name.
const inAlias = "/(another name of a place)"

// below joins a directory's path and a name.
func below(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// GrantOn names the rule of a specification's policy that gives its tool one of some capabilities
// on the file at an absolute canonical path, or lets such a capability be granted during the run;
// empty for none.
func GrantOn(s *landlock.Spec, tmp, path string, caps ir.CapSet) string {
	j, err := newJudge(s, tmp)
	if err != nil {
		return err.Error()
	}
	return j.grantOn(path, caps)
}

// GrantOn is the function GrantOn for the policy of this supervisor.
func (s *Supervisor) GrantOn(path string, caps ir.CapSet) string { return s.policy.grantOn(path, caps) }

func (j *judge) grantOn(path string, caps ir.CapSet) string {
	at := j.roots.Locate(path)
	for _, c := range caps.List() {
		if v := j.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}); v.Allowed() {
			return v.Rule.Subject() + " (" + v.Rule.Source().String() + ")"
		}
	}
	if !j.may {
		return ""
	}
	if ceiling, r := j.live().Ceiling(at); ceiling&caps != 0 {
		return r.Subject() + " (" + r.Source().String() + ")"
	}
	return ""
}
