// Package registry lists the backends of this directory. Adding one is its own directory and a line here. The targets that
// are settings of other programs are known to package internal/agents/registry, which lists all of them together.
package registry

import (
	"maps"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/backends/kubernetes"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/backends/mxc"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// All lists every backend in the order in which artifacts are named. The Context
// comes first: resolved artifacts of the others carry it.
var All = []backends.Backend{
	contextjson.Backend{},
	landlock.Backend{},
	seatbelt.Backend{},
	winjob.Backend{},
}

// Optional lists those that are built by name alone, for hosts that start tools by other
// means than accessc.
var Optional = []backends.Backend{
	mxc.Backend{},
	bubblewrap.Backend{},
	firejail.Backend{},
	oci.Backend{},
	oci.Apart{},
	kubernetes.Backend{},
	kubernetes.Backend{Sandbox: true},
}

// Sentences are the sentences of each.
func Sentences() []backends.Sentences {
	return []backends.Sentences{
		contextjson.Sentences(),
		external.Sentences(),
		landlock.Sentences(),
		seatbelt.Sentences(),
		winjob.Sentences(),
		kubernetes.Sentences(),
		mounts.Sentences(),
		mxc.Sentences(),
		oci.Sentences(),
	}
}

var sentences once.Value[backends.Sentences]

// Why says in words why a cell of any backend's ledger is enforced as it is; it is empty where there are no causes.
func Why(causes []ir.Cause) string {
	return sentences.Get(func() backends.Sentences {
		all := backends.Sentences{}
		for _, s := range slices.Concat(Sentences(), backends.Registered()) {
			maps.Copy(all, s)
		}
		return all
	}).All(causes)
}
