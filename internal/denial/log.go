package denial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// maxReport bounds the lines that a tool can cause, in bytes; maxKept bounds the denials kept
// for the summary, and maxShown the denials shown in it.
const (
	maxReport = 64 << 20
	maxKept   = 256
	maxShown  = 5
)

// Log collects denials while a tool runs. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
	// to, if not nil, gets the lines in place of a file.
	to func([]byte)
	// size is the number of bytes written, lost the number of lines that could not be.
	size  int64
	limit int64
	// patience is how long a line may wait for the reader of a pipe.
	patience time.Duration
	lost     int
	total    int
	// probes is how many of them were probes, which the summary leaves out.
	probes int
	kept   []*seen
	index  map[string]*seen
	// most is how many different operations are kept of each kind. used and uses are the
	// operations that were granted and carried out, unused is how many of them could not be
	// counted.
	most   int
	used   map[string]*seen
	uses   []*seen
	unused int
	// view is the policy that the last denial was judged by, risk its tool's.
	view *ir.View
	risk string
	// sought are names of files that the tool looked for in its home.
	sought []string
}

// seen is a denial and its number of occurrences.
type seen struct {
	*Denial
	times int
	// shaped is true where the targets differ in the numbers that a shape leaves open.
	shaped bool
}

// NewLog returns a log that writes lines to a file, nil for none.
func NewLog(file *os.File) *Log {
	return &Log{file: file, limit: maxReport, patience: time.Second, index: map[string]*seen{}, most: maxKept}
}

// NewLogTo returns a log that hands over its lines, up to a number of bytes. It hands over one at a time.
func NewLogTo(to func(line []byte), limit int64) *Log {
	l := NewLog(nil)
	l.to, l.limit = to, limit
	return l
}

// Add records a denial. Its line is written, whole, when Add returns: nothing is lost if the
// tool or the supervisor is killed afterwards.
// See decision D61.
func (l *Log) Add(d *Denial) {
	key := d.kind()
	var text []byte
	if l.file != nil || l.to != nil {
		// Finding a grant takes a view of the policy, which may be large.
		d.proposed, d.risk = l.proposed(key), l.riskOf(d.View)
		text = d.Line()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if d.probe() != "" {
		l.probes++
	}
	l.write(text)
	switch s := l.index[key]; {
	case s != nil:
		s.times++
		s.shaped = s.shaped || s.differs(d)
	case len(l.kept) < l.most:
		l.index[key] = &seen{Denial: d, times: 1}
		l.kept = append(l.kept, l.index[key])
	}
}

// riskOf is the risk of a view's tool. It is computed once, since a tool can cause many denials.
func (l *Log) riskOf(v *ir.View) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v != l.view {
		l.view, l.risk = v, riskOf(v)
	}
	return l.risk
}

// proposed is the grant found for an equal denial before, nil for none.
func (l *Log) proposed(key string) *grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.index[key]; s != nil {
		return s.proposed
	}
	return nil
}

// write appends a line or nothing: it removes the written part of a line that does not fit,
// where the file allows that.
func (l *Log) write(text []byte) {
	if len(text) == 0 {
		return
	}
	if l.size+int64(len(text)) > l.limit {
		l.lost++
		return
	}
	if l.to != nil {
		l.size += int64(len(text))
		l.to(text)
		return
	}
	// Only pipes that were opened not to block have deadlines.
	_ = l.file.SetWriteDeadline(time.Now().Add(l.patience))
	n, err := l.file.Write(text)
	if err == nil {
		l.size += int64(n)
		return
	}
	l.lost++
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.patience = 10 * time.Millisecond
	}
	if n > 0 && l.file.Truncate(l.size) != nil {
		l.limit = l.size // half a line stays, and none may be put behind it
	}
}

// Close ends the file or what else gets the lines. Where some are missing the last line says how
// many.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last []byte
	if l.lost > 0 {
		last = fmt.Appendf(nil, `{"format_version":%d,"event":"lost","count":%d}`+"\n", Version, l.lost)
	}
	if l.to != nil && last != nil {
		l.to(last)
	}
	if l.file == nil {
		return nil
	}
	_, _ = l.file.Write(last)
	err := l.file.Close()
	l.file = nil
	return err
}

// Total is how many denials there were.
func (l *Log) Total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Counted is how many denials there were, probes aside.
func (l *Log) Counted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total - l.probes
}

// Summary tells a person which operations were refused, probes aside. It writes nothing where
// nothing was refused. more says where all of them are listed, with rules that would permit them.
func (l *Log) Summary(w io.Writer, more string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted := l.total - l.probes
	shown := joined(slices.DeleteFunc(slices.Clone(l.kept), func(s *seen) bool { return s.probe() != "" }))
	if counted == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "accessc: %s was refused %s\n", visible.Line(l.kept[0].tool()), times(counted))
	slices.SortStableFunc(shown, func(a, b *seen) int { return a.rank() - b.rank() })
	shown = shown[:min(len(shown), maxShown)]
	verb, what := 0, 0
	for _, s := range shown {
		verb, what = max(verb, width(s.Verb())), max(what, width(s.what()))
	}
	rest, proposed := counted, false
	for _, s := range shown {
		rest -= s.times
		_, ok := s.proposal()
		proposed = proposed || ok
		fmt.Fprintf(&b, "  %s  %s  %s\n", pad(s.Verb(), verb), pad(s.what(), what), s.because(false))
	}
	switch {
	case rest > 0:
		fmt.Fprintf(&b, "  and %s more; %s\n", times(rest), more)
	case proposed:
		b.WriteString("  " + more + "\n")
	}
	_, _ = io.WriteString(w, b.String())
}

// Note tells a person in one line how many operations were refused, probes aside; nothing where none
// was.
func (l *Log) Note(w io.Writer, more string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total > l.probes {
		_, _ = fmt.Fprintf(w, "accessc: %s was refused %s%s; %s\n",
			visible.Line(l.kept[0].tool()), times(l.total-l.probes), l.hosts(), more)
	}
}

// hosts are the first hosts that the tool asked for, in parentheses; empty for none. A request that names none, such as
// a request of HTTP/1.0 without a Host, has no host.
func (l *Log) hosts() string {
	const most = 3
	var out []string
	for _, s := range l.kept {
		op, ok := s.Operation.(ir.Connect)
		if host := visible.Line(op.To.Host.String()); ok && host != "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	switch {
	case len(out) == 0:
		return ""
	case len(out) == 1:
		return " (host " + out[0] + ")"
	case len(out) > most:
		out = append(out[:most], "…")
	}
	return " (hosts " + strings.Join(out, ", ") + ")"
}

// joined puts together lines that read the same, such as a program that was tried in each
// directory of PATH.
func joined(all []*seen) []*seen {
	var out []*seen
	by := map[string]*seen{}
	for _, s := range all {
		once := seen{Denial: s.Denial, times: 1, shaped: s.shaped}
		key := s.Verb() + "\x00" + once.what() + "\x00" + s.because(false)
		if first := by[key]; first != nil {
			first.times += s.times
			continue
		}
		own := *s
		by[key] = &own
		out = append(out, &own)
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// differs reports whether an equal denial has another target.
func (s *seen) differs(d *Denial) bool {
	a, _ := s.Denial.targets()
	b, _ := d.targets()
	return a != b
}

// targets are the targets of the denial, with stars where several have come together.
func (s *seen) targets() (target, to string) {
	if target, to = s.Denial.targets(); s.shaped {
		target = shape(target)
	}
	return target, to
}

// what is the target, and the number of occurrences if there are several.
func (s *seen) what() string {
	target, to := s.targets()
	if to != "" {
		target += " to " + to
	}
	if words := s.words(); len(words) > 1 {
		target += " " + cut(strings.Join(words[1:], " "), maxWords)
	}
	if s.times > 1 {
		target += " ×" + strconv.Itoa(s.times)
	}
	return visible.Line(target)
}

// words are the words of a program that was not started; nil for any other call.
func (d *Denial) words() []string {
	run, ok := d.Operation.(ir.Run)
	if !ok {
		return nil
	}
	return append([]string{run.Program}, run.Args...)
}

// maxWords is the longest list of arguments in a line of the summary, in characters.
const maxWords = 48

// cut shortens a text for a line.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// rank puts sensitive places first, then the refusals that the configuration can change.
func (d *Denial) rank() int {
	if d.sensitive() {
		return -1
	}
	by := slices.Index([]By{ByPolicy, BySupervisor, ByRuleset, ByFilter}, d.By)
	if _, ok := d.Grant(); !ok && d.By == ByPolicy && d.Verdict.Rule == nil {
		by++
	}
	return by
}

// proposal is the configuration that would grant the operation, unless a rule was written to
// deny it.
func (d *Denial) proposal() (string, bool) {
	if d.closed() {
		return "", false
	}
	return d.Grant()
}

// closed reports whether a rule that grants nothing has decided. A rule on all of the workspace repeats the
// default.
func (d *Denial) closed() bool {
	if f, ok := d.Verdict.Rule.(*ir.FSRule); ok && f.At == ir.In("") {
		return false
	}
	r := ruleOf(d.Verdict.Rule)
	return r != nil && len(r.Capabilities) == 0
}

// Text is the denial as a person reads it: the operation, the reason, and the configuration that
// would grant it, where there is such a configuration.
func (d *Denial) Text() string {
	toml, ok := d.proposal()
	text := d.Verb() + " " + (&seen{Denial: d, times: 1}).what() + ": " + d.because(ok)
	if why := d.grant().reserved; why != "" && !d.closed() {
		text += visible.Line("; no grant is proposed: " + why)
	}
	if ok {
		text += "\n" + indent(strings.TrimSuffix(toml, "\n"))
	}
	return text
}

// because is the reason as a person reads it.
func (d *Denial) because(more bool) string {
	var s string
	switch v := d.Verdict; {
	case d.Why != "":
		s = d.Why
	case v.Reason == ir.ReasonCommand:
		s = "not among the listed programs"
	case v.Reason == ir.ReasonName:
		s = fmt.Sprintf("called %s, listed as %s, %s", d.words()[0], v.Rule.Subject(), v.Rule.Source())
	case v.Reason == ir.ReasonArgs:
		s = fmt.Sprintf("not with these arguments: rule %s, %s", v.Rule.Subject(), v.Rule.Source())
	case v.Reason == ir.ReasonMissing:
		s = fmt.Sprintf("it was not there at the start: rule %s, %s", v.Rule.Subject(), v.Rule.Source())
	case v.Rule == nil:
		s = "no rule"
		if ir.Describe(d.Operation).Resource == ir.Net {
			s = "no net rule"
		}
	default:
		s = fmt.Sprintf("rule %s, %s", v.Rule.Subject(), v.Rule.Source())
		if w := v.Reason.String(); w == "pinned" || w == "no-gain" || w == "root" || w == "leads" {
			s = w + ": " + s
		}
	}
	if more {
		s += "; to allow it:"
	}
	return visible.Line(s)
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("      ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func width(s string) int { return len([]rune(s)) }

func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-width(s), 0)) }
