package start

import (
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/visible"
)

// command is the program and its arguments, nil where they are very long.
func (r *run) command() []string {
	const most = 32 << 10
	if len(strings.Join(r.argv, " ")) > most {
		return nil
	}
	return r.argv
}

// evidenced writes the operations that the run has used and was refused, if requested. It leaves
// nothing of a document that does not fit.
func (r *run) evidenced(log *denial.Log, status syscall.WaitStatus, ended time.Time) {
	if r.evidence == nil {
		return
	}
	e := denial.Evidence{Kept: denial.Kept{Tool: r.spec.Tool, Status: exitStatus(status), Traced: r.req.Trace}, Command: r.command()}
	text := log.Evidence(e, ended)
	if _, err := r.evidence.Write(text); err != nil {
		_ = r.evidence.Truncate(0)
		_, _ = os.Stderr.WriteString("accessc: --evidence: " + visible.Message(err.Error()) + "\n")
	}
	_ = r.evidence.Close()
}
