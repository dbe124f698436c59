// Command wasm compiles the policy on its standard input without a disk and prints answers to questions, the review of
// each tool, and every artifact. It is built for js/wasm and for this system, and both print the same bytes.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing/fstest"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

func main() {
	policy, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = review(policy, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// questions are asked of every tool.
var questions = []string{
	"read src/main.c", "update src/main.c", "read .env", "rename src lib", "create build/app", "execute build/app",
	"read ../other", "connect https://packages.example.com/app", "connect http://example.com", "listen localhost:8080",
	"env PUBLISH_TOKEN", "run git status",
}

// review prints all that is said of a policy.
func review(policy []byte, w io.Writer) error {
	// The root is one that no system has, and that every system takes for absolute.
	res, err := compiler.Compile(compiler.Options{Root: root, Tree: fstest.MapFS{"accessc.toml": {Data: policy}}})
	if err != nil {
		return err
	}
	if err := (diag.Text{Lines: res.Files, Width: 80}).Write(w, res.Findings); err != nil {
		return err
	}
	if res.Program == nil {
		return nil
	}
	asker := resolve.Asker{Resolver: res.Resolver, Bindings: &ir.Bindings{Workspace: root}, Named: true}
	for _, t := range res.Program.Tools {
		if err := decide(t, asker, w); err != nil {
			return err
		}
	}
	for _, t := range res.Program.Tools {
		if err := compile(t, w); err != nil {
			return err
		}
	}
	return nil
}

const root = "/workspace"

// decide prints a tool's answers.
func decide(t *ir.Tool, asker resolve.Asker, w io.Writer) error {
	view := ir.NewView(t, ir.Linux, ir.Facts{Bindings: asker.Bindings})
	for _, text := range questions {
		words, err := split.Words(text)
		if err != nil {
			return err
		}
		q, err := resolve.ParseQuestion(words)
		if err != nil {
			return err
		}
		op, err := asker.Operation(q)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		v := view.Decide(op)
		fmt.Fprintf(w, "%s: %s: %s, %s\n", t.Name, text, v.Effect, v.Reason)
	}
	return nil
}

// compile prints a tool's review and its artifacts.
func compile(t *ir.Tool, w io.Writer) error {
	p := &explain.Policy{Tool: t, View: ir.NewView(t, ir.Linux, ir.Facts{})}
	var files []string
	for _, b := range slices.Concat(registry.All, registry.Optional) {
		out, err := b.Compile(t, backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		for _, r := range out.Refusals {
			files = append(files, "refused: "+r.Why+"\n")
		}
		files = append(files, "--- "+b.Name()+" "+b.File()+"\n"+string(out.Data))
		p.Ledger = append(p.Ledger, out.Ledger...)
	}
	doc, err := explain.JSON([]*explain.Policy{p}, nil)
	if err != nil {
		return err
	}
	data, err := backends.JSON(doc)
	style := explain.Style{ABI: landlock.MaxABI, Width: 100}
	for _, g := range explain.Groups([]*explain.Policy{p}) {
		fmt.Fprint(w, g.Text(style), g.LedgerText(style), g.CellsText(style), g.Markdown(style))
	}
	fmt.Fprintf(w, "%s", data)
	for _, f := range files {
		_, e := io.WriteString(w, f)
		err = errors.Join(err, e)
	}
	return err
}
