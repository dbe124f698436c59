package check_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/ir"
	. "github.com/accessc/accessc/proof/check"
	"github.com/accessc/accessc/test/irtest"
)

// A target is a backend whose texts a model of this package reads.
type target struct {
	backends.Backend
	platform ir.Platform
}

var targets = []target{{seatbelt.Backend{}, ir.Darwin}, {winjob.Backend{}, ir.Windows}}

// golden compiles the policies of the golden files for a target.
func (x target) golden(t *testing.T, each func(name string, tool *ir.Tool)) {
	t.Helper()
	files, err := filepath.Glob("../../golden/policy/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		program := golden.Lay(t, a).Run(t).Result.Program
		if program == nil {
			continue
		}
		for _, tool := range program.Tools {
			if tool.Source.Kind == ir.SourceLocal {
				each(strings.TrimSuffix(filepath.Base(f), ".txtar")+"/"+tool.Name, tool)
			}
		}
	}
}

// A judge compares a text with the policy that it was compiled from.
type judge struct {
	*testing.T
	target
	view   *ir.View
	text   Text
	ledger ir.Ledger
	asked  map[string]int // questions by the answers of both
	err    error
}

// judge compiles a tool and has the model read the text, nil where the backend writes none.
func (x target) judge(tool *ir.Tool, edit func([]byte) []byte) (*judge, error) {
	out, err := x.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data == nil {
		return nil, nil
	}
	j := &judge{target: x, view: ir.NewView(tool, x.platform, ir.Facts{}), ledger: out.Ledger, asked: map[string]int{}}
	if edit != nil {
		out.Data = edit(out.Data)
	}
	j.text, err = ReadText(x.File(), out.Data)
	return j, err
}

// located reads a place in the spelling of policies.
func located(place string) ir.Location {
	head, rest, _ := strings.Cut(place, "}")
	rest = strings.TrimPrefix(rest, "/")
	switch {
	case head == "${workspace":
		return ir.In(rest)
	case head == "${home":
		return ir.Location{Root: ir.Root{Kind: ir.Home}, Path: rest}
	case head == "${tmp":
		return ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: rest}
	case strings.HasPrefix(head, "${external:"):
		return ir.Location{Root: ir.Root{Kind: ir.External, Name: head[len("${external:"):]}, Path: rest}
	}
	return ir.Sys(strings.TrimPrefix(place, "/"))
}

// places are those that text and policy say something about, names in them and below, and names for patterns.
func (j *judge) places() []string {
	all := map[string]bool{"/": true, "/Users/u": true}
	add := func(at string) {
		all[at] = true
		for _, name := range []string{"fresh", "fresh/er"} {
			all[Child(at, name)] = true
		}
	}
	names := []string{}
	for _, n := range j.text.Mentions(Names) {
		names = append(names, PlainName(n))
	}
	for _, at := range append(j.text.Mentions(Files), "${workspace}") {
		add(at)
	}
	for _, r := range j.view.Tool.FS {
		for _, n := range r.Names {
			names = append(names, PlainName(n))
		}
	}
	for _, root := range j.view.Tree() {
		root.WalkRoot(func(r *ir.Region) {
			add(r.At.String())
		})
	}
	for _, at := range slices.Collect(maps.Keys(all)) {
		for _, n := range names {
			if !strings.HasSuffix(at, "/fresh/er") && len(names) < 12 {
				all[Child(at, n)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// acted are the acts of a capability that the model may know.
var acted = map[ir.Capability]Verdict{}

func init() {
	for i, acts := range ActCaps {
		acted[ir.Capability(i+1)] = acts
	}
}

// stated reports whether a row of some cell states a difference.
func (j *judge) stated(weaker bool, level int, cells ...cell) bool {
	return slices.ContainsFunc(cells, func(c cell) bool {
		row, ok := j.ledger.Cell(ir.FS, c.rule, c.aspect, j.platform, level)
		switch {
		case !ok:
			j.err = fmt.Errorf("no cell %v", c)
		case row.Is == ir.Weaker, row.Is == ir.Unenforced:
			return weaker || len(row.Causes) > 1 // a row states what is worst
		case row.Is == ir.Stricter:
			return !weaker
		}
		return false
	})
}

type cell struct {
	rule   ir.RuleID
	aspect ir.Aspect
}

func (j *judge) rule(at string, c ir.Capability) (ir.RuleID, ir.Verdict) {
	v := j.view.Decide(ir.Access{Cap: c, On: ir.Direct(located(at))})
	for _, e := range j.view.Entries() {
		if v.Rule == ir.Rule(e.Rule) {
			if e.Rule.Origin.Layer == ir.LayerBase {
				return ir.BaseRule, v
			}
			return e.ID, v
		}
	}
	return ir.DefaultRule, v
}

// files returns the differences about places that no row states.
func (j *judge) files() (out []string) {
	for _, at := range j.places() {
		for i, got := range j.text.Answer(Question{Kind: Files, Target: at, To: at}) {
			level := j.text.Levels()[i].From
			if got&Odd != 0 {
				out = append(out, at+" is read in two ways")
			}
			for c, acts := range acted {
				id, v := j.rule(at, c)
				for act := Verdict(1); act < 1<<Late; act <<= 1 {
					if acts&act&j.text.Acts() == 0 {
						continue
					}
					weaker := got&act != 0
					j.asked[fmt.Sprint(v.Allowed(), weaker)]++
					aspect := ir.AspectOf(c)
					if act == Metadata {
						aspect = ir.AspectMetadata
					} else if act == Dial {
						aspect = ir.AspectSocket
					}
					if v.Allowed() != weaker && !j.stated(weaker, level, cell{id, aspect}) {
						out = append(out, fmt.Sprintf("%s: %s of %s at %d: policy %v", at, act, id, level, v.Allowed()))
					}
				}
			}
		}
	}
	return out
}

// moves returns the differences about moves between some places that no row states.
func (j *judge) moves(places []string) (out []string) {
	for _, from := range places {
		for _, to := range places {
			if from == to || Within(to, from) || Within(from, to) {
				continue
			}
			src, dst := ir.Direct(located(from)), ir.Direct(located(to))
			for i, got := range j.text.Answer(Question{Kind: Moves, Target: from, To: to}) {
				for act, op := range map[Verdict]ir.Operation{
					RenameFile:  ir.Rename{Src: src, Dst: dst, SrcKind: ir.File, DstKind: ir.Absent},
					RenameDir:   ir.Rename{Src: src, Dst: dst, SrcKind: ir.Dir, DstKind: ir.Absent},
					ReplaceFile: ir.Rename{Src: src, Dst: dst, SrcKind: ir.File, DstKind: ir.File},
					Link:        ir.Link{Src: src, Dst: dst},
				} {
					v, weaker := j.view.Decide(op), got&act != 0
					j.asked[fmt.Sprint("move", v.Allowed(), weaker)]++
					if v.Allowed() == weaker || act == Link && located(from).Path == "" { // a directory
						continue
					}
					var cells []cell
					for _, at := range []string{from, to} {
						for _, c := range []ir.Capability{ir.Create, ir.Update, ir.Delete} {
							id, _ := j.rule(at, c)
							cells = append(cells, cell{id, ir.AspectOf(c)}, cell{id, ir.AspectMove})
						}
					}
					level := j.text.Levels()[i].From
					if !j.stated(weaker, level, cells...) {
						out = append(out, fmt.Sprintf("%T %s to %s at %d: policy %v", op, from, to, level, v.Allowed()))
					}
				}
			}
		}
	}
	return out
}

// TestTextsOfGoldenPolicies asks the models about the texts of all golden policies.
func TestTextsOfGoldenPolicies(t *testing.T) {
	for _, x := range targets {
		asked := map[string]int{}
		x.golden(t, func(name string, tool *ir.Tool) {
			j, err := x.judge(tool, nil)
			if err != nil {
				t.Errorf("%s of %s: %v", x.File(), name, err)
			}
			if err != nil || j == nil {
				return
			}
			found := append(j.files(), j.moves(sample(j.places(), 40))...)
			for _, s := range found[:min(len(found), 8)] {
				t.Errorf("%s of %s: %s", x.File(), name, s)
			}
			for k, n := range j.asked {
				asked[k] += n
			}
		})
		t.Log(x.File(), asked)
	}
}

// sample takes at most n of a list, at equal distances.
func sample(list []string, n int) (out []string) {
	for i := 0; i < len(list); i += max(len(list)/n, 1) {
		out = append(out, list[i])
	}
	return out
}

// odd are names that a text could get wrong.
var odd = append(slices.Clone(irtest.Names), `q"t`, `b\s`, "#;", "a.b")

// TestTextsOfRandomPolicies asks the models about texts of random policies.
func TestTextsOfRandomPolicies(t *testing.T) {
	for _, x := range targets {
		asked := map[string]int{}
		irtest.Check(t, 1000, 1, func(t *rapid.T) {
			tool := irtest.ToolByName(t, odd, 6)
			j, err := x.judge(tool, nil)
			if err != nil {
				t.Fatalf("%s: %v", x.File(), err)
			}
			if j == nil {
				return
			}
			places := j.places()
			for _, s := range append(j.files(), j.moves(sample(places, 12))...) {
				t.Fatalf("%s: %s", x.File(), s)
			}
			for k, n := range j.asked {
				asked[k] += n
			}
		})
		t.Log(x.File(), asked)
	}
}
