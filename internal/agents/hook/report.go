package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// The bounds of a report: its bytes, the refusals that a model is told of, and the age at which
// one is removed whose command never ran.
const (
	maxReport  = 1 << 20
	maxRefused = 5
	maxAge     = 24 * time.Hour
)

// PrepareReports makes the directory of reports, and removes old ones.
func PrepareReports(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next call tries again
		}
	}
	return nil
}

// Refused lists the refusals of an event's command when it ran, empty for none. It removes the
// report.
// See decision D150.
func (p *Policy) Refused(a *Agent, e *Event) string {
	if p.Wrap == nil || p.Wrap.Reports == "" || e.Call.What != Shell {
		return ""
	}
	line := e.Call.Line
	if original, held := p.Wrap.original(line); held {
		line = original
	}
	path := filepath.Join(p.Wrap.Reports, reportOf(a, e, line))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "accessc: what the command was refused cannot be read: " + err.Error()
	}
	defer f.Close()
	data, err := bounded.Read(f, maxReport)
	_ = os.Remove(path) // an old one is removed later
	if err != nil {
		return "accessc: what the command was refused cannot be read: " + err.Error()
	}
	return summary(data)
}

// refused is a line of a report.
type refused struct {
	Event, Operation, Target, To, Reason, Sentence string
	Rule                                           *struct {
		Subject, Label, File string
		Line                 int
	}
	Grant *string
}

// summary is a report for a model: the refused operations, the rule behind each, and a grant that
// would permit it.
func summary(report []byte) string {
	var all []refused
	counts := map[string]int{}
	total := 0
	for line := range strings.Lines(string(report)) {
		var r refused
		if json.Unmarshal([]byte(line), &r) != nil || r.Event != "denied" {
			continue // a line that is not whole yet, or of another kind
		}
		total++
		if counts[r.key()]++; counts[r.key()] == 1 {
			all = append(all, r)
		}
	}
	if total == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "accessc refused this command %s:", plural.Count(total, "time"))
	for i, r := range all {
		if i == maxRefused {
			fmt.Fprintf(&b, "\n  and %s more", plural.Count(len(all)-i, "operation"))
			break
		}
		b.WriteString("\n  " + visible.Text(r.key()))
		if n := counts[r.key()]; n > 1 {
			fmt.Fprintf(&b, " ×%d", n)
		}
		b.WriteString(": " + visible.Text(r.why()))
		if r.Grant != nil {
			b.WriteString("; a person may allow it by\n    " +
				strings.ReplaceAll(strings.TrimSpace(visible.Lines(*r.Grant)), "\n", "\n    "))
		}
	}
	return b.String()
}

// key is the refused operation in words.
func (r *refused) key() string {
	out := strings.TrimSpace(r.Operation + " " + r.Target)
	if r.To != "" {
		out += " to " + r.To
	}
	return out
}

// why is the rule, or the reason where there is none.
func (r *refused) why() string {
	switch {
	case r.Sentence != "":
		return r.Sentence
	case r.Rule == nil && r.Reason == "default-deny":
		return "no rule"
	case r.Rule == nil:
		return r.Reason
	case r.Rule.File == "":
		return strings.TrimSpace(r.Rule.Label + " rule " + r.Rule.Subject)
	default:
		return fmt.Sprintf("rule %s, %s:%d", r.Rule.Subject, r.Rule.File, r.Rule.Line)
	}
}
