// Command trusted prints what has to be trusted while accessc-exec starts and supervises a tool on Linux: packages, lines
// and bytes, with the egress proxy and without. It fails if the lines of this module are more than tolerated (percent)
// above the committed figures.
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
	program   = "./cmd/accessc-exec"
	figures   = "test/trusted/lines"
	tolerated = 2
)

// base is what one form of the program is made of.
type base struct {
	tags                  string
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
	for _, tags := range []string{"", "accessc_noegress"} {
		b, err := measure(tags)
		if err != nil {
			return err
		}
		fmt.Printf("accessc-exec %-16s %6d lines of %d packages of ours, %d of other modules, %d of Go, %d bytes\n",
			b.tags, b.lines, b.own, b.others, b.packages-b.own-b.others, b.bytes)
		fmt.Fprintf(&now, "%s %d\n", b.tags, b.lines)
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
		var tags string
		var lines int
		if _, err := fmt.Sscanf(line, "%s %d\n", &tags, &lines); err != nil {
			return fmt.Errorf("%s: %q: %w", figures, line, err)
		}
		if tags == b.tags && b.lines*100 <= lines*(100+tolerated) {
			return nil
		}
		if tags == b.tags {
			return fmt.Errorf("accessc-exec (%s) has %d lines of ours, and %d were committed: more than %d %% above. Take "+
				"something out, or say why in a commit with: go run ./test/trusted -update", b.tags, b.lines, lines, tolerated)
		}
	}
	return fmt.Errorf("%s has no figure for %s", figures, b.tags)
}

func measure(tags string) (base, error) {
	b := base{tags: "egress"}
	if tags != "" {
		b.tags = "noegress"
	}
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
	file := filepath.Join(dir, "accessc-exec")
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
