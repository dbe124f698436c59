package registry

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestRefusalsAreThoseOfCompile: the quick question about refusals has the answer of a compilation, so a check
// finds the mistakes that a build refuses.
func TestRefusalsAreThoseOfCompile(t *testing.T) {
	names := []string{"a", "A", "b", "a\nb", "a\xff", "b/", "..", "con", "a:b"}
	seen := map[string]int{}
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		draw := names[:2]
		if rapid.Bool().Draw(rt, "odd") {
			draw = names
		}
		tool := irtest.ToolByName(rt, draw, 4)
		tool.Command = &ir.Command{Program: "true"}
		sameRefusals(rt, tool, seen)
	})
	large := ir.NewTool("t")
	for i := range 2000 {
		large.FS = append(large.FS, ir.FSRule{At: ir.In(fmt.Sprint("d/", i)), Caps: ir.Caps(ir.Read)})
	}
	sameRefusals(t, large, seen)
	irtest.Happened(t, seen, "landlock: none", "seatbelt: none", "seatbelt: some", "seatbelt: too many", "winjob: none", "winjob: some")
}

func sameRefusals(t rapid.TB, tool *ir.Tool, seen map[string]int) {
	target := backends.Target{Form: backends.Portable}
	for _, b := range All {
		if _, ok := b.(backends.Refuser); !ok {
			t.Fatalf("%s finds refusals by compiling", b.Name())
		}
		got, err := backends.Refusals(b, tool, target)
		out, failed := b.Compile(tool, target)
		if err != nil || failed != nil {
			t.Fatalf("%s: %v, %v", b.Name(), err, failed)
		}
		if len(got)+len(out.Refusals) > 0 && !reflect.DeepEqual(got, out.Refusals) {
			t.Fatalf("%s: refuses %+v, compiled %+v", b.Name(), got, out.Refusals)
		}
		switch {
		case len(got) == 0:
			seen[b.Name()+": none"]++
		case got[len(got)-1].TooMany:
			seen[b.Name()+": too many"]++
		default:
			seen[b.Name()+": some"]++
		}
	}
}
