package denial

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// KeptFormat and KeptVersion identify the file of the refusals of a tool's last run.
const (
	KeptFormat  = "accessc/denials"
	KeptVersion = 2
)

// MaxKept is the largest size of that file, in bytes.
const MaxKept = 256 << 10

// Kept is the refusals of a run.
type Kept struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Tool    string `json:"tool"`
	// Risk is the tool's, empty where nothing was refused.
	Risk string `json:"risk,omitempty"`
	// Unnamed is true for a command that no configuration names.
	Unnamed bool `json:"unnamed,omitempty"`
	// Given is true for a command that is not the tool's own, or has further arguments; GivenCommand has its
	// words, none where they are very long.
	Given        bool     `json:"given,omitempty"`
	GivenCommand []string `json:"given_command,omitempty"`
	// Unwatched is true where no supervisor has seen the run, and Begun when that started, in RFC
	// 3339, UTC. Nothing else is known of such a run.
	Unwatched bool   `json:"unwatched,omitempty"`
	Begun     string `json:"begun,omitempty"`
	// Ended is in RFC 3339, UTC; Status is the exit status of the tool.
	Ended  string `json:"ended"`
	Status int    `json:"status"`
	Traced bool   `json:"traced"`
	// Total is how many operations were refused, LeftOut how many of these Denials lacks.
	// Probes are the refusals among them that programs do without.
	Total   int     `json:"total"`
	Probes  int     `json:"probes,omitempty"`
	LeftOut int     `json:"left_out"`
	Denials []Entry `json:"denials"`
}

// Entry is an operation that was refused once or more.
type Entry struct {
	Times     int    `json:"times"`
	Operation string `json:"operation"`
	Target    string `json:"target,omitempty"`
	To        string `json:"to,omitempty"`
	// Question asks a policy about the operation, as "accessc can --system" takes it; nil where
	// no policy can grant it. Needs are the capabilities on its place.
	Question []string `json:"question,omitempty"`
	Needs    []string `json:"needs,omitempty"`
	By       By       `json:"by"`
	// Reason is the sentence of the summary.
	Reason string `json:"reason"`
	Rule   *rule  `json:"rule"`
	// Own is true where the tool binds a socket file, and for a connection to a socket file that it had bound in the
	// same run.
	Own bool `json:"own,omitempty"`
	// Sought is true for a file of the user's home that the tool looked for in its own.
	Sought bool `json:"sought,omitempty"`
	// Sensitive is true for a place that a pattern of sensitive paths covers.
	Sensitive bool `json:"sensitive,omitempty"`
	// Probe names the program that asks for it, and its way to do without; empty if it is no probe.
	Probe string `json:"probe,omitempty"`
}

// Unseen is the text of a file about a run that no supervisor sees.
func Unseen(k Kept, begun time.Time) []byte {
	k.Unwatched, k.Begun = true, begun.UTC().Format(time.RFC3339)
	return k.text()
}

// text is the document as a file.
func (k Kept) text() []byte {
	k.Format, k.Version = KeptFormat, KeptVersion
	var text []byte
	if len(k.Denials) == 0 {
		text = k.bare()
	} else {
		// Strings and integers always have a JSON form.
		text, _ = json.Marshal(k)
	}
	return append(visible.Bytes(text), '\n')
}

// bare is a document without refusals, which most starts write. encoding/json would prepare itself for all of Kept
// first, which takes longer than the rest of the note.
func (k Kept) bare() []byte {
	var out []byte
	number := func(name string, n int) { out = strconv.AppendInt(append(out, name...), int64(n), 10) }
	text := func(name, s string) { out = append(append(out, name...), quoted(s)...) }
	flag := func(name string, is bool) {
		if is {
			out = append(out, name...)
		}
	}
	text(`{"format":`, k.Format)
	number(`,"format_version":`, k.Version)
	text(`,"tool":`, k.Tool)
	flag(`,"unnamed":true`, k.Unnamed)
	flag(`,"given":true`, k.Given)
	for i, word := range k.GivenCommand {
		text([...]string{`,"given_command":[`, `,`}[min(i, 1)], word)
	}
	flag(`]`, len(k.GivenCommand) > 0)
	flag(`,"unwatched":true`, k.Unwatched)
	if k.Begun != "" {
		text(`,"begun":`, k.Begun)
	}
	text(`,"ended":`, k.Ended)
	number(`,"status":`, k.Status)
	out = strconv.AppendBool(append(out, `,"traced":`...), k.Traced)
	number(`,"total":`, k.Total)
	if k.Probes != 0 {
		number(`,"probes":`, k.Probes)
	}
	number(`,"left_out":`, k.LeftOut)
	return append(out, `,"denials":[]}`...)
}

// quoted is a string in JSON, which every string has.
func quoted(s string) []byte {
	text, _ := json.Marshal(s)
	return text
}

// Keep returns the refusals as the text of a file, at most MaxKept bytes of them.
func (l *Log) Keep(k Kept, ended time.Time) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.fill(l, ended, MaxKept)
	return k.text()
}

// fill puts the refusals of a log into the document, at most a number of bytes of them.
func (k *Kept) fill(l *Log, ended time.Time, most int) {
	k.Ended = ended.UTC().Format(time.RFC3339)
	k.Total, k.Probes, k.LeftOut, k.Denials = l.total, l.probes, l.total, []Entry{}
	if len(l.kept) == 0 {
		return
	}
	k.Risk = riskOf(l.kept[0].View)
	// The rest of the document has a fixed size except for the tool's name.
	const frame = 1 << 10
	given, _ := json.Marshal(k.GivenCommand)
	size := frame + len(k.Tool) + len(given)
	for _, s := range l.kept {
		e := s.entry()
		// Strings and integers always have a JSON form.
		text, _ := json.Marshal(e)
		if size += len(text) + 1; size > most {
			break
		}
		k.Denials = append(k.Denials, e)
		k.LeftOut -= s.times
	}
}

func (s *seen) entry() Entry {
	e := Entry{
		Times: s.times, Operation: s.Verb(), By: s.By, Reason: s.because(false), Rule: ruleOf(s.Verdict.Rule),
		Question: s.question(), Needs: s.needed(), Own: s.Own,
		Sensitive: s.sensitive(), Probe: s.probe(),
	}
	e.Target, e.To = s.targets()
	return e
}

// question is the operation in the words of "accessc can --system", nil where there are none.
func (d *Denial) question() []string {
	about := ir.Describe(d.Operation)
	if d.Why != "" || about.Verb == "" {
		return nil
	}
	switch op := d.Operation.(type) {
	case ir.Connect:
		target := about.Subject
		if rest, ok := strings.CutPrefix(target, op.Method+" "); ok && op.Method != "" {
			return []string{"connect", op.Method, rest}
		}
		return []string{"connect", target}
	case ir.Listen:
		return []string{"listen", about.Subject}
	case ir.Run:
		program := op.Program
		if op.File != nil && op.File.Fault == 0 && d.Roots != nil {
			program, _ = d.Roots.Path(op.File.At)
		}
		return append([]string{"run", program}, op.Args...)
	case ir.Access, ir.Copy, ir.Dial, ir.Exchange, ir.Forward, ir.Link, ir.Rename, ir.Start:
		// A verb and places say it all.
	}
	words := []string{about.Verb}
	if _, ok := d.Operation.(ir.Dial); ok {
		words[0] = "dial"
	}
	for _, p := range about.Places {
		if d.Roots == nil || p.Fault != 0 {
			return nil
		}
		abs, ok := d.Roots.Path(p.At)
		if !ok {
			return nil
		}
		words = append(words, abs)
	}
	if op, ok := d.Operation.(ir.Access); ok && op.Cap == ir.Create && op.Name == ir.NameDir {
		words[1] += "/"
	}
	return words
}
