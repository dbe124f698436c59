// Package resolved compiles a tool for this host: the artifact that the loader starts it from, with the Context that it
// will get.
package resolved

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// Spec is the specification of a tool.
func Spec(t *ir.Tool, facts ir.Facts) (*start.Spec, error) {
	data, err := Artifact(t, facts)
	if err != nil {
		return nil, err
	}
	return start.Parse(data)
}

// Artifact is the text of a tool's artifact.
func Artifact(t *ir.Tool, facts ir.Facts) ([]byte, error) {
	out, err := Compile(t, facts)
	return out.Files[start.Artifact], err
}

// Compile is a tool's artifact for this host, and its ledger.
func Compile(t *ir.Tool, facts ir.Facts) (build.Compiled, error) {
	target := backends.Target{Form: backends.Resolved, Facts: facts}
	i := slices.IndexFunc(registry.All, func(b backends.Backend) bool { return b.File() == start.Artifact })
	out, findings, err := build.Compile(t, []backends.Backend{contextjson.Backend{}, registry.All[i]}, target)
	if err == nil && findings.Failed() {
		err = fmt.Errorf("%s", findings[0].Label)
	}
	return out, err
}

// Wrapped is the text of the arguments of bubblewrap for a tool.
func Wrapped(res *hostfacts.Result, t *ir.Tool, facts ir.Facts) ([]byte, error) {
	target := backends.Target{Form: backends.Resolved, Facts: facts, Node: res.Node}
	var wraps bubblewrap.Backend
	out, findings, err := build.Compile(t, []backends.Backend{contextjson.Backend{}, wraps}, target)
	if err == nil && findings.Failed() {
		err = fmt.Errorf("%s", findings[0].Label)
	}
	return slices.Clip(out.Files[wraps.File()]), err
}

// Approved refuses the start of a program that cannot run before the user approves its place.
func Approved(res *hostfacts.Result, t *ir.Tool) error {
	if why := res.Unapproved(t); why != "" {
		return &start.Error{Code: start.CodeNotRunnable, Err: errors.New(why)}
	}
	return nil
}
