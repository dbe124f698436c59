package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// What a host would say. Every system takes Root for absolute.
const (
	Home = "/home/you"         // the user's home directory
	Root = "/home/you/project" // the workspace, which has the policy and no other file
)

// maxText bounds each text of a request, in bytes. A link can hold any text, and its reader has one processor.
const maxText = 64 << 10

// Request is one question of the page.
type Request struct {
	Policy string `json:"policy"` // the text of accessc.toml
	Before string `json:"before"` // the text that it is compared with
	Show   string `json:"show"`   // one of Views
	System string `json:"system"` // that the answer is about, one of linux, darwin, windows
	ABI    int    `json:"abi"`    // the Landlock ABI version of Linux, 0 for the newest
	Width  int    `json:"width"`  // in columns, 0 for any
	Tool   string `json:"tool"`   // that the view is about; empty for all, or the first where only one is shown
	Ask    string `json:"ask"`    // the question of can, as TOOL does not name
	Target string `json:"target"` // the backend of build; empty for the system's
}

// Reply is the answer to a request.
type Reply struct {
	Error    string   `json:"error,omitempty"` // why there is no answer
	Findings string   `json:"findings"`        // mistakes and warnings, as check prints them
	Failed   bool     `json:"failed"`          // whether mistakes stopped the compilation
	Tools    []string `json:"tools"`           // the confined tools, in order
	Targets  []string `json:"targets"`         // the backends that build takes
	MaxABI   int      `json:"max_abi"`         // the newest Landlock ABI version that is known
	Text     string   `json:"text"`            // what was asked for
	File     string   `json:"file,omitempty"`  // the name of the artifact in Text
	Allowed  *bool    `json:"allowed,omitempty"`
	Wider    bool     `json:"wider,omitempty"` // whether a comparison has a tool that may do more
}

// Views are what can be shown.
var Views = []string{"explain", "holds", "ask", "tests", "compare", "artifact"}

// Answer answers a request as JSON by a reply as JSON.
func Answer(request []byte) []byte {
	var r Request
	out := Reply{Tools: []string{}, Targets: targets(), MaxABI: landlock.MaxABI}
	err := strictjson.Unmarshal(request, &r)
	if err == nil {
		err = r.check()
	}
	if err == nil {
		err = r.answer(&out)
	}
	if err != nil {
		out.Error = err.Error()
	}
	reply, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings, numbers and booleans have a form
	}
	return reply
}

// check refuses what the page does not send.
func (r *Request) check() error {
	switch _, known := ir.ParsePlatform(r.System); {
	case max(len(r.Policy), len(r.Before), len(r.Ask)) > maxText:
		return fmt.Errorf("found a text of more than %d bytes", maxText)
	case !slices.Contains(Views, r.Show):
		return fmt.Errorf("found view %q, expected one of %s", r.Show, strings.Join(Views, ", "))
	case !known:
		return fmt.Errorf("found system %q, expected linux, darwin or windows", r.System)
	case r.ABI < 0 || r.ABI > landlock.MaxABI:
		return fmt.Errorf("found Landlock ABI %d, expected 1 to %d", r.ABI, landlock.MaxABI)
	case r.Width < 0:
		return errors.New("found a negative width")
	}
	return nil
}

// policy is a compiled text with what is known of the system that is asked about.
type policy struct {
	*compiler.Result
	on    ir.Platform
	style explain.Style
}

// compile compiles a text as the only file of a workspace.
func (r *Request) compile(text string) (*policy, error) {
	res, err := compiler.Compile(compiler.Options{
		Root: Root, Tree: fstest.MapFS{"accessc.toml": {Data: []byte(text)}}, Layers: source.Request{Home: Home},
	})
	if err != nil {
		return nil, err
	}
	on, _ := ir.ParsePlatform(r.System)
	p := &policy{Result: res, on: on, style: explain.Style{ABI: r.ABI, Width: r.Width}}
	if r.ABI == 0 {
		p.style.ABI = landlock.MaxABI
	}
	return p, nil
}

func (r *Request) answer(out *Reply) error {
	p, err := r.compile(r.Policy)
	if err != nil {
		return err
	}
	if out.Findings, err = p.findings(); err != nil {
		return err
	}
	if out.Failed = p.Program == nil; out.Failed {
		return nil
	}
	for _, t := range p.Program.Tools {
		if t.Source.Kind == ir.SourceLocal {
			out.Tools = append(out.Tools, t.Name)
		}
	}
	if r.Tool != "" && !slices.Contains(out.Tools, r.Tool) {
		r.Tool = "" // it was renamed since
	}
	switch r.Show {
	case "explain", "holds":
		out.Text, err = p.explain(r.Tool, r.Show == "holds")
	case "ask":
		err = p.ask(r, out)
	case "tests":
		out.Text, err = p.tests()
	case "compare":
		err = p.compare(r, out)
	default:
		err = p.artifact(r, out)
	}
	return err
}

// findings are the mistakes and warnings, with their number.
func (p *policy) findings() (string, error) {
	if len(p.Findings) == 0 {
		return "", nil
	}
	var b strings.Builder
	err := diag.Text{Lines: p.Files, Width: p.style.Width}.Write(&b, p.Findings)
	return b.String() + "\n" + diag.Summary(p.Findings) + "\n", err
}

// tool is the confined tool of a name, the first without one, and one that no file mentions where there is none.
func (p *policy) tool(name string) *ir.Tool {
	for _, t := range p.Program.Tools {
		if t.Source.Kind == ir.SourceLocal && (name == "" || t.Name == name) {
			return t
		}
	}
	return ir.NewTool("default")
}

// targets are the names of the backends.
func targets() (out []string) {
	for _, b := range slices.Concat(registry.All, registry.Optional) {
		out = append(out, b.Name())
	}
	return out
}
