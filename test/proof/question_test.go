package proof

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/ir"
)

// The kinds of questions, as main.ml numbers them.
const (
	askDecide = 1 + iota // what a policy grants at some paths
	askSame              // where two policies differ
	askWithin            // where the second grants more
	askGains             // what gains when a directory is moved
	askOver              // what a layer merged over another is
	kinds     = askOver
)

// question is about policies, or about layers.
type question struct {
	kind   int
	p, q   []rule
	paths  [][]string // of askDecide; source and destination of askGains
	layers [2]layer
}

// rule is a rule of the model: a place, the patterns of a rule by name, and what it grants.
type rule struct {
	place  []string
	names  []pattern
	grants ir.CapSet
}

type pattern []item

// item is a part of a pattern: a character, a class, any character, or a run.
type item struct {
	kind   int
	char   rune
	not    bool
	ranges [][2]rune
}

const (
	itemChar = iota
	itemClass
	itemAny
	itemRun
)

type layer = merge.List[int]

// around is the directory in which the rules of two policies are: the model has no root that cannot be made or removed.
const around = "w"

var (
	names = []string{"a", "b", "ab", "é", ".env"}
	chars = []rune("abé.")
)

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func drawPath(r *rand.Rand, most int) []string {
	var out []string
	for range r.IntN(most + 1) {
		out = append(out, pick(r, names))
	}
	return out
}

func drawPattern(r *rand.Rand) pattern {
	var out pattern
	for range 1 + r.IntN(3) {
		it := item{kind: r.IntN(4), char: pick(r, chars)}
		if it.kind == itemRun && len(out) > 0 && out[len(out)-1].kind == itemRun {
			it.kind = itemAny // "**" is refused in names
		}
		if it.kind == itemClass {
			it.not = r.IntN(2) == 0
			for range 1 + r.IntN(2) {
				from := pick(r, chars)
				it.ranges = append(it.ranges, [2]rune{from, from + rune(r.IntN(3))})
			}
		}
		out = append(out, it)
	}
	return out
}

func drawPolicy(r *rand.Rand, below []string) []rule {
	var out []rule
	for range r.IntN(5) {
		it := rule{place: append(below[:len(below):len(below)], drawPath(r, 3)...), grants: drawCaps(r)}
		if r.IntN(2) == 0 {
			it.place = append(below[:len(below):len(below)], drawPath(r, 1)...)
			for range 1 + r.IntN(2) {
				it.names = append(it.names, drawPattern(r))
			}
		}
		out = append(out, it)
	}
	return out
}

func drawCaps(r *rand.Rand) ir.CapSet {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return ir.All
	default:
		return ir.CapSet(r.Uint32()) & ir.All
	}
}

func drawLayer(r *rand.Rand) layer {
	draw := func() (out []int) {
		for range r.IntN(4) {
			out = append(out, r.IntN(4))
		}
		return out
	}
	l := layer{
		Before: draw(), After: draw(), Stated: true, Dedup: merge.Tri(r.IntN(3)), Default: r.IntN(4) == 0,
		Replace: r.IntN(3) == 0,
	}
	return l
}

// draw draws a question of a kind.
func draw(r *rand.Rand, kind int) question {
	q := question{kind: kind}
	switch kind {
	case askDecide:
		q.p = drawPolicy(r, nil)
		for range 8 {
			q.paths = append(q.paths, drawPath(r, 4))
		}
	case askSame, askWithin:
		q.p = drawPolicy(r, []string{around})
		q.q = append(q.q, q.p...)
		switch {
		case r.IntN(4) == 0:
			q.q = drawPolicy(r, []string{around})
		case r.IntN(2) == 0:
			q.q = append(q.q, drawPolicy(r, []string{around})...)
		case len(q.q) > 0:
			i := r.IntN(len(q.q))
			q.q = append(q.q[:i:i], q.q[i+1:]...)
		}
	case askGains:
		q.p = drawPolicy(r, nil)
		q.paths = [][]string{append(drawPath(r, 2), pick(r, names)), append(drawPath(r, 2), pick(r, names))}
	case askOver:
		q.layers = [2]layer{drawLayer(r), drawLayer(r)}
	}
	return q
}

// line is the question as main.ml reads it.
func (q *question) line() string {
	var w writer
	w.number(q.kind)
	switch q.kind {
	case askDecide:
		w.policy(q.p)
		w.number(len(q.paths))
		w.paths(q.paths)
	case askSame, askWithin:
		w.policy(q.p)
		w.policy(q.q)
	case askGains:
		w.policy(q.p)
		w.paths(q.paths)
	case askOver:
		w.layer(q.layers[0])
		w.layer(q.layers[1])
	}
	return strings.Join(w, " ")
}

type writer []string

func (w *writer) number(n int) { *w = append(*w, strconv.Itoa(n)) }

func (w *writer) flag(b bool) {
	if b {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *writer) name(s string) {
	w.number(len([]rune(s)))
	for _, c := range s {
		w.number(int(c))
	}
}

func (w *writer) paths(ps [][]string) {
	for _, p := range ps {
		w.number(len(p))
		for _, n := range p {
			w.name(n)
		}
	}
}

func (w *writer) policy(rules []rule) {
	w.number(len(rules))
	for _, r := range rules {
		w.paths([][]string{r.place})
		w.number(len(r.names))
		for _, p := range r.names {
			w.number(len(p))
			for _, it := range p {
				w.item(it)
			}
		}
		w.number(bits(r.grants))
	}
}

func (w *writer) item(it item) {
	w.number(it.kind)
	switch it.kind {
	case itemChar:
		w.number(int(it.char))
	case itemClass:
		w.flag(it.not)
		w.number(len(it.ranges))
		for _, r := range it.ranges {
			w.number(int(r[0]))
			w.number(int(r[1]))
		}
	}
}

func (w *writer) layer(l layer) {
	for _, items := range [][]int{l.Before, l.After} {
		w.number(len(items))
		for _, i := range items {
			w.number(i)
		}
	}
	w.flag(l.Replace)
	w.number(int(l.Dedup))
	w.flag(l.Default)
}

// bits has a bit per capability, in their order.
func bits(s ir.CapSet) (out int) {
	for i, c := range ir.Capabilities {
		if s.Has(c) {
			out |= 1 << i
		}
	}
	return out
}

// reader reads lines of numbers, its own and those of main.ml.
type reader struct {
	fields []string
	err    error
}

func (r *reader) number() int {
	if len(r.fields) == 0 {
		r.err = fmt.Errorf("the line ends too early")
		return 0
	}
	n, err := strconv.Atoi(r.fields[0])
	if err != nil {
		r.err = err
	}
	r.fields = r.fields[1:]
	return n
}

func list[T any](r *reader, read func() T) (out []T) {
	for range r.number() {
		if r.err != nil {
			return nil
		}
		out = append(out, read())
	}
	return out
}

func (r *reader) name() string {
	return string(list(r, func() rune { return rune(r.number()) }))
}

func (r *reader) path() []string { return list(r, r.name) }

func (r *reader) item() item {
	it := item{kind: r.number()}
	switch it.kind {
	case itemChar:
		it.char = rune(r.number())
	case itemClass:
		it.not = r.number() == 1
		it.ranges = list(r, func() [2]rune { return [2]rune{rune(r.number()), rune(r.number())} })
	}
	return it
}

func (r *reader) rule() rule {
	out := rule{place: r.path()}
	out.names = list(r, func() pattern { return list(r, r.item) })
	granted := r.number()
	for i, c := range ir.Capabilities {
		if granted&(1<<i) != 0 {
			out.grants = out.grants.With(c)
		}
	}
	return out
}

func (r *reader) layer() layer {
	return layer{
		Before: list(r, r.number), After: list(r, r.number), Stated: true,
		Replace: r.number() == 1, Dedup: merge.Tri(r.number()), Default: r.number() == 1,
	}
}

// parse reads a question.
func parse(line string) (q question, err error) {
	r := &reader{fields: strings.Fields(line)}
	switch q.kind = r.number(); q.kind {
	case askDecide:
		q.p, q.paths = list(r, r.rule), list(r, r.path)
	case askSame, askWithin:
		q.p, q.q = list(r, r.rule), list(r, r.rule)
	case askGains:
		q.p, q.paths = list(r, r.rule), [][]string{r.path(), r.path()}
	case askOver:
		q.layers = [2]layer{r.layer(), r.layer()}
	default:
		return q, fmt.Errorf("no question of kind %d", q.kind)
	}
	if r.err == nil && len(r.fields) > 0 {
		r.err = fmt.Errorf("the line is too long")
	}
	return q, r.err
}
