package registry

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/backends/kubernetes"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/backends/mxc"
	"github.com/accessc/accessc/backends/oci"
	words "github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/codex"
	"github.com/accessc/accessc/internal/agents/cursor"
	"github.com/accessc/accessc/internal/agents/gemini"
	"github.com/accessc/accessc/internal/agents/landlockconfig"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/vscode"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// TestSentences: every cause has a sentence that can stand in a list of them, under an
// identifier of its backend.
func TestSentences(t *testing.T) {
	n := 0
	for name, s := range map[string]backends.Sentences{
		"context":        contextjson.Sentences(),
		"external":       external.Sentences(),
		"kubernetes":     kubernetes.Sentences(),
		"agents":         writer.Sentences(),
		"claude-code":    claudecode.Sentences(),
		"codex":          codex.Sentences(),
		"cursor":         cursor.Sentences(),
		"gemini":         gemini.Sentences(),
		"landlock":       landlock.Sentences(),
		"landlockconfig": landlockconfig.Sentences(),
		"mounts":         mounts.Sentences(),
		"mxc":            mxc.Sentences(),
		"oci":            oci.Sentences(),
		"seatbelt":       seatbelt.Sentences(),
		"srt":            srt.Sentences(),
		"vscode":         vscode.Sentences(),
		"windows":        winjob.Sentences(),
	} {
		n += len(s)
		for id, text := range s {
			if !strings.HasPrefix(string(id), name+".") {
				t.Errorf("%s is a cause of %s", id, name)
			}
			lower := text[:1] == strings.ToLower(text[:1])
			proper := strings.HasPrefix(text, "Unix") || strings.HasPrefix(text, "Landlock") || strings.HasPrefix(text, "Windows") || strings.HasPrefix(text, "MXC") || strings.HasPrefix(text, "Codex") || strings.HasPrefix(text, "Cursor") || strings.HasPrefix(text, "Gemini CLI") || strings.HasPrefix(text, "VS Code") || strings.HasPrefix(text, "Claude Code") || strings.HasPrefix(text, "SystemRoot") ||
				strings.HasPrefix(text, "TCP") || strings.HasPrefix(text, "TLS") || strings.HasPrefix(text, "UDP")
			if !lower && !proper && !strings.HasPrefix(text, "the Context") && text != "PLACE" || strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q", id, text)
			}
		}
	}
	got := 0
	for _, s := range slices.Concat(words.Sentences(), backends.Registered()) {
		got += len(s)
	}
	if got != n {
		t.Errorf("%d causes have %d sentences", n, got)
	}
}

// TestWhy: an unknown cause, as a document of a newer version may have, shows its identifier.
func TestWhy(t *testing.T) {
	causes := []ir.Cause{{ID: "landlock.no-landlock"}, {ID: "new.cause"}, {ID: "seatbelt.escalation", Place: "fs[2]", Caps: ir.Caps(ir.Read, ir.Execute)}}
	got, want := words.Why(causes), "this kernel has no Landlock; new.cause; the system does not compare the two ends of a move: a file that moves from here into fs[2] gains read execute"
	if got != want {
		t.Errorf("got %q", got)
	}
}
