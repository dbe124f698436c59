package allow

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
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

// join adds the reach of a further rule.
func (r *Reach) join(o Reach) {
	r.Files += o.Files
	r.Examples = append(r.Examples, o.Examples...)
	r.Examples = r.Examples[:min(len(r.Examples), maxExamples)]
	r.More = r.More || o.More
	r.Beyond = append(r.Beyond, o.Beyond...)
}

// survey finds the grants of a policy that the present one lacks.
type survey struct {
	p        *Policy
	view     *ir.View
	bindings *ir.Bindings
	asks     []Ask
	// asked are the places that were asked about, or counted. seen is how many were looked at.
	asked map[ir.Location]bool
	seen  int
}

func (s *survey) begin() {
	for _, a := range s.asks {
		if a.Allowed(s.p.View) {
			continue
		}
		for _, place := range ir.Describe(a.Operation).Places {
			s.asked[place.At] = true
		}
	}
}

// rule is the reach of one addition.
func (s *survey) rule(a *addition) Reach {
	out := Reach{}
	for _, i := range a.asks {
		switch op := s.asks[i].Operation.(type) {
		case ir.Connect:
			if len(op.To.Path) > 0 || op.Method != "" {
				out.Beyond = append(out.Beyond, "every request to "+op.To.Host.String()+" that the rule matches, not this one alone")
			}
		case ir.Run:
			if len(op.Args) == 0 {
				out.Beyond = append(out.Beyond, op.Program+" with any arguments")
			}
		case ir.Listen:
			if s.asks[i].recorded && chosen(op) {
				out.Beyond = append(out.Beyond, "every port at "+op.Host.String()+", since the kernel has probably chosen this one")
			}
		case ir.Dial:
			out.Beyond = append(out.Beyond, "connections to every program that will listen at "+op.On.At.Short())
		case ir.Access, ir.Copy, ir.Exchange, ir.Forward, ir.Link, ir.Rename, ir.Start:
			// A rule on a place is looked at below.
		}
	}
	out.Beyond = append(out.Beyond, a.beyond...)
	for _, place := range a.places {
		s.place(&out, place, a)
	}
	if a.fs == nil {
		return out
	}
	if abs, ok := s.bindings.Path(a.fs.At); ok {
		s.place(&out, abs, a)
	}
	return out
}

// place adds the reach of an addition at one place.
func (s *survey) place(out *Reach, abs string, a *addition) {
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, e os.DirEntry, err error) error {
		if s.seen++; s.seen > maxLooked {
			out.More = true
			return fs.SkipAll
		}
		if err != nil || e.IsDir() || !s.gains(filepath.ToSlash(name)) {
			return nil
		}
		s.asked[s.p.asker.Bindings.Locate(filepath.ToSlash(name))] = true // rules may overlap
		out.Files++
		if len(out.Examples) < maxExamples {
			out.Examples = append(out.Examples, s.bindings.Locate(filepath.ToSlash(name)).Short())
		}
		return nil
	})
	if info, err := os.Stat(filepath.FromSlash(abs)); err == nil && info.IsDir() || s.makes(a) {
		out.Beyond = append(out.Beyond, "what will be in "+strings.TrimSuffix(s.bindings.Locate(abs).Short(), "/"))
	}
}

// makes reports whether an addition is for a directory that is to be made.
func (s *survey) makes(a *addition) bool {
	return a.fs != nil && slices.ContainsFunc(a.asks, func(i int) bool {
		op, ok := s.asks[i].Operation.(ir.Access)
		return ok && op.Cap == ir.Create && op.Name == ir.NameDir && op.On.At == a.fs.At
	})
}

// gains reports whether the policy grants something on a file that the present one does not, and that
// nothing was asked for.
func (s *survey) gains(abs string) bool {
	was, is := s.p.asker.Bindings.Locate(abs), s.bindings.Locate(abs)
	if s.asked[was] {
		return false
	}
	for _, c := range ir.Capabilities {
		if s.view.Decide(ir.Access{Cap: c, On: ir.Direct(is)}).Allowed() &&
			!s.p.View.Decide(ir.Access{Cap: c, On: ir.Direct(was)}).Allowed() {
			return true
		}
	}
	return false
}

// Text lists the grants beyond the operations, a line each.
func (r Reach) Text() string {
	var b strings.Builder
	if r.Files > 0 {
		more := ""
		if r.More {
			more = " at least"
		}
		fmt.Fprintf(&b, "  also granted: %s%s, such as %s\n", plural.Count(r.Files, "existing file"), more,
			strings.Join(r.Examples, ", "))
	}
	for _, s := range r.Beyond {
		fmt.Fprintf(&b, "  also granted: %s\n", s)
	}
	return b.String()
}
