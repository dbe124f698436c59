package learn

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// place is a file or directory, and the capabilities that the runs used, or lacked, there.
type place struct {
	name, abs     string
	dir           bool
	used, refused ir.CapSet
	// sensitive is true for a sensitive place that a run used.
	sensitive bool
	below     map[string]*place
}

// secret marks the sensitive places that a run used.
func (p *place) secret(sensitive func(abs string) bool) {
	p.sensitive = sensitive != nil && p.used != 0 && sensitive(p.abs)
	for _, c := range p.below {
		c.secret(sensitive)
	}
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

// maxPlaces bounds how many files of a directory are looked at for their grants.
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
	Open, Sensitive           bool
	Children                  []Row
}

// counts are the files below a place that are granted and that no run has touched, by their
// capabilities, and whether any was touched.
type counts struct {
	touched  bool
	idle     map[ir.CapSet]int
	examples []string
}

// row makes the lines of a place. A directory that no run has touched is one line, and many of them are
// one together.
func (p *place) row(granted func(abs string) ir.CapSet) (Row, counts) {
	out := Row{Text: shown(p), Used: words(p.used), Refused: words(p.refused), Sensitive: p.sensitive}
	sum := counts{touched: p.used|p.refused != 0, idle: map[ir.CapSet]int{}}
	if !p.dir {
		if caps := granted(p.abs); !sum.touched && caps != 0 {
			sum.idle[caps]++
			sum.examples = []string{p.name}
		}
		return out, sum
	}
	rest, dirs := counts{idle: map[ir.CapSet]int{}}, []counts{}
	var idle []Row
	for _, name := range p.sorted() {
		row, c := p.below[name].row(granted)
		switch {
		case c.touched:
			sum.touched, out.Open = true, true
			out.Children = append(out.Children, row)
		case p.below[name].dir && len(c.idle) > 0:
			row.Idle, c.examples = c.idleText(), []string{row.Text}
			idle, dirs = append(idle, row), append(dirs, c)
		default:
			rest.add(c)
		}
		for caps, n := range c.idle {
			sum.idle[caps] += n
		}
	}
	const many = 8
	if len(dirs) > many {
		together := counts{idle: map[ir.CapSet]int{}}
		for _, c := range dirs {
			together.add(c)
		}
		idle = []Row{together.row()}
	}
	out.Children = append(out.Children, idle...)
	if len(rest.idle) > 0 {
		out.Children = append(out.Children, rest.row())
	}
	if !sum.touched {
		out.Children = nil
	}
	return out, sum
}

// row is the line of several names that no run has touched.
func (c counts) row() Row {
	const some = 3
	text := strings.Join(c.examples[:min(len(c.examples), some)], ", ")
	if len(c.examples) > some {
		text += fmt.Sprintf(" and %d more", len(c.examples)-some)
	}
	return Row{Text: text, Idle: c.idleText()}
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
