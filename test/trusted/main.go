// Command trusted prints what has to be trusted while accessc-exec starts and supervises a tool on Linux: packages,
// lines and bytes, with the egress proxy and without; and the same of accessc-check, which checks certificates. It fails
// if the lines of this module are more than tolerated (percent) above the committed figures.
//
//	go run ./test/trusted            print and compare
//	go run ./test/trusted -update    commit to the figures of today
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module    = "github.com/accessc/accessc"
	figures   = "test/trusted/lines"
	tolerated = 2
)

// forms are the programs by the name of their figure, with the tags that they are built with.
var forms = []struct{ name, program, tags string }{
	{"egress", "accessc-exec", ""}, {"noegress", "accessc-exec", "accessc_noegress"},
	{"certificates", "accessc-check", ""},
}

// base is what one form of a program is made of.
type base struct {
	name, program         string
	packages, own, others int   // others are packages of other modules
	lines                 int   // of this module that are code: neither blank nor a comment
	bytes                 int64 // of the binary, without symbols
}

func main() {
	update := flag.Bool("update", false, "commit to the figures of today")
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(update bool) error {
	committed, err := os.ReadFile(figures)
	if err != nil && !update {
		return err
	}
	var failed error
	var now strings.Builder
	for _, f := range forms {
		b, err := measure(f.name, f.program, f.tags)
		if err != nil {
			return err
		}
		fmt.Printf("%-13s %-12s %6d lines of %d packages of ours, %d of other modules, %d of Go, %d bytes\n",
			b.program, b.name, b.lines, b.own, b.others, b.packages-b.own-b.others, b.bytes)
		fmt.Fprintf(&now, "%s %d\n", b.name, b.lines)
		if !update {
			failed = errors.Join(failed, compare(string(committed), b))
		}
	}
	if update {
		return os.WriteFile(figures, []byte(now.String()), 0o644)
	}
	return failed
}

// compare returns an error if there are more lines than the committed figure lets there be.
func compare(committed string, b base) error {
	for line := range strings.Lines(committed) {
		var name string
		var lines int
		if _, err := fmt.Sscanf(line, "%s %d\n", &name, &lines); err != nil {
			return fmt.Errorf("%s: %q: %w", figures, line, err)
		}
		if name == b.name && b.lines*100 <= lines*(100+tolerated) {
			return nil
		}
		if name == b.name {
			return fmt.Errorf("%s (%s) has %d lines of ours, and %d were committed: more than %d %% above. Take "+
				"something out, or say why in a commit with: go run ./test/trusted -update", b.program, b.name, b.lines,
				lines, tolerated)
		}
	}
	return fmt.Errorf("%s has no figure for %s", figures, b.name)
}

func measure(name, program, tags string) (base, error) {
	b := base{name: name, program: program}
	program = "./cmd/" + program
	out, err := command("list", "-tags="+tags, "-deps", "-f",
		`{{.ImportPath}},{{.Standard}},{{.Dir}}{{range .GoFiles}},{{.}}{{end}}`, program)
	if err != nil {
		return b, err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		b.packages++
		switch ours := strings.HasPrefix(fields[0], module+"/"); {
		case ours:
			b.own++
			for _, file := range fields[3:] {
				text, err := os.ReadFile(filepath.Join(fields[2], file))
				if err != nil {
					return b, err
				}
				b.lines += code(text)
			}
		case fields[1] != "true":
			b.others++
		}
	}
	dir, err := os.MkdirTemp("", "trusted")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	if _, err := command("build", "-tags="+tags, "-trimpath", "-ldflags=-s -w", "-o", file, program); err != nil {
		return b, err
	}
	info, err := os.Stat(file)
	if err == nil {
		b.bytes = info.Size()
	}
	return b, err
}

// code counts the lines that are neither blank nor a comment.
func code(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n
}

func command(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
