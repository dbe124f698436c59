package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/accessc/accessc/test/finding"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == probeWord {
		probe(os.Stdin, os.Stdout)
		return
	}
	verbose := flag.Bool("v", false, "say what became of every operation")
	programs := flag.Bool("programs", false, "start the programs of programs.txt instead")
	file := flag.String("json", "", "write the results to `FILE`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./test/conformance [-v] [-json FILE] [-programs] [NAME...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	found, err := run(flag.Args(), *verbose, *programs)
	if err == nil && *file != "" {
		err = finding.Write(*file, found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
		os.Exit(2)
	}
	if bad := finding.Bad(found); bad > 0 {
		fmt.Fprintf(os.Stderr, "cases: %d of them differ on %s\n", bad, runtime.GOOS)
		os.Exit(1)
	}
}

// run builds accessc and runs cases with it, or programs: all of them without names.
func run(only []string, verbose, programs bool) ([]finding.Finding, error) {
	dir, err := os.MkdirTemp("", "cases-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	r := &runner{out: os.Stdout, verbose: verbose, patience: 2 * time.Minute, accessc: filepath.Join(dir, "accessc")}
	if runtime.GOOS == "windows" {
		r.accessc += ".exe"
	}
	if r.self, err = os.Executable(); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", r.accessc, "github.com/accessc/accessc/cmd/accessc")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building accessc: %w", err)
	}
	if programs {
		return r.programs(dir, named(only))
	}
	if len(only) == 0 {
		if only, err = names(); err != nil {
			return nil, err
		}
	}
	return r.all(only, dir)
}
