package denial

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// EvidenceFormat and EvidenceVersion identify the document of a run's evidence.
const (
	EvidenceFormat  = "accessc/evidence"
	EvidenceVersion = 1
)

// MaxEvidence is the largest size of that document, in bytes.
const MaxEvidence = 2 << 20

// maxUsed bounds the different operations that are counted.
const maxUsed = 20_000

// Evidence has the used and the refused operations of a run.
type Evidence struct {
	Kept
	// Command is the program and its arguments, nil where they are very long.
	Command []string `json:"command"`
	// Used are the granted operations that were carried out, UsedLeftOut is how many are missing.
	// Operations that the base and the private directories grant are not counted.
	Used        []Use `json:"used"`
	UsedLeftOut int   `json:"used_left_out"`
	// Served are the first operations on places that a tool has only under a supervisor.
	Served []string `json:"served,omitempty"`
	// Sought are the first files that the tool looked for in its home and did not find: "~/x".
	Sought []string `json:"sought,omitempty"`
}

// maxServed bounds the operations of Evidence.Served, maxSought the operations of
// Evidence.Sought.
const (
	maxServed = 8
	maxSought = 256
)

// Use is a granted operation that was carried out once or more.
type Use struct {
	Times int `json:"times"`
	// Question, Needs and Own are as in Entry.
	Question []string `json:"question"`
	Needs    []string `json:"needs,omitempty"`
	Own      bool     `json:"own,omitempty"`
}

// Observe makes a log count the operations that Use is told, and keep more refusals.
func (l *Log) Observe() {
	l.used, l.most = map[string]*seen{}, maxUsed
}

// Use counts a granted operation that is carried out.
func (l *Log) Use(d *Denial) {
	key := d.key()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s := l.used[key]; {
	case s != nil:
		s.times++
	case len(l.used) < l.most:
		l.used[key] = &seen{Denial: d, times: 1}
		l.uses = append(l.uses, l.used[key])
	default:
		l.unused++
	}
}

// Sought keeps the name of a file that the tool looked for in its home, and that is not there.
func (l *Log) Sought(name string) {
	place := "~/" + name
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sought) < maxSought && !slices.Contains(l.sought, place) {
		l.sought = append(l.sought, place)
	}
}

// everyones reports whether every tool may do the operation: an operation of the base's or on the
// tool's private directories.
func (d *Denial) everyones() bool {
	if r := d.Verdict.Rule; r == nil || r.Source().Layer == ir.LayerBase {
		return true
	}
	return slices.ContainsFunc(ir.Describe(d.Operation).Places, func(p ir.Place) bool { return private(p.At) })
}

// arrival is a move of a private file to another place as the file's creation there: the private place is another
// in the next run, and programs copy a file that they cannot move.
func (d *Denial) arrival() *Denial {
	op, ok := d.Operation.(ir.Rename)
	if !ok || !private(op.Src.At) || private(op.Dst.At) {
		return d
	}
	out := *d
	out.Operation, out.Wants = ir.Access{Cap: ir.Create, On: op.Dst}, ir.Caps(ir.Create, ir.Update)
	return &out
}

// private reports whether a place is in a directory of the tool's own.
func private(at ir.Location) bool { return at.Root.Kind == ir.Home || at.Root.Kind == ir.Temp }

// served reports whether the operation is on a place of the base that is the tool's own only under a supervisor,
// and no program does without.
func (d *Denial) served() bool {
	r, ok := d.Verdict.Rule.(*ir.FSRule)
	return ok && r.Origin.Layer == ir.LayerBase && ir.LinuxOwn(r.At.Path) && d.probe() == ""
}

// Each tells the kinds of operations that were granted and carried out, and the kinds that were
// refused, with how often; lost is how many operations are missing.
func (l *Log) Each(tell func(d *Denial, times int, granted bool)) (lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost = l.total + l.unused
	for _, s := range l.uses {
		tell(s.Denial, s.times, true)
	}
	for _, s := range l.kept {
		lost -= s.times
		tell(s.Denial, s.times, false)
	}
	return lost
}

// key tells operations apart.
func (d *Denial) key() string {
	target, to := d.targets()
	return d.keyed(target, to)
}

// kind tells refusals apart that are to be counted together.
func (d *Denial) kind() string {
	target, to := d.targets()
	return d.keyed(shape(target), to)
}

func (d *Denial) keyed(target, to string) string {
	all := []string{d.Verb(), d.Wants.String(), target, to, d.Why, strconv.FormatBool(d.Own)}
	return strings.Join(append(all, d.words()...), "\x00")
}

// Evidence returns the document of the run's used and refused operations, at most MaxEvidence bytes.
func (l *Log) Evidence(e Evidence, ended time.Time) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.fill(l, ended, MaxEvidence/2)
	e.Format, e.Version, e.Used, e.UsedLeftOut = EvidenceFormat, EvidenceVersion, []Use{}, l.unused
	e.Sought = l.sought
	size := 0
	for _, s := range l.uses {
		s.Denial = s.arrival()
		if s.everyones() {
			if s.served() && len(e.Served) < maxServed {
				e.Served = append(e.Served, strings.Join(s.question(), " "))
			}
			continue
		}
		u := Use{Times: s.times, Question: s.question(), Needs: s.needed(), Own: s.Own}
		// Strings and integers always have a JSON form.
		text, _ := json.Marshal(u)
		if size += len(text) + 1; size > MaxEvidence/3 || u.Question == nil {
			e.UsedLeftOut += s.times
			continue
		}
		e.Used = append(e.Used, u)
	}
	text, _ := json.Marshal(e)
	return append(visible.Bytes(text), '\n')
}

// needed are the names of the capabilities that a call needed.
func (d *Denial) needed() []string {
	var out []string
	for _, c := range d.Wants.List() {
		out = append(out, c.String())
	}
	return out
}
