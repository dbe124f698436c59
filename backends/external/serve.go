package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// request is a document for a program. Members that later versions add are for requests of a later version alone.
type request struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Request string `json:"request"` // compile or decide
	// Policy is a document of package irjson with one tool.
	Policy json.RawMessage `json:"policy,omitempty"`
	// Files and Operations are those of decide.
	Files      []File      `json:"files,omitempty"`
	Operations []Operation `json:"operations,omitempty"`
}

// reply is a document of a program.
type reply struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	// Platform is the system that the rows are about, empty for any.
	Platform string    `json:"platform,omitempty"`
	Files    []File    `json:"files,omitempty"`
	Rows     []Row     `json:"rows,omitempty"`
	Refusals []Refusal `json:"refusals,omitempty"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// CompileRequest asks for the artifacts of a tool.
func CompileRequest(t *ir.Tool) ([]byte, error) {
	policy, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{t}})
	if err != nil {
		return nil, err
	}
	return document(request{Format: Format, Version: Version, Request: compile, Policy: policy})
}

// DecideRequest asks what artifacts say of operations.
func DecideRequest(files []File, ops []Operation) ([]byte, error) {
	return document(request{Format: Format, Version: Version, Request: decide, Files: files, Operations: ops})
}

func document(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Serve answers the request that it reads. It is the whole of a program's main:
//
//	func main() {
//		if err := external.Serve(os.Stdin, os.Stdout, deno{}); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
func Serve(in io.Reader, out io.Writer, b Backend) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if format, version, _ := strictjson.Header(data); format != Format || version != Version {
		const text = "found %q, version %d, expected a request of %s, version %d"
		return fmt.Errorf(text, format, version, Format, Version)
	}
	var req request
	if err := strictjson.Unmarshal(data, &req); err != nil {
		return err
	}
	answer := reply{Format: Format, Version: Version}
	switch req.Request {
	case compile:
		err = answer.compile(b, req.Policy)
	case decide:
		err = answer.decide(b, &req)
	default:
		err = fmt.Errorf("found the request %q, expected %s or %s", req.Request, compile, decide)
	}
	if err != nil {
		return err
	}
	data, err = document(answer)
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

func (r *reply) compile(b Backend, policy []byte) error {
	p, err := irjson.Unmarshal(policy)
	switch {
	case err != nil:
		return err
	case len(p.Tools) != 1:
		return fmt.Errorf("found %d tools in a request, expected one", len(p.Tools))
	}
	t := p.Tools[0]
	out, err := b.Compile(t, backends.Target{Form: backends.Portable})
	if err != nil {
		return err
	}
	if b.Platform() != 0 {
		r.Platform = b.Platform().String()
	}
	if out.Data != nil {
		r.Files = []File{{b.File(), string(out.Data)}}
	}
	for _, x := range out.Refusals {
		r.Refusals = append(r.Refusals, Refusal{idOf(t, b.Platform(), x.Rule), x.Why})
	}
	ledger := out.Elsewhere
	if len(ledger) == 0 {
		ledger = out.Ledger
	}
	for _, x := range ledger {
		r.Rows = append(r.Rows, Row{
			Resource: x.Resource.String(), Rules: x.Rules, Aspects: x.Aspects, Is: x.Is.String(), Gap: string(x.Gap),
			Why: b.Sentences().All(x.Causes),
		})
	}
	return nil
}

// idOf is the identifier of a rule, empty for none.
func idOf(t *ir.Tool, p ir.Platform, rule ir.Rule) ir.RuleID {
	for _, c := range view(t, p).Cells() {
		if c.Rule == rule && rule != nil {
			return c.ID
		}
	}
	return ""
}

// view has the rules that rows of a platform are about. Rows about any system are about those of Linux.
func view(t *ir.Tool, p ir.Platform) *ir.View {
	if p == 0 {
		p = ir.Linux
	}
	return ir.NewView(t, p, ir.Facts{})
}

func (r *reply) decide(b Backend, req *request) error {
	if len(req.Files) != 1 {
		return errors.New("found other files than the one that this backend writes")
	}
	for _, op := range req.Operations {
		v, err := b.Decide([]byte(req.Files[0].Text), op)
		if err != nil {
			return err
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return nil
}
