package denial

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Version is the version of a line. It changes when a reader of the older form would
// misunderstand the newer; added fields do not change it.
const Version = 1

// By names the mechanism that refused.
type By string

// The mechanisms: the policy, asked by the supervisor; the ruleset and the filter in the
// kernel, as the supervisor foresees them; the supervisor itself, for calls that no policy can
// grant.
const (
	ByPolicy     By = "policy"
	ByRuleset    By = "landlock"
	ByFilter     By = "seccomp"
	BySupervisor By = "supervisor"
	// ByEgress is the egress proxy, for requests that no policy can grant.
	ByEgress By = "egress"
)

// Denial is a refused operation.
type Denial struct {
	Time time.Time
	By   By
	// Operation is the question to the policy, nil where it was not asked; Wants are all
	// capabilities that the call needed on the place of an ir.Access.
	Operation ir.Operation
	Wants     ir.CapSet
	Verdict   ir.Verdict
	// Why is the reason of a refusal that is not the policy's.
	Why string
	// Syscall is the name of the system call, Errno its error, Asked the paths as the tool
	// spelled them.
	Syscall, Errno string
	Asked          []string
	// PID and Name are the number and the name of the process, which has chosen the name itself
	// (proc(5), comm).
	PID  int
	Name string
	// Own is true where the tool binds a socket file, and for a connection to a socket file that it has bound in
	// this run.
	Own bool
	// State is the number of the grants of the run that the policy was asked with, and Once the question whose answer
	// permits this call alone; 0 for none.
	State, Once int
	// View and Roots are the values that the policy was asked with.
	View  *ir.View
	Roots *ir.Bindings
	// proposed is the earlier result of Grant, nil for none.
	proposed *grant
	// risk is that of the tool where it was computed before.
	risk string
}

// grant is a result of Grant. A net rule has a form within a line, too.
type grant struct {
	toml, inline string
	ok           bool
	// reserved is why the rule that would permit the operation is not proposed, empty for none.
	reserved string
}

// line is the JSON document of a denial.
type line struct {
	Version   int      `json:"format_version"`
	Event     string   `json:"event"`
	Time      string   `json:"time"`
	Tool      string   `json:"tool"`
	Risk      string   `json:"risk,omitempty"`
	Operation string   `json:"operation"`
	Needs     []string `json:"needs,omitempty"`
	Target    string   `json:"target,omitempty"`
	To        string   `json:"to,omitempty"`
	Path      string   `json:"path,omitempty"`
	Called    string   `json:"called,omitempty"`
	Arguments []string `json:"arguments,omitempty"`
	Asked     []string `json:"asked,omitempty"`
	Syscall   string   `json:"syscall"`
	Errno     string   `json:"errno"`
	Process   process  `json:"process"`
	By        By       `json:"by"`
	Reason    string   `json:"reason"`
	Rule      *rule    `json:"rule"`
	Grant     *string  `json:"grant"`
	Sentence  string   `json:"sentence,omitempty"`
	Probe     string   `json:"probe,omitempty"`
}

type process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

type rule struct {
	Subject      string   `json:"subject"`
	Capabilities []string `json:"capabilities,omitempty"`
	Layer        string   `json:"layer"`
	Label        string   `json:"label,omitempty"`
	File         string   `json:"file,omitempty"`
	Line         int      `json:"line,omitempty"`
	Column       int      `json:"column,omitempty"`
}

// Line is the denial as one line of JSON with its line feed.
func (d *Denial) Line() []byte {
	l := line{
		Version: Version, Event: "denied", Time: d.Time.UTC().Format(time.RFC3339Nano), Tool: d.tool(),
		Risk:      cmp.Or(d.risk, riskOf(d.View)),
		Operation: d.Verb(), Asked: d.Asked, Syscall: d.Syscall, Errno: d.Errno,
		Process: process{d.PID, d.Name}, By: d.By, Reason: d.reason(), Rule: ruleOf(d.Verdict.Rule),
		Probe: d.probe(),
	}
	l.Target, l.To = d.targets()
	for _, c := range d.Wants.List() {
		l.Needs = append(l.Needs, c.String())
	}
	if places := ir.Describe(d.Operation).Places; len(places) > 0 && d.Roots != nil {
		l.Path, _ = d.Roots.Path(places[0].At)
	}
	if run, ok := d.Operation.(ir.Run); ok {
		l.Called, l.Arguments = run.Program, run.Args
	}
	if toml, ok := d.Grant(); ok {
		l.Grant = &toml
	}
	if ir.Describe(d.Operation).Resource == ir.Net {
		l.Sentence = d.sentence()
	}
	// Strings and integers always have a JSON form.
	data, _ := json.Marshal(l)
	return append(visible.Bytes(data), '\n')
}

func (d *Denial) tool() string {
	if d.View == nil {
		return ""
	}
	return d.View.Tool.Name
}

func riskOf(v *ir.View) string {
	if v == nil {
		return ""
	}
	return v.Risk().String()
}

func (d *Denial) reason() string {
	if d.Why != "" {
		return d.Why
	}
	return d.Verdict.Reason.String()
}

func ruleOf(r ir.Rule) *rule {
	if r == nil {
		return nil
	}
	o := r.Source()
	out := &rule{Subject: r.Subject(), Layer: o.Layer.String(), Label: o.Label, File: o.Pos.File, Line: o.Pos.Line,
		Column: o.Pos.Col}
	if f, ok := r.(*ir.FSRule); ok {
		for _, c := range f.Caps.List() {
			out.Capabilities = append(out.Capabilities, c.String())
		}
	}
	return out
}

// Verb is the word for the operation, or the system call where the policy has no word for it.
func (d *Denial) Verb() string {
	return cmp.Or(ir.Describe(d.Operation).Verb, d.Syscall)
}

// targets are the objects of the operation, as the configuration would name them.
func (d *Denial) targets() (target, to string) {
	about := ir.Describe(d.Operation)
	if len(about.Places) > 1 {
		to = about.Places[1].At.Short()
	}
	if run, ok := d.Operation.(ir.Run); ok {
		return d.program(run), to
	}
	if about.Verb == "" && len(d.Asked) > 0 {
		return d.Asked[0], ""
	}
	return about.Subject, to
}

// program names the program of an operation: by the rule that decided, or by the file where the
// name or no rule did.
func (d *Denial) program(op ir.Run) string {
	r, ok := d.Verdict.Rule.(*ir.CommandRule)
	switch {
	case ok && d.Verdict.Reason != ir.ReasonName:
		return r.Program
	case op.File != nil:
		return op.File.At.Short()
	default:
		return op.Program
	}
}
