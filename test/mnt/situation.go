package mnt

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// situation is a part of the workspace whose mounts differ from the policy in one way, and the operation that shows it.
// Rules, files and questions that are drawn apart from each other hardly ever meet in one.
type situation struct {
	rules []rule
	// start are the nodes at the start, later those that are made after it. A directory ends with a slash.
	start, later []string
	// path is asked about by a capability, or by a move to another path.
	path string
	cap  ir.Capability
	to   string
}

type rule struct {
	path string
	caps ir.CapSet
}

var reads, reading = ir.Caps(ir.Read, ir.Execute), ir.Caps(ir.Read)

// situations are those of the causes in their names. irtest.Plain lacks these names, so that no other
// rule is about them.
var situations = []situation{
	{rules: []rule{{"unread", ir.Caps(ir.Execute)}}, start: []string{"unread"}, path: "unread", cap: ir.Execute},
	{rules: []rule{{"starts", reading}}, start: []string{"starts"}, path: "starts", cap: ir.Execute},
	{rules: []rule{{"own", reads}, {"own/name", ir.All}}, start: []string{"own/name"}, path: "own/name", cap: ir.Delete},
	{rules: []rule{{"whole", reading.With(ir.Update)}}, start: []string{"whole/f"}, path: "whole/f", cap: ir.Delete},
	{
		rules: []rule{{"apart", ir.All}, {"apart/p", ir.All}, {"apart/q", reads}, {"apart/q/r", ir.All}},
		start: []string{"apart/p/f", "apart/q/r/"}, path: "apart/p/f", to: "apart/q/r/f",
	},
	{
		rules: []rule{{"late", ir.All}, {"late/l", reads}}, start: []string{"late/"}, later: []string{"late/l"},
		path: "late/l", cap: ir.Update,
	},
	{
		rules: []rule{{"missing", reads}, {"missing/m", ir.All}}, start: []string{"missing/"}, later: []string{"missing/m"},
		path: "missing/m", cap: ir.Update,
	},
	{rules: []rule{{"loose", ir.All}, {"loose/d/r", reads}}, start: []string{"loose/d/r"}, path: "loose/d", to: "loose/e"},
	{
		rules: []rule{{"covered", reads}, {"covered/c", 0}, {"covered/c/s", reads}}, start: []string{"covered/c/s"},
		path: "covered/c/s", cap: ir.Read,
	},
}

// begin adds the rules of situations to a policy, and their nodes of the start to a world.
func begin(all []situation, tool *ir.Tool, start irtest.World) {
	for _, s := range all {
		for _, r := range s.rules {
			origin := ir.Origin{Layer: ir.LayerWorkspace}
			tool.FS = append(tool.FS, ir.FSRule{Written: r.path, At: ir.In(r.path), Caps: r.caps, Origin: origin})
		}
		grow(start, s.start)
	}
}

// goOn adds the nodes that are made after the start.
func goOn(all []situation, now irtest.World) {
	for _, s := range all {
		grow(now, s.later)
	}
}

func grow(w irtest.World, nodes []string) {
	for _, n := range nodes {
		kind := ir.File
		name, dir := strings.CutSuffix(n, "/")
		if dir {
			kind = ir.Dir
		}
		w.Grow("${workspace}/"+name, kind)
	}
}

// ask puts the question of a situation.
func (x *trial) ask(t *rapid.T, s situation) {
	if s.to != "" {
		x.rename(t, ir.In(s.path), ir.In(s.to))
		return
	}
	x.access(t, s.cap, ir.In(s.path))
}
