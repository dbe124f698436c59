package seatbelt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// hard are names with everything that a profile could get wrong.
var hard = append(slices.Clone(irtest.Names), `q"t`, `b\s`, `\x41`, "r&d", "<t>", "#;", "ext")

// call is a system call that a case makes.
type call uint8

const (
	callRead call = iota
	callCreate
	callUpdate
	callMetadata
	callDelete
	callStart
	callRename
	callExchange
	callLink
	callCopy
	callClone
	callDial
)

// calls is how many kinds of call there are.
const calls = int(callDial) + 1

// question is a case: a call on one or two places. Kinds are the kinds of the nodes there.
type question struct {
	call     call
	on, to   ir.Location
	kind, at ir.NodeKind
	leaf     string
}

// scenario is a policy, a host, and questions about it.
type scenario struct {
	tool *ir.Tool
	// facts are the compiler's facts of the host, full the places of all roots, by the names
	// that the system judges.
	facts     ir.Facts
	full      ir.Bindings
	questions []question
}

// outside are places that no rule grants, or that no list of the base should.
var outside = []string{
	"Users", "Users/u", "Users/u/.ssh/id_ed25519", "Library", "Library/Keychains/System.keychain", "etc", "private",
	"private/etc", "private/etc/master.passwd", "private/etc/sudoers", "private/var/db", "private/var/root",
	"private/var/run/mDNSResponder", "dev", "dev/disk0", "dev/pf", "usr", "usrx/lib", "usr/libx", "Applications", "System", "cores",
	"Volumes/other", "opt", "opt/homebrew/bin/x", "usr/lib/libSystem.dylib", "dev/null", "private/etc/ssl/cert.pem", "",
}

func drawScenario(t *rapid.T, questions int) scenario {
	s := scenario{tool: irtest.ToolByName(t, hard, 6)}
	s.tool.Base = rapid.SampledFrom([]ir.BaseName{ir.BaseSystem, ir.BaseSystem, ir.BaseMinimal, ir.BaseNone}).Draw(t, "base")
	s.tool.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomePrivate, ir.HomeReal}).Draw(t, "home")
	s.drawHost(t)
	s.drawExternal(t)
	s.full = *firstNames(ir.Facts{Bindings: &s.full}).Bindings
	if rapid.IntRange(0, 3).Draw(t, "program") == 0 {
		at := s.full.Locate(rapid.SampledFrom([]string{"/Users/u/bin/tool", "/usr/bin/tool", "/opt/tool"}).Draw(t, "own"))
		s.facts.Program = &at
	}
	places := s.boundaries()
	for range questions {
		s.questions = append(s.questions, s.drawQuestion(t, places))
	}
	return s
}

// drawHost places the roots, now and then inside each other and inside the base.
func (s *scenario) drawHost(t *rapid.T) {
	ws := rapid.SampledFrom([]string{
		"/Users/u/w", "/Users/d'e/my ws", `/Users/q"x/b\y`, "/opt/work", "/usr/local", "/", "/System/Volumes/Data/Users/u/w", "/private/var/folders/w",
	}).Draw(t, "workspace")
	home := rapid.SampledFrom([]string{"/Users/u/Library/accessc/home", path.Join(ws, ".state/home"), path.Join(ws, "src/home")}).Draw(t, "home dir")
	tmp := rapid.SampledFrom([]string{"", "", "/private/tmp/run", path.Join(ws, ".tmp"), home + "/tmp"}).Draw(t, "tmp dir")
	s.full = ir.Bindings{Workspace: ws, Home: home, Temp: tmp}
	if s.tool.Home != ir.HomePrivate {
		s.full.Home = ""
	}
	b := s.full
	s.facts.Bindings = &b
	if tmp == "" {
		s.full.Temp = "/private/tmp/run"
	}
}

func (s *scenario) drawExternal(t *rapid.T) {
	irtest.Bind(&s.full, s.tool, "/Users/u")
	targets := []string{"/", "/Volumes/x", "/Volumes/x/y", path.Dir(s.full.Workspace), "/usr/local/share", "/Volumes/d e/%41"}
	for i := range rapid.IntRange(0, 2).Draw(t, "external") {
		name := []string{"fork", "src/fork"}[i]
		target := rapid.SampledFrom(targets).Draw(t, "target")
		if slices.Contains([]string{s.full.External["fork"]}, target) {
			continue
		}
		s.full.External[name] = target
		r := ir.FSRule{Written: name, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true, Caps: irtest.Caps(t)}
		at := rapid.IntRange(0, len(s.tool.FS)).Draw(t, "position")
		s.tool.FS = slices.Insert(s.tool.FS, at, r)
	}
	s.facts.Bindings.External = s.full.External
}

// boundaries lists the places where rules begin, where most can go wrong.
func (s *scenario) boundaries() []ir.Location {
	out := []ir.Location{ir.In(""), {Root: ir.Root{Kind: ir.Temp}}}
	if s.tool.Home == ir.HomePrivate {
		out = append(out, ir.Location{Root: ir.Root{Kind: ir.Home}})
	}
	for i := range s.tool.FS {
		r := &s.tool.FS[i]
		out = append(out, r.At)
		if r.External && !r.At.Root.Direct() {
			out = append(out, ir.In(r.At.Root.Name))
		}
	}
	return out
}

func (s *scenario) drawPlace(t *rapid.T, places []ir.Location) ir.Location {
	at := rapid.SampledFrom(places).Draw(t, "near")
	switch rapid.IntRange(0, 9).Draw(t, "where") {
	case 0:
		at = ir.Sys(rapid.SampledFrom(outside).Draw(t, "outside"))
	case 1:
		if parent, ok := at.Parent(); ok {
			at = parent
		}
	case 2, 3, 4:
		at = at.Child(rapid.SampledFrom(hard).Draw(t, "child"))
	case 5:
		at = at.Child(irtest.Path(t, hard, 3))
	case 6:
		if at.Path != "" {
			at.Path += rapid.SampledFrom([]string{"b", " ", `"`}).Draw(t, "longer")
		}
	}
	abs, _ := s.full.Path(at)
	return s.full.Locate(strings.TrimSuffix(abs, "/"))
}

func (s *scenario) drawQuestion(t *rapid.T, places []ir.Location) question {
	q := question{call: call(rapid.IntRange(0, calls-1).Draw(t, "call")), on: s.drawPlace(t, places), kind: ir.File}
	//exhaustive:ignore
	switch q.call { // The other calls have one place and nothing to draw.
	case callRename:
		q.kind = irtest.Kind(t, ir.File, ir.Dir)
		q.at = irtest.Kind(t, ir.Absent, q.kind)
	case callExchange:
		q.at = ir.File
	case callCopy, callLink, callClone:
		q.at = irtest.Kind(t, ir.Absent, ir.File)
	case callMetadata:
		q.leaf = rapid.SampledFrom(metadataLeaves()).Draw(t, "leaf")
	}
	if q.call == callRename || q.call == callExchange || q.call == callLink || q.call == callCopy || q.call == callClone {
		q.to = s.drawPlace(t, places)
	}
	return q
}

func metadataLeaves() []string {
	var out []string
	for _, l := range leaves {
		if l.metadata {
			out = append(out, l.op)
		}
	}
	return out
}

// target is the scenario's target in one form.
func (s *scenario) target(form backends.Form) backends.Target {
	if form == backends.Portable {
		return backends.Target{Form: form}
	}
	return backends.Target{Form: form, Facts: s.facts}
}

// apart reports whether no root lies in another root, none is the root directory and none is around an
// exception of the base, which a portable profile takes for granted.
func (s *scenario) apart() bool {
	roots := s.full.Roots()
	for _, a := range roots {
		at, _ := s.full.Path(ir.Location{Root: a})
		for _, r := range ir.BaseRules(s.tool.Base, ir.Darwin) {
			if r.Caps == 0 && strings.HasPrefix(r.At.String(), at+"/") {
				return false
			}
		}
		for _, b := range roots {
			inner, _ := s.full.Path(ir.Location{Root: a})
			outer, _ := s.full.Path(ir.Location{Root: b})
			if outer == "/" || a != b && (inner == outer || strings.HasPrefix(inner, outer+"/")) {
				return false
			}
		}
	}
	return true
}

func (s *scenario) String() string {
	out := fmt.Sprintf("base %s home %s full %+v program %v\n", s.tool.Base, s.tool.Home, s.full, s.facts.Program)
	for i := range s.tool.FS {
		out += fmt.Sprintf("  fs[%d] %s %s\n", i, s.tool.FS[i].Subject(), s.tool.FS[i].Caps)
	}
	return out
}
