package suite

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
)

// Policy is the policy of grants, with a host and without a variable.
func (g Grants) Policy() *ir.Tool {
	tool := ir.NewTool("agent")
	tool.Home, tool.Protects, tool.FS = ir.HomeReal, false, nil
	for _, p := range slices.Sorted(maps.Keys(g)) {
		caps := ir.CapSet(0)
		switch a := g[p]; {
		case a.Write:
			caps = ir.All
		case a.Read:
			caps = ir.Caps(ir.Read, ir.Execute)
		}
		tool.FS = append(tool.FS, ir.FSRule{Written: p, At: ir.In(p), Caps: caps})
	}
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.example.com"}, Port: 443, Allow: true}}
	tool.Env = slices.DeleteFunc(tool.Env, func(r ir.EnvRule) bool { return r.Name == "TERM" })
	tool.Env = append(tool.Env, ir.EnvRule{Name: "TERM"})
	return tool
}

// RuleOf is the rule that decides about an operation.
func RuleOf(v *ir.View, op ir.Operation) ir.RuleID {
	won := v.Decide(op).Rule
	for _, e := range v.Entries() {
		if won == ir.Rule(e.Rule) {
			return e.ID
		}
	}
	return ir.DefaultRule
}

// Grants are files of a workspace, each with the access granted there and below.
type Grants map[string]importer.Access

// Expressible draws grants that the settings of srt can say: below a place that may not be written, no
// place may.
func Expressible(r *rand.Rand) Grants {
	out := Grants{"": {Read: true, Write: r.IntN(2) == 0}}
	for range r.IntN(6) {
		p := strings.Join(append([]string{Pick(r, "a", "b", "src", "x y")},
			Some(r, 2, func() string { return Pick(r, "a", "b", "src", "x y") })...), "/")
		out[p] = importer.Access{Read: r.IntN(3) > 0, Write: r.IntN(2) == 0}
	}
	for p, a := range out {
		for q, b := range out {
			if ir.Within("/"+p, "/"+q) && p != q && !b.Write && b.Read || !a.Read {
				a.Write = false
			}
		}
		out[p] = a
	}
	// Below a place that cannot be read nothing can be written, as srt mounts something else there.
	for p, a := range out {
		for q, b := range out {
			if p != q && ir.Within("/"+p, "/"+q) && !(b.Read && b.Write) {
				a.Write = false
			}
		}
		out[p] = a
	}
	return out
}

// At is the access to a path.
func (g Grants) At(rel string) importer.Access {
	for p := rel; ; p = strings.TrimPrefix(filepath.Dir("/"+p), "/") {
		if a, ok := g[p]; ok {
			return a
		}
	}
}
