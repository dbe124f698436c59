package start

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// logGarbage is the percentage at which a process collects that writes an evidence log: the heap has 16 MiB or less.
const logGarbage = 400

// openLog opens the evidence log of the run. The tool can change neither that nor its counter.
func (o *outputs) openLog(ask *EvidenceLog) error {
	abs, err := filepath.Abs(ask.File)
	if err != nil {
		return err
	}
	if why := Exposed(abs, o.spec.Workspace); why != "" {
		return errors.New("the file " + why + ", where a tool could write; name a file in a directory that " +
			"no policy is about")
	}
	counter := evidencelog.CounterOf(ask.State, abs)
	if err := os.MkdirAll(filepath.Dir(counter), 0o700); err != nil {
		return err
	}
	// Grants are on canonical paths.
	dir, err := filepath.EvalSymlinks(filepath.Dir(counter))
	if err != nil {
		return err
	}
	if by := o.writes(abs); by != "" {
		return fmt.Errorf("%s may write there by %s; name a file that it may not write", o.spec.Tool, by)
	}
	// Who reads the counter can hold its lock.
	at := filepath.Join(dir, filepath.Base(counter))
	if by := o.grantOn(at, changing()|reading(), ir.Write.With(ir.Read)); by != "" {
		return fmt.Errorf("%s may reach its counter %s by %s", o.spec.Tool, at, by)
	}
	if key, err := filepath.EvalSymlinks(ask.KeyFile); ask.KeyFile != "" {
		if err == nil {
			key, err = filepath.Abs(key)
		}
		if err != nil {
			return err
		}
		if by := o.grantOn(key, reading()|changing(), ir.Write.With(ir.Read)); by != "" {
			return fmt.Errorf("%s may read the key %s by %s, and could sign what it likes", o.spec.Tool, key, by)
		}
	}
	f, err := openOutput(abs, unix.O_RDWR)
	if err != nil {
		return err
	}
	l, err := evidencelog.New(evidencelog.Options{
		File: f, Counter: counter, Tool: o.spec.Tool, Policy: ask.Policy, Required: ask.Required, Sign: ask.Sign,
		Failed: func(err error) { o.logFails(ask, err) },
	})
	if err != nil {
		_ = f.Close()
		return err
	}
	o.journal = l
	// A line takes some objects, and a collection of the few others stops the threads that answer calls.
	debug.SetGCPercent(logGarbage)
	return nil
}

// logFails says that a line of the evidence log is missing. If the log is required, this process ends, and the kernel
// kills the tool.
func (o *outputs) logFails(ask *EvidenceLog, err error) {
	text := "accessc: --evidence-log " + visible.Message(ask.File+": "+err.Error())
	if ask.Required {
		_, _ = os.Stderr.WriteString(text + "; the log is required, so the tool is killed\n")
		_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
	}
	_, _ = io.WriteString(o.req.Messages, text+"; the log counts what it lacks\n")
}

// changed writes a change of grants into the evidence log.
func (o *outputs) changed(c live.Change) {
	g := evidencelog.Grants{Change: "answer", ID: c.ID, Answer: string(c.Answer), Uses: c.Uses, State: c.State}
	g.By = evidencelog.RuleOf(c.By)
	if c.Answer == "" {
		g.Change = "revoked"
	}
	for _, r := range c.Given.FS {
		x := evidencelog.Given{Place: r.At.Path}
		if x.Base64 = !utf8.ValidString(x.Place); x.Base64 {
			x.Place = base64.StdEncoding.EncodeToString([]byte(x.Place))
		}
		for _, one := range r.Caps.List() {
			x.Caps = append(x.Caps, one.String())
		}
		g.Given = append(g.Given, x)
	}
	for _, r := range c.Given.Net {
		g.Given = append(g.Given, evidencelog.Given{Scheme: r.Scheme, Host: r.Host.String(), Port: r.Port})
	}
	o.journal.Change(g)
}

// begins writes the first line of the run into its evidence log.
func (r *records) begins() error {
	if r.journal == nil || r.journalled {
		return nil
	}
	r.journalled = true
	ask, host := r.req.EvidenceLog, r.host()
	b := evidencelog.Begin{
		Accessc: ask.Accessc, Kernel: host.Kernel, PID: os.Getpid(), Artifact: ask.Artifact, Supervised: r.supervised,
		Traced: r.traced, Seen: r.seen(), Accepted: append([]string{}, r.accepted...), Limits: []evidencelog.Limit{},
		Key: ask.Key,
	}
	for _, l := range r.limited() {
		b.Limits = append(b.Limits, evidencelog.Limit(l))
	}
	if r.supervised {
		var err error
		if b.Terms, err = r.spec.Terms(); err != nil {
			return err
		}
		b.Terms.Temp = r.tmp
	}
	if err := r.journal.Begin(b); err != nil {
		return fmt.Errorf("--evidence-log %s: %w", ask.File, err)
	}
	return nil
}

// seen are the classes of operations that the supervisor judges.
func (r *records) seen() []string {
	out := []string{}
	if !r.supervised {
		return out
	}
	s := r.spec.Supervision
	for _, class := range evidencelog.Classes {
		is := map[string]bool{
			evidencelog.Reads: s.Judges.Reads, evidencelog.Lists: s.Judges.Reads || s.Judges.Lists,
			evidencelog.Writes: s.Judges.Updates, evidencelog.Names: s.Judges.Names,
			evidencelog.Metadata:    s.Answers("metadata"),
			evidencelog.Starts:      s.Judges.Starts || s.Answers(landlock.Programs),
			evidencelog.Connections: s.Answers("sockets"), evidencelog.Hosts: s.Egress,
		}
		if is[class] {
			out = append(out, class)
		}
	}
	return out
}

// logged writes the last line of a run.
func (r *records) logged(status syscall.WaitStatus, limit *backends.Limit) {
	e := evidencelog.End{Status: exitStatus(status)}
	if status.Signaled() {
		e.Signal = unix.SignalName(status.Signal())
	}
	if limit != nil {
		e.Limit = limit.Kind
	}
	r.endLog(e)
}

func (r *records) endLog(e evidencelog.End) {
	if r.journal == nil {
		return
	}
	err := r.begins()
	if err == nil {
		err = r.journal.End(e)
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		_, _ = io.WriteString(r.req.Messages, "accessc: --evidence-log "+
			visible.Message(r.req.EvidenceLog.File+": the end of the run is missing: "+err.Error())+"\n")
	}
	r.journal = nil
}
