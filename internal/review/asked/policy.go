package asked

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// Prepare compiles a tool for all systems, for the ledger of the answers.
func Prepare(res *hostfacts.Result, t *ir.Tool) (*explain.Judge, error) {
	facts := res.Facts(t)
	out, _, err := build.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	asker := resolve.Asker{
		Resolver: res.Resolver,
		Bindings: facts.Bindings,
		Program:  facts.Program,
		Lookup:   res.Lookup(t),
	}
	return explain.NewJudge(t, hostfacts.Platform(), facts, asker, out.Ledger), err
}

// Ask puts a question to a tool's policy on this host.
func Ask(res *hostfacts.Result, t *ir.Tool, q resolve.Question, kernel bool) (*explain.Answer, error) {
	a, err := Prepare(res, t)
	if err != nil {
		return nil, err
	}
	return a.Answer(q, kernel)
}
