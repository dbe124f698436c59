package accessc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// public are the directories whose packages other modules may import.
var public = []string{"ir", "compiler", "backends", "tool", "ruleset"}

// TestFieldsDocumented holds every exported field of an exported struct of the public packages
// to a comment: on the field, at the end of its line, or on a neighbour above it that names it.
func TestFieldsDocumented(t *testing.T) {
	fields := 0
	for _, dir := range public {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, s := range structs(file) {
				total, bare := undocumented(s)
				fields += total
				for _, name := range bare {
					t.Errorf("%s: %s has no comment", set.Position(name.Pos()), name.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if fields == 0 {
		t.Fatal("no field found")
	}
	t.Logf("%d exported fields", fields)
}

// structs are the exported struct types of a file, those nested in their fields included.
func structs(file *ast.File) []*ast.StructType {
	var out []*ast.StructType
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			if s.(*ast.TypeSpec).Name.IsExported() {
				ast.Inspect(s, func(n ast.Node) bool {
					if s, ok := n.(*ast.StructType); ok {
						out = append(out, s)
					}
					return true
				})
			}
		}
	}
	return out
}

// undocumented counts the exported fields of a struct and returns those without a comment. A
// comment reaches down to the next empty line or comment, for the fields that it names.
func undocumented(s *ast.StructType) (total int, bare []*ast.Ident) {
	above := ""
	for _, f := range s.Fields.List {
		if f.Doc != nil {
			above = f.Doc.Text()
		}
		for _, name := range f.Names {
			if !name.IsExported() {
				continue
			}
			total++
			named := regexp.MustCompile(`\b` + name.Name + `\b`).MatchString(above)
			if f.Doc == nil && f.Comment == nil && !named {
				bare = append(bare, name)
			}
		}
	}
	return total, bare
}

// TestFieldsNotice has the count miss the undocumented fields and nothing else.
func TestFieldsNotice(t *testing.T) {
	const source = `package p
type T struct {
	// A and B are documented together.
	A int
	B int
	C int // C is documented on its line.
	D, E int
	hidden int
	F struct { G int }
}
type own struct { H int }`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range structs(file) {
		_, bare := undocumented(s)
		for _, name := range bare {
			got = append(got, name.Name)
		}
	}
	if want := "D E F G"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
