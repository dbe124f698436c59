package build

import (
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/usage"
)

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
