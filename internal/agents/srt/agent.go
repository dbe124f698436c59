// Package srt has what the project knows of the sandbox runtime (srt, the npm package @anthropic-ai/sandbox-runtime),
// as of version 0.0.83: its settings, which it reads, evaluates and writes, and which are a part of Claude Code's.
//
// What it writes opens nothing that the policy denies, except as its ledger states (see package writer). Reading is
// closed as a whole, and the places of the policy are opened again; srt itself would let everything be read. Its own
// list of files that start programs is the stricter one of two. Not enforced by these means: variables that no rule
// names, which programs start and with which arguments, and limits.
package srt

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of the sandbox runtime.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
}
