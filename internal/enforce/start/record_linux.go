package start

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// records are the documents about a run.
type records struct {
	*outputs
	limits      *limits
	program     *program
	supervision *supervision
}

// write writes the record of a run that has ended, if requested.
func (r *records) write(status syscall.WaitStatus, ended time.Time, log *denial.Log, limit *backends.Limit) {
	if r.record == nil {
		return
	}
	doc := r.document(ended)
	doc.Denials = log.Total()
	if r.observes() {
		doc.Accesses = r.accesses(log)
	}
	doc.Exit = &RecordExit{Status: exitStatus(status)}
	if status.Signaled() {
		doc.Exit.Signal = unix.SignalName(status.Signal())
	}
	if limit != nil {
		doc.Exit.Limit = limit.Kind
	}
	var use unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &use) == nil {
		doc.Exit.User, doc.Exit.System, doc.Exit.Memory = use.Utime.Nano()/1e6, use.Stime.Nano()/1e6, use.Maxrss<<10
	}
	r.put(doc)
}

// accesses are the operations of a traced run that the policy has judged.
func (r *records) accesses(log *denial.Log) recorded.Accesses {
	var out recorded.Accesses
	size := 0
	lost := log.Each(func(d *denial.Denial, times int, granted bool) {
		if d.By != denial.ByPolicy || d.Why != "" || d.Roots == nil {
			if !granted {
				out.LeftOut += times
			}
			return
		}
		b := d.Roots
		if out.Roots == nil {
			out.Roots = &recorded.Roots{
				Workspace: b.Workspace, Home: b.Home, Temp: b.Temp, UserHome: r.userHome(), External: b.External,
			}
		}
		x, ok := recorded.Of(d.Operation, d.Wants, b)
		if !ok {
			out.LeftOut += times
			return
		}
		x.Allowed, x.Times = granted, times
		out.Add(x, &size)
	})
	out.LeftOut += lost
	return out
}

// userHome is the canonical home of the user who started the run; empty where there is none.
func (r *records) userHome() string {
	for _, v := range r.req.Environ {
		if home, ok := strings.CutPrefix(v, "HOME="); ok && filepath.IsAbs(home) {
			if real, err := filepath.EvalSymlinks(home); err == nil {
				return real
			}
		}
	}
	return ""
}

// notRecorded writes the record of a run that did not start, and returns the reason.
func (r *records) notRecorded(err error) error {
	if err != nil {
		r.endLog(evidencelog.End{Status: CodeFailed, NotStarted: err.Error()})
	}
	if err != nil && r.record != nil {
		doc := r.document(time.Now())
		doc.NotStarted = err.Error()
		r.put(doc)
	}
	return err
}

// evidenced writes the operations that the run has used and was refused, if requested. It leaves
// nothing of a document that does not fit.
func (r *records) evidenced(log *denial.Log, status syscall.WaitStatus, ended time.Time) {
	if r.evidence == nil {
		return
	}
	kept := denial.Kept{Tool: r.spec.Tool, Status: exitStatus(status), Traced: r.traced}
	text := log.Evidence(denial.Evidence{Kept: kept, Command: r.program.command()}, ended)
	if _, err := r.evidence.Write(text); err != nil {
		_ = r.evidence.Truncate(0)
		_, _ = os.Stderr.WriteString("accessc: --evidence: " + visible.Message(err.Error()) + "\n")
	}
	_ = r.evidence.Close()
}

// put writes the document at once; it leaves nothing of one that does not fit.
func (r *records) put(doc *Record) {
	data, err := backends.JSON(doc)
	if err == nil {
		_, err = r.record.Write(visible.Bytes(data))
	}
	if err != nil {
		_ = r.record.Truncate(0)
		_, _ = os.Stderr.WriteString("accessc: --record: " + visible.Message(err.Error()) + "\n")
	}
	_ = r.record.Close()
	r.record = nil
}

// document is the record except for the tool's end.
func (r *records) document(ended time.Time) *Record {
	ask := r.req.Record
	if r.begun.IsZero() {
		r.begun = ended
	}
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	doc := &Record{
		Format: RecordFormat, Version: RecordVersion, Accessc: ask.Accessc,
		Tool: r.spec.Tool, Workspace: r.spec.Workspace, Policy: ask.Policy, Artifact: ask.Artifact, Begun: stamp(r.begun), Ended: stamp(ended),
		Milliseconds: ended.Sub(r.begun).Milliseconds(), Host: r.host(), Supervised: r.supervised, Traced: r.traced,
		Accepted: append([]string{}, r.accepted...), Limits: []RecordLimit{}, Cells: []RecordCell{},
	}
	doc.Limits = append(doc.Limits, r.limited()...)
	if r.supervision.session != nil {
		doc.Live, doc.LiveLost = r.supervision.session.Events()
	}
	for _, row := range ask.Ledger.On(ir.Linux, r.abi) {
		doc.Cells = append(doc.Cells, r.cell(row))
	}
	return doc
}

// limited are the limits of the run, with their means.
func (r *records) limited() (out []RecordLimit) {
	for _, l := range r.spec.Limits {
		means := r.limits.means(l.Kind)
		if means == "" {
			means = "none"
		}
		out = append(out, RecordLimit{l.Kind, l.Value, means})
	}
	return out
}

func (r *records) host() RecordHost {
	var uts unix.Utsname
	_ = unix.Uname(&uts)
	return RecordHost{
		System: "linux",
		Kernel: unix.ByteSliceToString(uts.Release[:]), Machine: unix.ByteSliceToString(uts.Machine[:]),
		Landlock: ABI(), Applied: r.abi, Root: os.Geteuid() == 0,
	}
}

// cell says how a row of the ledger was enforced in this run. The supervisor enforces what the
// ledger gives to it, and under a trace all that it judges; a cgroup enforces a limit that
// the ledger calls weaker.
func (r *records) cell(row ir.Row) RecordCell {
	c := RecordCell{Row: backends.NewRow(row), Held: row.Is.Held(), Means: []string{}}
	for _, a := range row.Aspects {
		for _, m := range r.means(row, a) {
			if !slices.Contains(c.Means, m) {
				c.Means = append(c.Means, m)
			}
		}
	}
	switch {
	case row.Is == ir.Supervised && r.supervised:
		if !slices.Contains(c.Means, meansSupervisor) {
			c.Means = append(c.Means, meansSupervisor)
		}
	case row.Is == ir.Supervised && row.Gap != "":
		c.Held = false
	case row.Resource == ir.Limits && slices.Equal(c.Means, []string{meansCgroup}):
		c.Held = true
	}
	return c
}

// means are the means that enforce an aspect; cell adds the supervisor where the ledger gives
// the row to it.
func (r *records) means(row ir.Row, a ir.Aspect) []string {
	switch row.Resource {
	case ir.FS:
		return []string{r.fileMeans(a)}
	case ir.Net:
		if r.opens(ir.GapNetHost) {
			return []string{meansLandlock, meansSeccomp}
		}
		if r.supervision.egress != nil {
			return []string{meansSeccomp, meansEgress}
		}
		return []string{meansSeccomp}
	case ir.Env:
		return []string{meansEnviron}
	case ir.Commands:
		if r.spec.Programs == nil || a != ir.AspectProgram {
			return nil
		}
		return []string{meansLandlock}
	case ir.Limits:
		var out []string
		for _, kind := range row.Rules {
			if m := r.limits.means(string(kind)); m != "" {
				out = append(out, m)
			}
		}
		return out
	case ir.Process:
		if r.abi < 6 {
			return nil
		}
		return []string{meansLandlock}
	default:
		return nil
	}
}

// fileMeans is the means that enforces an aspect of files: Landlock knows no metadata and no
// sockets.
func (r *records) fileMeans(a ir.Aspect) string {
	judges := func(group string) bool {
		in := func(t landlock.Trap) bool { return t.Group == group }
		return r.supervised && slices.ContainsFunc(r.spec.Supervision.Traps, in)
	}
	switch {
	case a == ir.AspectMetadata && judges("metadata"), a == ir.AspectSocket && judges("sockets"):
		return meansSupervisor
	case a == ir.AspectMetadata || a == ir.AspectSocket:
		return meansSeccomp
	default:
		return meansLandlock
	}
}
