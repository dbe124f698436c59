package compiler_test

import (
	"fmt"
	"testing/fstest"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/ir"
)

// A policy is compiled from a file system, and asked whether a tool may write a file.
func ExampleCompile() {
	workspace := fstest.MapFS{"accessc.toml": {Data: []byte(`
[tools.format]
source = "local"
command = "gofmt -w ."
access.fs = [{ path = "src", read = true, update = true }]
`)}}
	res, err := compiler.Compile(compiler.Options{Root: ".", Tree: workspace})
	if err != nil || res.Program == nil {
		fmt.Println(err, res.Findings)
		return
	}
	for _, tool := range res.Program.Tools {
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for _, path := range []string{"src/main.go", "go.mod"} {
			v := view.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(ir.In(path))})
			fmt.Println(tool.Name, "update", path, v.Effect)
		}
	}
	// Output:
	// format update src/main.go allow
	// format update go.mod deny
}

// Mistakes are findings, all of them at once.
func ExampleResult_findings() {
	workspace := fstest.MapFS{"accessc.toml": {Data: []byte(`
[tools.format]
source = "lokal"

[tools.read]
source = "local"
access.fs = [{ path = "../other", read = true }]
`)}}
	res, err := compiler.Compile(compiler.Options{Root: ".", Tree: workspace})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("compiled:", res.Program != nil)
	for _, f := range res.Findings {
		fmt.Printf("%s: %s: %s\n", f.At, f.Message, f.Label)
	}
	// Output:
	// compiled: false
	// accessc.toml:3:10: unknown source: found "lokal", expected local, builtin or mcp, alone or with a dotted name
	// accessc.toml:7:23: a rule's path leaves the workspace: found a path that leaves the workspace by ".."
}
