// Command accessc-check checks the certificate of a directory that accessc build --certify has written: that each
// artifact means its tool's policy. It has no code of the compiler; docs/proof.md says what it shows.
//
//	accessc-check DIR
//
// Exit status: 0 the certificate is accepted, 1 it is refused, 2 there is nothing to check.
package main

import (
	"fmt"
	"os"

	"github.com/accessc/accessc/proof/check"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "" || os.Args[1][0] == '-' {
		fmt.Fprintln(os.Stderr, "Usage: accessc-check DIR")
		fmt.Fprintln(os.Stderr, "\nChecks DIR/certificate.json against DIR/manifest.json and the artifacts.")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1]))
}

func run(dir string) int {
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "accessc-check:", err)
		return 2
	}
	defer root.Close()
	report, err := check.Check(root.FS())
	if err != nil {
		fmt.Fprintln(os.Stderr, "accessc-check:", err)
		return 2
	}
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	if len(report.Problems) > 0 {
		fmt.Fprintln(os.Stderr, "accessc-check: the certificate is refused")
		return 1
	}
	fmt.Print(report)
	return 0
}
