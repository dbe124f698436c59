package start

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestRemedy: where an agent's sandbox or a hook has a part in a start that cannot be confined, the message has a
// choice for a person and no gap to accept; a start in person has the gaps.
func TestRemedy(t *testing.T) {
	needs := []backends.Row{backends.NewRow(ir.Row{
		Resource: ir.Net, Levels: ir.Levels{From: 1, To: 9}, Held: ir.Because(ir.Weaker, ir.GapNetHost, "a"),
	})}
	sentences := func() backends.Sentences { return backends.Sentences{"a": "b"} }
	m := means{func(backends.Row) bool { return true }, sentences, 9}
	requests := map[string]Request{"a hook wrote this command": {Hook: true}}
	for _, b := range agentBoxes {
		for _, name := range b.variables {
			in := Request{Environ: []string{"A=1", name + "=1"}, Hook: true}
			requests["the sandbox of "+b.agent+" holds this process ("+name+")"] = in
		}
	}
	for want, r := range requests {
		r.Messages = &bytes.Buffer{}
		_, unmet := m.agree(&r, &backends.Launch{Needs: needs}, Host{ABI: 1})
		busy, readOnly := failed("seccomp: %w", syscall.EBUSY), failed("the report: %w", syscall.EROFS)
		for _, err := range []error{unmet, busy, readOnly} {
			got := r.Advised(err).Error()
			said := strings.Contains(got, want) && strings.Contains(got, "--judge-only")
			if !said || strings.Contains(got, "--accept") {
				t.Errorf("%v:\n%s\nlacks %q, or has gaps", r.Environ, got, want)
			}
		}
		if got := r.Advised(failed("no such tool")).Error(); got != "not started: no such tool" {
			t.Errorf("another error has the remedy: %s", got)
		}
	}
	r := Request{Messages: &bytes.Buffer{}, Environ: []string{"CODEX_SANDBOX="}}
	_, err := m.agree(&r, &backends.Launch{Needs: needs}, Host{ABI: 1})
	if got := fmt.Sprint(r.Advised(err)); !strings.Contains(got, "--accept net.host") {
		t.Errorf("a start in person has no gaps to accept: %s", got)
	}
}
