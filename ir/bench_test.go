package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// wide returns a policy of n rules whose paths have eight components.
func wide(n int) (*ir.Tool, []ir.Location) {
	tool := ir.NewTool("wide")
	tool.FS = make([]ir.FSRule, n)
	at := make([]ir.Location, n)
	for i := range n {
		parts := make([]string, 8)
		for d, k := 0, i; d < 8; d, k = d+1, k/5 {
			parts[7-d] = fmt.Sprintf("dir%d", k%5)
		}
		parts[7] = fmt.Sprintf("leaf%d", i)
		at[i] = ir.In(strings.Join(parts, "/"))
		tool.FS[i] = ir.FSRule{At: at[i], Caps: ir.CapSet(i) & ir.All}
	}
	return tool, at
}

// BenchmarkDecide asks about paths of depth eight under a hundred thousand rules.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		tool, at := wide(n)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			allowed := 0
			for i := 0; b.Loop(); i++ {
				if view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at[i%n])}).Allowed() {
					allowed++
				}
			}
			if allowed == 0 {
				b.Fatal("nothing was allowed")
			}
		})
	}
}

// byNames returns a policy of ten rules on places and five by name, and paths of depth six that no rule by name
// is about.
func byNames() (*ir.Tool, []ir.Location) {
	tool, at := ir.NewTool("names"), []ir.Location{}
	for i := range 10 {
		dir := ir.In(fmt.Sprintf("packages/part%d", i))
		tool.FS = append(tool.FS, ir.FSRule{At: dir, Caps: ir.CapSet(i)&ir.All | ir.Caps(ir.Read)})
		at = append(at, dir.Child(fmt.Sprintf("src/main/java/file%d.go", i)))
	}
	for _, name := range []string{".env", ".env.*", "*.pem", "id_rsa", "*.key"} {
		tool.FS = append(tool.FS, ir.FSRule{At: ir.In(""), Names: []string{name}})
	}
	return tool, at
}

// BenchmarkDecideByName asks about paths under rules by name.
func BenchmarkDecideByName(b *testing.B) {
	tool, at := byNames()
	view := ir.NewView(tool, ir.Linux, ir.Facts{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at[i%len(at)])}).Allowed() {
			b.Fatal("denied")
		}
	}
}

// TestDecideDoesNotAllocate keeps the evaluator usable on a supervisor's hot path.
func TestDecideDoesNotAllocate(t *testing.T) {
	tool, at := wide(1000)
	view := ir.NewView(tool, ir.Linux, ir.Facts{})
	byName, file := byNames()
	named := ir.NewView(byName, ir.Linux, ir.Facts{})
	for name, decide := range map[string]func(){
		"access": func() { view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at[7])}) },
		"byname": func() { named.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(file[3])}) },
		"rename": func() { view.Decide(ir.Rename{Src: ir.Direct(at[7]), Dst: ir.Direct(at[8]), SrcKind: ir.File}) },
		"start":  func() { view.Decide(ir.Start{On: ir.Direct(at[7])}) },
	} {
		if n := testing.AllocsPerRun(100, decide); n != 0 {
			t.Errorf("%s: %v allocations, expected none", name, n)
		}
	}
}
