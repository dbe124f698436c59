package external_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/ir"
)

// names is a backend for a program that takes a list of variables, and knows no files and no network.
type names struct{}

func (names) Name() string          { return "names" }
func (names) File() string          { return "names.txt" }
func (names) Platform() ir.Platform { return 0 }

const prefixes ir.CauseID = "names.prefix"

func (names) Sentences() backends.Sentences {
	return backends.Sentences{prefixes: "a list of names has no patterns"}
}

func (names) Compile(t *ir.Tool, _ backends.Target) (backends.Output, error) {
	var text strings.Builder
	ledger := ir.NewLedger(0)
	for _, c := range ir.NewView(t, ir.Linux, ir.Facts{}).Cells() {
		r, about := c.Rule.(*ir.EnvRule)
		switch {
		case about && r.Read && r.Prefix:
			ledger.Add(c, ir.Levels{}, backends.Stricter(prefixes))
		case about && r.Read:
			text.WriteString(r.Name + "\n")
			ledger.Add(c, ir.Levels{}, backends.Exact)
		case c.Resource == ir.Env:
			ledger.Add(c, ir.Levels{}, backends.Exact)
		}
	}
	return backends.Output{Data: []byte(text.String()), Elsewhere: ledger.Ledger()}, nil
}

// Decide reads the list back.
func (names) Decide(artifact []byte, op external.Operation) (external.Verdict, error) {
	switch {
	case op.Verb != "env":
		return external.Unknown, nil
	case strings.Contains("\n"+string(artifact), "\n"+op.Name+"\n"):
		return external.Allow, nil
	default:
		return external.Deny, nil
	}
}

// A program of one's own registers a backend by one line in its main, with os.Stdin and os.Stdout. Here a buffer stands
// for the request of accessc build --target names.
func ExampleServe() {
	tool := ir.NewTool("t")
	tool.Env = []ir.EnvRule{{Name: "LANG", Read: true}, {Name: "LC_", Prefix: true, Read: true}}
	request, err := external.CompileRequest(tool)
	if err != nil {
		fmt.Println(err)
		return
	}
	var reply bytes.Buffer
	if err := external.Serve(bytes.NewReader(request), &reply, names{}); err != nil {
		fmt.Println(err)
		return
	}
	made, err := external.ReadCompiled(reply.Bytes(), tool, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range made.Ledger {
		if row.Resource == ir.Env {
			fmt.Printf("%s: %s %q\n", row.Rules, row.Is, external.Sentences().All(row.Causes))
		}
	}
	fmt.Printf("%s: %q\n", made.Files[0].Name, made.Files[0].Text)
	// Output:
	// [env[0] default]: exact ""
	// [env[1]]: stricter "a list of names has no patterns"
	// names.txt: "LANG\n"
}
