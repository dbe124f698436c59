package supervisor

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// judge answers by the policy for places as the kernel names them.
type judge struct {
	// view is the whole policy, the base at the places of this host included.
	view  *ir.View
	roots ir.Bindings
	// classes are the classes of calls that the supervisor decides.
	classes landlock.Judges
	// connect are the addresses that the specification lists.
	connect []ir.Endpoint
}

var errUnjudged = errors.New("the specification has no policy to judge by; build it with --resolve")

// newJudge reads the policy of a specification. tmp is the temporary directory of
// the run.
func newJudge(s *landlock.Spec, tmp string) (*judge, error) {
	if s.Supervision == nil || s.Supervision.Judged == nil {
		return nil, errUnjudged
	}
	tool, err := policy(s.Supervision.Judged.Policy)
	if err != nil {
		return nil, err
	}
	j := &judge{classes: s.Supervision.Judges, roots: ir.Bindings{
		Workspace: s.Workspace, Home: s.Home, Temp: tmp, External: s.Supervision.Judged.External,
	}}
	base, err := baseRules(s.Supervision.Judged.Base)
	if err != nil {
		return nil, err
	}
	if s.Command != nil {
		tool.Command = &ir.Command{Program: s.Command.Program, Shell: s.Command.Shell}
	}
	j.view = ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &j.roots, Base: base, Program: j.own(s), Located: true})
	for _, a := range s.Supervision.Connect {
		e, err := landlock.ParseAddress(a)
		if err != nil {
			return nil, err
		}
		j.connect = append(j.connect, e)
	}
	return j, nil
}

// baseRules are the rules of the base as a specification lists it.
func baseRules(list []landlock.Granted) ([]ir.FSRule, error) {
	out := []ir.FSRule{}
	for _, g := range list {
		r := ir.FSRule{Written: g.Path, At: ir.Sys(strings.TrimPrefix(g.Path, "/")), Origin: ir.Origin{Layer: ir.LayerBase, Label: "base:system"}}
		for _, name := range g.Caps {
			c, ok := ir.ParseCapability(name)
			if !ok {
				return nil, errors.New("the base has the capability " + name)
			}
			r.Caps = r.Caps.With(c)
		}
		out = append(out, r)
	}
	return out, nil
}

// own is the file of the tool's own command, which the specification lists without a
// name.
func (j *judge) own(s *landlock.Spec) *ir.Location {
	for _, p := range s.Programs {
		if p.Name == "" && p.File != "" {
			at := j.roots.Locate(p.File)
			return &at
		}
	}
	return nil
}

// policy returns the one tool of a document.
func policy(doc json.RawMessage) (*ir.Tool, error) {
	program, err := irjson.Unmarshal(doc)
	if err != nil {
		return nil, err
	}
	if len(program.Tools) != 1 {
		return nil, errUnjudged
	}
	return program.Tools[0], nil
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

// mayRun asks whether a file may be started with arguments, the first of which is the
// name that it is given.
func (j *judge) mayRun(at ir.Place, argv []string) (ir.Operation, ir.Verdict) {
	op := ir.Run{Program: argv[0], File: &at, Args: argv[1:]}
	return op, j.view.Decide(op)
}

// mayConnect asks for an address, and reports whether the specification lists it with its port,
// so that the arguments of connect say everything. An IPv4 address inside of an IPv6 one
// reaches the same host (RFC 4291, 2.5.5.2) and is judged as such.
func (j *judge) mayConnect(a netip.AddrPort) (op ir.Operation, v ir.Verdict, shown bool) {
	to := ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: a.Addr().Unmap().WithZone("")}, Port: a.Port()}
	shown = slices.ContainsFunc(j.connect, func(e ir.Endpoint) bool { return e.Host == to.Host && e.Port == to.Port })
	op = ir.Connect{To: to}
	return op, j.view.Decide(op), shown
}

// nowhere is the path of a file that is not mounted below this root. No rule grants it.
const nowhere = "/(unreachable)"

// below joins a directory's path and a name.
func below(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// Writes names the rule of a specification's policy by which its tool may change or replace the
// file at an absolute canonical path; empty for none.
func Writes(s *landlock.Spec, tmp, path string) string {
	j, err := newJudge(s, tmp)
	if err != nil {
		return err.Error()
	}
	for _, c := range ir.Write.List() {
		if v := j.view.Decide(ir.Access{Cap: c, On: ir.Direct(j.roots.Locate(path))}); v.Allowed() {
			return v.Rule.Subject() + " (" + v.Rule.Source().String() + ")"
		}
	}
	return ""
}
