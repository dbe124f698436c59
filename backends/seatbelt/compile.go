package seatbelt

import (
	"bytes"
	_ "embed" // the template
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// maxRules bounds how many filters a profile may have. Compiling a profile takes time with
// the square of their number, about half a second at this bound and ten at 16,000,
// beyond which the compiler has been seen to crash (nolabs-ai/nono).
// See decision D71.
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
	p := newProfile(t, target)
	doc, refusals := p.document()
	out := backends.Output{Ledger: p.ledger(), Refusals: refusals}
	if len(refusals) > 0 {
		return out, nil
	}
	text := writers.Get().(*writer)
	defer writers.Put(text)
	text.Reset()
	err := profileTemplate().Execute(text, doc)
	if err != nil {
		return out, err
	}
	if target.Form == backends.Resolved {
		target.Facts = firstNames(target.Facts)
	}
	spec := start.Spec{Launch: backends.NewLaunch(t, target, out.Ledger), Directories: p.directories()}
	if target.Form == backends.Resolved && t.Commands == nil && p.runs() {
		spec.Starts = start.Runs
	}
	if target.Form == backends.Resolved && opened(t).proxied {
		spec.Egress, err = proxyPolicy(t)
	}
	if err == nil {
		out.Data, err = start.Append(text.Bytes(), spec)
	}
	return out, err
}

// Refusals implements backends.Refuser.
func (Backend) Refusals(t *ir.Tool, target backends.Target) []backends.Refusal {
	_, refusals := newProfile(t, target).document()
	return refusals
}

// runs reports whether the program that does nothing can be started.
func (p *profile) runs() bool {
	at := ir.Direct(ir.Sys(strings.TrimPrefix(start.Runs, "/")))
	return p.loader() && p.view.Decide(ir.Access{Cap: ir.Execute, On: at}).Allowed() &&
		p.view.Decide(ir.Access{Cap: ir.Read, On: at}).Allowed()
}

// proxyPolicy is the part of a policy that the proxy of a run decides by.
func proxyPolicy(t *ir.Tool) (json.RawMessage, error) {
	part := &ir.Tool{Name: t.Name, Source: ir.Source{Kind: t.Source.Kind, Detail: t.Source.Detail}, Base: ir.BaseNone,
		Home: t.Home, Net: slices.Clone(t.Net)}
	for i := range part.Net {
		part.Net[i].Leaves = nil
	}
	return irjson.Marshal(&ir.Program{Tools: []*ir.Tool{part}})
}

// directories lists the directories that lead to places with rules. They cannot be made in the
// sandbox, so the loader makes them before.
// See decision D71.
func (p *profile) directories() []string {
	var out []string
	p.walk(func(r *ir.Region) {
		if leadsOn(r) && len(r.Below) > 0 && !ofBase(r) && r.At.Root.Kind != ir.System {
			out = append(out, p.symbolic(r.At))
		}
	})
	return out
}

// symbolic returns a location in the form that a start uses: a path, or a path behind the symbol of its root.
func (p *profile) symbolic(l ir.Location) string {
	if abs, ok := p.abs(l); ok {
		return abs
	}
	return l.String()
}

//go:embed profile.sb.tmpl
var profileText string

// profileTemplate is parsed when it is first used: every start of the command would pay for it otherwise.
func profileTemplate() *template.Template {
	return profileTemplateOnce.Get(func() *template.Template {
		return template.Must(template.New("profile").Parse(profileText))
	})
}

var profileTemplateOnce once.Value[*template.Template]

// document is the data of the template: the parts that vary, rendered.
type document struct {
	Header, Tool string
	// Define are the parameters that the profile needs, with their meaning.
	Define []string
	// Loader is true when the base lets a dynamically linked program start, System when it is the whole base.
	Loader, System bool

	Ioctl, Rules, Programs, Network, Walk, Pins string
}

// document renders the parts in the order of the profile, whose filters must not be too many.
func (p *profile) document() (document, []backends.Refusal) {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	w.tool, w.filters = p.tool.Name, 0
	render := func(part func(*writer)) string {
		w.Reset()
		part(w)
		return w.String()
	}
	doc := document{
		Header: start.Header(p.form), Tool: comment(p.tool.Name), Define: p.define(),
		Loader: p.loader(), System: p.tool.Base == ir.BaseSystem,
		Ioctl: render(p.ioctl), Rules: render(p.rules), Programs: render(p.startable), Network: render(p.network),
		Walk: render(p.ways), Pins: render(p.pins),
	}
	if w.filters <= maxRules {
		return doc, p.refusals
	}
	return doc, append(p.refusals, backends.Refusal{
		TooMany: true,
		Why:     strconv.Itoa(w.filters) + " filters in a profile; the system compiles about " + strconv.Itoa(maxRules),
	})
}

func (p *profile) loader() bool { return p.tool.Base == ir.BaseSystem || p.tool.Base == ir.BaseMinimal }

// define lists the parameters: of the roots that have no path here, and of the proxy.
func (p *profile) define() []string {
	var out []string
	for _, root := range p.roots {
		if pl := p.place(root.At); pl.param != "" {
			out = append(out, pl.param+"=PATH  "+comment(meaning(root.At.Root)))
		}
	}
	if opened(p.tool).proxied {
		out = append(out, start.ParamProxy+"=PORT  the proxy of the run")
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
	bytes.Buffer
	tool    string
	filters int
}

// writers keep their buffers: a build writes thousands of profiles of about the same size.
var writers = sync.Pool{New: func() any { return &writer{} }}

// message is the modifier that puts a text behind the system's report of a denial, so
// that a line of its log names the rule. It is valid only on denials, and a denial by a statement without a message has
// none.
func message(tool, rule string) string {
	return "(with message " + start.Quote(comment("accessc "+tool+" "+rule)) + ")"
}

// Message is the modifier for operations that no rule is about.
func (d document) Message() string { return message(d.Tool, "default") }

func (w *writer) comment(s string) { w.put("; ", comment(s), "\n") }

// width is the column at which a list of operations breaks.
const width = 110

// allow writes a statement that permits operations at filters, with the filters of each line together.
func (w *writer) allow(ops []string, lines [][]string) { w.statement("allow", ops, lines, "") }

// deny writes a statement that denies them for a rule.
func (w *writer) deny(rule string, ops []string, lines [][]string) {
	w.statement("deny", ops, lines, "\n  "+message(w.tool, rule))
}

func (w *writer) statement(action string, ops []string, lines [][]string, modifier string) {
	if len(ops) == 0 || len(lines) == 0 {
		return
	}
	w.put("(", action)
	column := len("(") + len(action)
	for _, op := range ops {
		if column+len(op) > width {
			w.put("\n     ")
			column = len("     ")
		}
		w.put(" ", op)
		column += len(" ") + len(op)
	}
	for _, filters := range lines {
		w.filters += len(filters)
		length := len(filters) - 1 // of the blanks between them
		for _, f := range filters {
			length += len(f)
		}
		sep := "\n  "
		for _, f := range filters {
			w.put(sep, f)
			if length <= width {
				sep = " "
			}
		}
	}
	w.put(modifier, ")\n")
}

// put writes texts in sequence, which as a single text would have to be made first. Of a profile with too many
// filters nothing more is kept: it is refused with their number.
// See decision D71.
func (w *writer) put(texts ...string) {
	if w.filters > maxRules {
		return
	}
	for _, s := range texts {
		w.WriteString(s)
	}
}
