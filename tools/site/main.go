// Command site writes README.md, docs/ and everything that they lead to as static pages, with the playground:
//
//	site -root DIR -out DIR -playground DIR
//
// The pages ask no other server for anything, and work from a disk. The same sources give the same bytes. A link to a
// file or heading that is not there is an error, and so is HTML that a page does not need.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	out := flag.String("out", "dist/site", "where to write; what a former run left there is replaced")
	program := flag.String("playground", "", "the directory with accessc.wasm and wasm_exec.js")
	flag.Parse()
	if err := build(*root, *out, *program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
