package accessc_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// left counts, per directory, the places where a test still looks at the clock or draws by chance. A number
// may only fall, to the number that TestTheGateRollsNoDice finds.
var left = map[string]int{
	"cmd/accessc":      2,
	"internal/egress":  3,
	"sandbox":          1,
	"test/conformance": 1,
	"test/containers":  1,
	"test/egress":      1,
	"test/scripts":     2,
}

// TestTheGateRollsNoDice: of nine changes four were refused by a test that failed by chance. A test that sleeps,
// measures or sets a deadline of its own fails when the machine is busy; a test with a seed of its own tests another
// program in each run. Benchmarks measure, package await sleeps, and package epoch draws.
func TestTheGateRollsNoDice(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (exempt[name] || name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go") && !(strings.HasPrefix(name, "test/") && strings.HasSuffix(name, ".go")):
			return nil
		}
		places, err := dice(name)
		found[path.Dir(name)] = append(found[path.Dir(name)], places...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		switch n := len(found[dir]); {
		case n > left[dir]:
			t.Errorf("%s: %d places, %d are known:\n  %s", dir, n, left[dir], strings.Join(found[dir], "\n  "))
		case n < left[dir]:
			t.Errorf("%s: %d places are left; lower the number from %d", dir, n, left[dir])
		}
	}
}

// exempt are the directories of benchmarks and of programs that are no tests.
var exempt = map[string]bool{
	"test/await": true, "test/irtest/epoch": true, "test/bench": true, "test/cover": true, "test/faults": true, "test/firsthour": true,
	"test/gate": true, "test/kernels": true, "test/kubernetes": true, "test/platforms": true, "test/wine": true,
}

// clocks are the functions that make a result depend on the time, by the path of their package.
var clocks = map[string][]string{
	"time":    {"Sleep", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"},
}

// limits are the methods of connections and commands that set a deadline, and the reading of a clock as a number.
var limits = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline", "UnixNano", "UnixMicro"}

// dice lists the places of a file that look at the clock, draw without a seed, or write what a process keeps from starting.
func dice(name string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, 0)
	if err != nil {
		return nil, err
	}
	imports := map[string]string{}
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		as := path.Base(strings.TrimSuffix(p, "/v2"))
		if spec.Name != nil {
			as = spec.Name.Name
		}
		imports[as] = p
	}
	var places []string
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && benchmark(f) {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && chance(imports, sel, call.Args) {
			places = append(places, fmt.Sprintf("%s: %s", files.Position(call.Pos()), sel.Sel.Name))
		}
		return true
	})
	return places, nil
}

// benchmark reports whether a function is a benchmark.
func benchmark(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "B" {
				return true
			}
		}
	}
	return false
}

// chance reports whether a call looks at the clock, draws without a seed, or writes a program as any file.
func chance(imports map[string]string, sel *ast.SelectorExpr, args []ast.Expr) bool {
	x, ok := sel.X.(*ast.Ident)
	if !ok || imports[x.Name] == "" || x.Obj != nil {
		return slices.Contains(limits, sel.Sel.Name) && !(len(args) == 1 && awaits(args[0]))
	}
	switch p := imports[x.Name]; p {
	case "math/rand", "math/rand/v2":
		return !strings.HasPrefix(sel.Sel.Name, "New")
	case "crypto/rand":
		return sel.Sel.Name != "Reader"
	case "os":
		return sel.Sel.Name == "WriteFile" && len(args) == 3 && executable(args[2])
	default:
		return slices.Contains(clocks[p], sel.Sel.Name) && !(sel.Sel.Name == "Until" && awaits(args[0]))
	}
}

// executable reports whether an expression is a mode of files that are started. Such a file is written by testbuild.WriteFile: a
// process that is made meanwhile keeps it from starting.
func executable(mode ast.Expr) bool {
	lit, ok := mode.(*ast.BasicLit)
	if !ok {
		return false
	}
	bits, err := strconv.ParseUint(lit.Value, 0, 32)
	return err == nil && bits&0o111 != 0
}

// awaits reports whether an expression is the deadline of the run, or no deadline.
func awaits(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return ok && x.Name == "await"
	case *ast.CompositeLit: // time.Time{}
		return len(e.Elts) == 0
	}
	return false
}
