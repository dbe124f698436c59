package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/shellword/split"
)

// Wrap writes the command that runs an agent's line under a policy.
// See decision D138.
type Wrap struct {
	// Start are the words that start accessc, Shell those that run a line, which is the last word.
	Start, Shell []string
	// Reports is the directory of the reports about refusals of such commands, empty where there
	// are none.
	Reports string
}

// reportFlag is followed by the file of a report.
const reportFlag = "--report"

// line writes the command for a line, with the file of its report.
func (w *Wrap) line(original, report string) string {
	words := slices.Clone(w.Start)
	if w.Reports != "" {
		words = append(words, reportFlag, filepath.Join(w.Reports, report))
	}
	words = append(append(append(words, "--"), w.Shell...), original)
	for i := range words {
		words[i] = shellword.Exact(words[i])
	}
	return strings.Join(words, " ")
}

// original is the line that a command of this kind runs. Agents may ask several hooks in turn, or
// ask again before the command runs.
func (w *Wrap) original(command string) (string, bool) {
	if w == nil || !strings.HasPrefix(command, shellword.Exact(w.Start[0])+" ") {
		return "", false
	}
	words, err := split.Words(command)
	if err != nil || len(words) == 0 {
		return "", false
	}
	last, report := words[len(words)-1], ""
	if i := len(w.Start) + 1; w.Reports != "" && len(words) > i {
		report = filepath.Base(words[i])
	}
	return last, w.line(last, report) == command
}

// reportOf is the name of the report about a call. The names of sessions and calls are the agent's,
// and no names of files. A call without an id goes by its line.
func reportOf(a *Agent, e *Event, line string) string {
	h := sha256.New()
	for _, part := range []string{a.Name, e.Session, e.ID, line} {
		h.Write([]byte(hex.EncodeToString([]byte(part)) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + ".jsonl"
}
