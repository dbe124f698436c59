package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == probeWord {
		probe(os.Stdin, os.Stdout)
		return
	}
	verbose := flag.Bool("v", false, "say what became of every operation")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./test/conformance [-v] [NAME...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	bad, err := run(flag.Args(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
		os.Exit(2)
	}
	if bad > 0 {
		fmt.Fprintf(os.Stderr, "cases: %d of them differ on %s\n", bad, runtime.GOOS)
		os.Exit(1)
	}
}

// run builds accessc and runs cases with it, all of them without names.
func run(only []string, verbose bool) (int, error) {
	if len(only) == 0 {
		var err error
		if only, err = names(); err != nil {
			return 0, err
		}
	}
	dir, err := os.MkdirTemp("", "cases-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return 0, err
	}
	r := &runner{out: os.Stdout, verbose: verbose, accessc: filepath.Join(dir, "accessc")}
	if runtime.GOOS == "windows" {
		r.accessc += ".exe"
	}
	if r.self, err = os.Executable(); err != nil {
		return 0, err
	}
	build := exec.Command("go", "build", "-o", r.accessc, "github.com/accessc/accessc/cmd/accessc")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("building accessc: %w", err)
	}
	return r.all(only, dir)
}
