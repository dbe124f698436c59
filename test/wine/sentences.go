package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// sentences are the doc comments of the tests that are for Windows alone, by the last part of
// their package and their name.
func sentences() (map[string]string, error) {
	out := map[string]string{}
	for _, dir := range packages {
		files, err := filepath.Glob(filepath.Join(dir, "*_windows_test.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
					_, text, _ := strings.Cut(strings.Join(strings.Fields(f.Doc.Text()), " "), ": ")
					out[filepath.Base(dir)+"."+f.Name.Name] = strings.TrimSuffix(text, ".")
				}
			}
		}
	}
	return out, nil
}
