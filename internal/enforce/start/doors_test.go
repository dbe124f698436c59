package start_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planned are the files that make requests for a Plan, which has the stamp of all of its starts.
var planned = []string{"sandbox/request.go", "sandbox/helper_linux.go"}

// TestEveryDoorAsksTheMaximum: every request of a start outside of this package says which maximum its policy was
// compared with, and within this package every way to become or start a tool refuses a request before it does anything
// else. A door that forgets it would start nothing on a machine with a maximum, and whoever opens it sees why here.
func TestEveryDoorAsksTheMaximum(t *testing.T) {
	const root = "../../.."
	requests := 0
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
		if err != nil || e.IsDir() && (strings.HasPrefix(e.Name(), ".") && name != root || rel == "test") {
			return cmp.Or(err, fs.SkipDir)
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(rel, "internal/enforce/start/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sets := slices.Contains(planned, rel)
		var made []*ast.CompositeLit
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if is(n.Type, "start", "Request") {
					made = append(made, n)
				}
			case *ast.AssignStmt:
				sets = sets || slices.ContainsFunc(n.Lhs, under)
			}
			return true
		})
		for _, n := range made {
			requests++
			key := func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && kv.Key.(*ast.Ident).Name == "Under"
			}
			// exec fills its request in by the other file of the command.
			if !sets && rel != "cmd/accessc/exec.go" && rel != "cmd/accessc/early/kept.go" && !slices.ContainsFunc(n.Elts, key) {
				t.Errorf("%s makes a request without Under", rel)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if requests < 6 {
		t.Errorf("found %d requests", requests)
	}
	// The ways of this package, by the function that refuses.
	for file, function := range map[string]string{
		"settled_linux.go": "settleHere", "plan_linux.go": "begin", "wrapped_linux.go": "Wrap", "profile_unix.go": "startProfile",
		"start_windows.go": "begin",
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		asks := false
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != function {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if sel, isSel := selector(call, ok); isSel {
					asks = asks || sel.Sel.Name == "within"
				}
				return true
			})
		}
		if !asks {
			t.Errorf("%s of %s does not ask the maximum", function, file)
		}
	}
}

func selector(call *ast.CallExpr, ok bool) (*ast.SelectorExpr, bool) {
	if !ok {
		return nil, false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return sel, ok
}

func is(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}

func under(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Under"
}
