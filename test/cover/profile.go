package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// profile maps blocks, as "package/file.go:from,to", to what the tests did with them. A block
// that several test binaries have appears once.
type profile map[string]block

type block struct {
	statements int
	reached    bool
}

// read reads a profile of go test.
func read(file string) (profile, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}

func parse(r io.Reader) (profile, error) {
	out := profile{}
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return out, lines.Err()
		}
		if strings.HasPrefix(lines.Text(), "mode: ") {
			continue
		}
		var place string
		var statements, count int
		if _, err := fmt.Sscan(lines.Text(), &place, &statements, &count); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		out[place] = block{statements, out[place].reached || count > 0}
	}
}

// table prints the figures of each package and returns the percentage of all.
func (p profile) table(w io.Writer) float64 {
	type sum struct{ reached, all int }
	var total sum
	packages := map[string]sum{}
	for place, b := range p {
		file, _, _ := strings.Cut(place, ":")
		s := packages[path.Dir(file)]
		s.all += b.statements
		total.all += b.statements
		if b.reached {
			s.reached += b.statements
			total.reached += b.statements
		}
		packages[path.Dir(file)] = s
	}
	line := func(name string, s sum) float64 {
		percent := 100 * float64(s.reached) / float64(max(s.all, 1))
		fmt.Fprintf(w, "%5.1f %%  %5d of %5d  %s\n", percent, s.reached, s.all, name)
		return percent
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		line(strings.TrimPrefix(name, module+"/"), packages[name])
	}
	return line("all", total)
}

// missed lists the blocks of a package that no test reaches.
func (p profile) missed(w io.Writer, name string) {
	for _, place := range slices.Sorted(maps.Keys(p)) {
		if file, _, _ := strings.Cut(place, ":"); path.Dir(file) == name && !p[place].reached {
			fmt.Fprintln(w, strings.TrimPrefix(place, module+"/"))
		}
	}
}
