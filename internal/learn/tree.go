package learn

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/plural"
	"github.com/accessc/accessc/ir"
)

// place is a file or directory, and what the runs did there.
type place struct {
	name, abs     string
	dir           bool
	used, refused ir.CapSet
	below         map[string]*place
}

func (p *place) child(name string) *place {
	c := p.below[name]
	if c == nil {
		c = &place{name: name, abs: path.Join(p.abs, name), below: map[string]*place{}}
		p.below[name] = c
		p.dir = true
	}
	return c
}

// at is the place of a path below this one.
func (p *place) at(rel string) *place {
	for name := range strings.SplitSeq(rel, "/") {
		if name != "" && name != "." {
			p = p.child(name)
		}
	}
	return p
}

// maxPlaces bounds how many files of a directory are looked at for what is granted.
const maxPlaces = 30_000

// fill adds the files that there are. It reports whether all were looked at.
func (p *place) fill(left *int) bool {
	all := true
	_ = filepath.WalkDir(filepath.FromSlash(p.abs), func(name string, e fs.DirEntry, err error) error {
		if *left--; *left < 0 {
			all = false
			return fs.SkipAll
		}
		rel, relErr := filepath.Rel(filepath.FromSlash(p.abs), name)
		if err != nil || relErr != nil {
			return nil
		}
		if at := p.at(filepath.ToSlash(rel)); e.IsDir() {
			at.dir = true
		}
		return nil
	})
	return all
}

// Row is a line of the tree.
type Row struct {
	Text, Used, Refused, Idle string
	Open                      bool
	Children                  []Row
}

// counts are the files below a place: those that are granted, by their capabilities, and those that
// no run has touched.
type counts struct {
	touched  bool
	files    int
	idle     map[ir.CapSet]int
	examples []string
}

// row makes the lines of a place. A directory that no run has touched is one line.
func (p *place) row(granted func(abs string) ir.CapSet) (Row, counts) {
	out := Row{Text: shown(p), Used: words(p.used), Refused: words(p.refused)}
	sum := counts{touched: p.used|p.refused != 0, idle: map[ir.CapSet]int{}}
	if !p.dir {
		sum.files = 1
		if caps := granted(p.abs); !sum.touched && caps != 0 {
			sum.idle[caps]++
			sum.examples = []string{p.name}
		}
		return out, sum
	}
	rest := counts{idle: map[ir.CapSet]int{}}
	for _, name := range p.sorted() {
		row, c := p.below[name].row(granted)
		if sum.files += c.files; c.touched {
			sum.touched, out.Open = true, true
			out.Children = append(out.Children, row)
		} else if p.below[name].dir && len(c.idle) > 0 {
			row.Idle = c.idleText()
			out.Children = append(out.Children, row)
		} else {
			rest.add(c)
		}
		for caps, n := range c.idle {
			sum.idle[caps] += n
		}
	}
	if len(rest.idle) > 0 {
		const some = 3
		text := strings.Join(rest.examples[:min(len(rest.examples), some)], ", ")
		if len(rest.examples) > some {
			text += fmt.Sprintf(" and %d more", len(rest.examples)-some)
		}
		out.Children = append(out.Children, Row{Text: text, Idle: rest.idleText()})
	}
	if !sum.touched {
		out.Children = nil
	}
	return out, sum
}

func (c *counts) add(o counts) {
	for caps, n := range o.idle {
		c.idle[caps] += n
	}
	c.examples = append(c.examples, o.examples...)
}

// idleText says how many files are granted and were never touched.
func (c counts) idleText() string {
	var out []string
	for _, caps := range sortedCaps(c.idle) {
		out = append(out, plural.Count(c.idle[caps], "file")+": "+words(caps))
	}
	return strings.Join(out, "; ") + ", never touched"
}

func sortedCaps(m map[ir.CapSet]int) []ir.CapSet {
	var out []ir.CapSet
	for caps := range m {
		out = append(out, caps)
	}
	slices.Sort(out)
	return out
}

func (p *place) sorted() []string {
	var out []string
	for name := range p.below {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func shown(p *place) string {
	if p.dir {
		return strings.TrimSuffix(p.name, "/") + "/"
	}
	return p.name
}

// words are capabilities in words, empty for none.
func words(caps ir.CapSet) string {
	if caps == 0 {
		return ""
	}
	return caps.String()
}
