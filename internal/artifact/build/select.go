package build

import (
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
)

// Select turns words of --target into backends, and returns the words that name none. The Context goes with every choice
// of a system, since every tool gets a Context.
func Select(targets []string) (out []backends.Backend, unknown []string) {
	for _, t := range targets {
		p, isPlatform := ir.ParsePlatform(t)
		known := false
		for _, b := range registry.Every {
			optional := slices.Contains(registry.Optional, b)
			if t != b.Name() && (optional || t != "all" && (!isPlatform || b.Platform() != p && b.Platform() != 0)) {
				continue
			}
			if known = true; !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
		if !known {
			unknown = append(unknown, t)
		}
	}
	slices.SortStableFunc(out, func(a, b backends.Backend) int {
		return slices.Index(registry.Every, a) - slices.Index(registry.Every, b)
	})
	return out, unknown
}

// Names are the names of all backends.
func Names() []string {
	var names []string
	for _, b := range registry.Every {
		names = append(names, b.Name())
	}
	return names
}

// Here leaves of the selected backends those of this host's system, for which a resolved build is: there "all" is the
// host's own system.
func Here(bs []backends.Backend, targets []string) ([]backends.Backend, error) {
	host := hostfacts.Platform()
	foreign := func(b backends.Backend) bool { return b.Platform() != 0 && b.Platform() != host }
	if i := slices.IndexFunc(bs, foreign); i >= 0 && !slices.Contains(targets, "all") {
		return nil, usage.Errorf(
			"--resolve compiles for this host, which runs %s: leave --target out, or build %s without --resolve",
			host,
			bs[i].Platform(),
		)
	}
	return slices.DeleteFunc(bs, foreign), nil
}

// Of is the request for the tools of a compilation, all of them without names.
func Of(res *hostfacts.Result, bs []backends.Backend, resolved bool, tools ...string) Request {
	req := Request{
		Program: res.Program, Rulesets: res.Rulesets, Backends: bs, Form: backends.Portable,
		Workspace: filepath.FromSlash(res.Resolver.Root),
	}
	if len(tools) > 0 {
		req.Only = tools
	}
	if resolved {
		req.Form, req.Facts, req.Node = backends.Resolved, res.Facts, res.Node
	}
	return req
}

// Memory is the file of the record of the last build of a directory; empty where a tool may write it.
func Memory(res *hostfacts.Result, dir string) string {
	abs, err := filepath.Abs(dir)
	if _, unusable := res.Approvals(); err != nil || unusable != nil || res.State == "" {
		return ""
	}
	return res.State.Built(abs)
}
