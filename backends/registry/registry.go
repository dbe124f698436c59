// Package registry is the one place that lists the backends. Adding one is its own
// directory and a line here.
package registry

import (
	"maps"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/backends/agents/claudecode"
	"github.com/accessc/accessc/backends/agents/codex"
	"github.com/accessc/accessc/backends/agents/cursor"
	"github.com/accessc/accessc/backends/agents/gemini"
	"github.com/accessc/accessc/backends/agents/srt"
	"github.com/accessc/accessc/backends/agents/vscode"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/backends/kubernetes"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/landlockconfig"
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
	landlockconfig.Backend{},
	oci.Backend{},
	oci.Apart{},
	srt.Backend{},
	codex.Backend{},
	kubernetes.Backend{},
	kubernetes.Backend{Sandbox: true},
	claudecode.Backend{},
	cursor.Backend{},
	gemini.Backend{},
	vscode.Backend{},
}

// Every lists both.
var Every = slices.Concat(All, Optional)

// sentences are those of every backend.
func sentences() backends.Sentences {
	return sentencesOnce.Get(func() backends.Sentences {
		all := backends.Sentences{}
		for _, s := range []backends.Sentences{
			contextjson.Sentences(),
			external.Sentences(),
			landlock.Sentences(),
			seatbelt.Sentences(),
			winjob.Sentences(),
			agents.Sentences(),
			claudecode.Sentences(),
			codex.Sentences(),
			kubernetes.Sentences(),
			cursor.Sentences(),
			gemini.Sentences(),
			landlockconfig.Sentences(),
			mounts.Sentences(),
			mxc.Sentences(),
			oci.Sentences(),
			srt.Sentences(),
			vscode.Sentences(),
		} {
			maps.Copy(all, s)
		}
		return all
	})
}

var sentencesOnce once.Value[backends.Sentences]

// Why says in words why a cell of any backend's ledger is enforced as it is; it is empty where
// there are no causes.
func Why(causes []ir.Cause) string { return sentences().All(causes) }
