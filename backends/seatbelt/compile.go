package seatbelt

import (
	"bytes"
	_ "embed" // the template
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// FormatVersion is the version of the profile's shape, in its first line.
const FormatVersion = 1

// maxRules bounds how many filters a profile may have. Compiling one takes time with
// the square of their number, about half a second at this bound and ten at 16,000,
// beyond which the compiler has been seen to crash (nolabs-ai/nono).
const maxRules = 4000

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "seatbelt" }

// File implements backends.Backend.
func (Backend) File() string { return "seatbelt.sb" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Darwin }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	p := newPlan(t, target)
	out := backends.Output{Ledger: p.ledger()}
	doc, rules := p.document()
	if rules > maxRules {
		p.refusals = append(p.refusals, backends.Refusal{
			TooMany: true,
			Why:     strconv.Itoa(rules) + " filters in a profile; the system compiles about " + strconv.Itoa(maxRules),
		})
	}
	if out.Refusals = p.refusals; len(out.Refusals) > 0 {
		return out, nil
	}
	var text bytes.Buffer
	err := profile.Execute(&text, doc)
	out.Data = text.Bytes()
	return out, err
}

//go:embed profile.sb.tmpl
var profileText string

var profile = template.Must(template.New("profile").Parse(profileText))

// document is what the template is filled with: the parts that vary, rendered.
type document struct {
	Version    int
	Form, Tool string
	// Define are the parameters that the profile needs, with their meaning.
	Define []string
	// Loader is true when the base lets a dynamically linked program start, System
	// when it is the whole one.
	Loader, System bool

	Ioctl, Rules, Programs, Network, Walk, Pins string
}

// document renders the parts in the order of the profile and counts their filters.
func (p *plan) document() (document, int) {
	n := 0
	render := func(part func(*writer)) string {
		w := &writer{}
		part(w)
		n += w.filters
		return w.String()
	}
	return document{
		Version: FormatVersion, Form: p.form.String(), Tool: comment(p.tool.Name), Define: p.define(),
		Loader: p.loader(), System: p.tool.Base == ir.BaseSystem,
		Ioctl: render(p.ioctl), Rules: render(p.rules), Programs: render(p.programs), Network: render(p.network),
		Walk: render(p.ways), Pins: render(p.pins),
	}, n
}

func (p *plan) loader() bool { return p.tool.Base == ir.BaseSystem || p.tool.Base == ir.BaseMinimal }

// define lists the parameters of the roots that have no path here.
func (p *plan) define() []string {
	var out []string
	for _, top := range p.zones {
		if pl := p.place(top.At); pl.param != "" {
			out = append(out, pl.param+"=PATH  "+comment(meaning(top.At.Root)))
		}
	}
	slices.Sort(out)
	return out
}

func meaning(r ir.Root) string {
	switch r.Kind {
	case ir.Workspace:
		return "the workspace"
	case ir.Home:
		return "the tool's private home directory"
	case ir.Temp:
		return "the private directory of the run"
	case ir.External:
		return "the approved target of " + r.Name
	case ir.System:
		return "the root directory"
	default:
		return "nothing"
	}
}

// writer collects statements and counts their filters.
type writer struct {
	strings.Builder
	filters int
}

func (w *writer) comment(s string) { w.WriteString("; " + comment(s) + "\n") }

// width is where a list of operations breaks.
const width = 110

// rule writes one statement: an action on operations, at filters, which stand in
// lines of one or more.
func (w *writer) rule(action string, ops []string, lines [][]string) {
	if len(ops) == 0 || len(lines) == 0 {
		return
	}
	line := "(" + action
	for _, op := range ops {
		if len(line)+len(op) > width {
			w.WriteString(line + "\n")
			line = "     "
		}
		line += " " + op
	}
	w.WriteString(line)
	for _, filters := range lines {
		w.filters += len(filters)
		sep := " "
		if len(strings.Join(filters, " ")) > width {
			sep = "\n  "
		}
		w.WriteString("\n  " + strings.Join(filters, sep))
	}
	w.WriteString(")\n")
}
