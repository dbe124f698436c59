package allow

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Reach describes the grants of an addition beyond the operations that were asked for.
type Reach struct {
	// Files is how many existing files get a capability that nothing was asked for; Examples are
	// some of them. More is true where not all were looked at.
	Files    int      `json:"files"`
	Examples []string `json:"examples,omitempty"`
	More     bool     `json:"more,omitempty"`
	// Beyond are sentences about all other grants.
	Beyond []string `json:"beyond,omitempty"`
}

const (
	maxLooked   = 50_000
	maxExamples = 3
)

// reach finds the grants of a policy that the present one lacks.
func (p *Planner) reach(v *ir.View, d *draft, asks []Ask) Reach {
	out := Reach{}
	asked := map[ir.Location]bool{}
	for _, a := range asks {
		for _, place := range ir.Describe(a.Operation).Places {
			asked[place.At] = true
		}
		switch op := a.Operation.(type) {
		case ir.Connect:
			if len(op.To.Path) > 0 || op.Method != "" {
				out.Beyond = append(out.Beyond, "every request to "+op.To.Host.String()+" that the rule matches, not this one alone")
			}
		case ir.Run:
			if len(op.Args) == 0 {
				out.Beyond = append(out.Beyond, op.Program+" with any arguments")
			}
		case ir.Access, ir.Copy, ir.Dial, ir.Exchange, ir.Forward, ir.Link, ir.Listen, ir.Rename, ir.Start:
			// A rule on a place is looked at below.
		}
	}
	seen := 0
	for _, r := range d.fs {
		abs, ok := p.asker.Bindings.Path(r.At)
		if !ok {
			continue
		}
		_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, e os.DirEntry, err error) error {
			if seen++; seen > maxLooked {
				out.More = true
				return fs.SkipAll
			}
			at := p.asker.Bindings.Locate(filepath.ToSlash(name))
			if err != nil || asked[at] || !p.gains(v, at) {
				return nil
			}
			if !e.IsDir() {
				out.Files++
				if len(out.Examples) < maxExamples {
					out.Examples = append(out.Examples, at.Short())
				}
			}
			return nil
		})
		if info, err := os.Stat(filepath.FromSlash(abs)); err == nil && info.IsDir() {
			out.Beyond = append(out.Beyond, "what will be in "+strings.TrimSuffix(r.At.Short(), "/"))
		}
	}
	return out
}

// gains reports whether a policy grants something on a place that the present one does not.
func (p *Planner) gains(v *ir.View, at ir.Location) bool {
	for _, c := range ir.Capabilities {
		op := ir.Access{Cap: c, On: ir.Direct(at)}
		if v.Decide(op).Allowed() && !p.View.Decide(op).Allowed() {
			return true
		}
	}
	return false
}
