package broker

import (
	"encoding/json"
	"errors"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// judge answers by the policy for places as the kernel names them.
type judge struct {
	view  *ir.View
	roots ir.Bindings
	// programs is the policy as it decides about programs: here the base, which the
	// floor holds, takes nothing away.
	programs *ir.View
	// connect are the addresses that the specification shows as open.
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
	j := &judge{roots: ir.Bindings{
		Workspace: s.Workspace, Home: s.Home, Temp: tmp, External: s.Supervision.Judged.External,
	}}
	// The base is left to the floor, so its rules are not needed here: without them
	// everything outside of the other roots is denied.
	j.view = ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &j.roots, Base: []ir.FSRule{}})
	everything := ir.FSRule{At: ir.Sys(""), Caps: ir.Caps(ir.Read, ir.Execute)}
	j.programs = ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &j.roots, Base: []ir.FSRule{everything}, Program: j.own(s)})
	for _, a := range s.Supervision.Connect {
		e, err := landlock.ParseAddress(a)
		if err != nil {
			return nil, err
		}
		j.connect = append(j.connect, e)
	}
	return j, nil
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

// at is the place of an absolute canonical path.
func (j *judge) at(path string) ir.Place { return ir.Direct(j.roots.Locate(path)) }

// governs reports whether the broker itself answers for contents at a place. The
// others are granted as a whole or belong to the base, which the floor holds.
func (j *judge) governs(p ir.Place) bool {
	return p.At.Root.Kind == ir.Workspace || p.At.Root.Kind == ir.External
}

// may asks for capabilities on one place.
func (j *judge) may(p ir.Place, caps ...ir.Capability) bool {
	return !slices.ContainsFunc(caps, func(c ir.Capability) bool {
		return !j.view.Decide(ir.Access{Cap: c, On: p}).Allowed()
	})
}

// mayChange asks for update of what is not contents. The system's own files keep
// theirs whatever the base lets be written.
func (j *judge) mayChange(p ir.Place) bool {
	return p.At.Root.Kind != ir.System && j.may(p, ir.Update)
}

// mayRun asks whether a file may be started with arguments, the first of which is a name
// for it. The rule that allows it is nil where none speaks of it.
func (j *judge) mayRun(at ir.Place, argv []string) (*ir.CommandRule, bool) {
	v := j.programs.Decide(ir.Run{Program: j.called(at.At, argv[0]), File: &at, Args: argv[1:]})
	rule, _ := v.Rule.(*ir.CommandRule)
	return rule, v.Allowed()
}

// called is the listed name of a file that it is started by. Of several, as those of a
// multi-call binary are, it is the one that such a program goes by itself.
func (j *judge) called(file ir.Location, argv0 string) string {
	if set := j.view.Tool.Commands; set != nil {
		for i := range set.Rules {
			r := &set.Rules[i]
			if r.File != nil && *r.File == file && path.Base(r.Program) == path.Base(argv0) {
				return r.Program
			}
		}
	}
	return ""
}

// mayConnect asks for an address. An IPv4 address inside of an IPv6 one reaches the
// same host (RFC 4291, 2.5.5.2) and is judged as such.
func (j *judge) mayConnect(a netip.AddrPort) bool {
	to := endpoint(a)
	shown := slices.ContainsFunc(j.connect, func(e ir.Endpoint) bool { return e.Host == to.Host && e.Port == to.Port })
	return shown && j.view.Decide(ir.Connect{To: to}).Allowed()
}

func endpoint(a netip.AddrPort) ir.Endpoint {
	return ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: a.Addr().Unmap().WithZone("")}, Port: a.Port()}
}

// nowhere is the path of what is not mounted below this root. No rule grants it.
const nowhere = "/(unreachable)"

// below joins a directory's path and a name.
func below(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// Writes names the rule of a specification's policy by which its tool may change what
// is at an absolute canonical path, or put something else there; empty for none.
func Writes(s *landlock.Spec, tmp, path string) string {
	j, err := newJudge(s, tmp)
	if err != nil {
		return err.Error()
	}
	for _, c := range ir.Write.List() {
		if v := j.view.Decide(ir.Access{Cap: c, On: j.at(path)}); v.Allowed() {
			return v.Rule.Subject() + " (" + v.Rule.Source().String() + ")"
		}
	}
	return ""
}
