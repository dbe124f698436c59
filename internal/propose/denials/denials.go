package denials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/shellword"
)

// Document is a run with its refusals and proposals, for programs.
type Document struct {
	denial.Kept
	Proposals []Proposal `json:"proposals"`
}

// Proposal is a proposal for the denials of some indices. Without a command there is a reason,
// or the present policy permits them.
type Proposal struct {
	Denials   []int        `json:"denials"`
	Permitted bool         `json:"permitted"`
	Command   string       `json:"command,omitempty"`
	File      string       `json:"file,omitempty"`
	Line      int          `json:"line,omitempty"`
	Replaces  int          `json:"replaces,omitempty"`
	Lines     []string     `json:"lines,omitempty"`
	Approve   []string     `json:"approve,omitempty"`
	Reach     *allow.Reach `json:"reach,omitempty"`
	WhyNot    string       `json:"why_not,omitempty"`
}

func proposalOf(x allow.Proposal) Proposal {
	out := Proposal{Denials: x.Denials, Permitted: x.Permitted, Command: x.Command, WhyNot: x.WhyNot}
	if x.Plan != nil {
		out.File, out.Reach = x.Plan.Name, &x.Plan.Reach
		out.Approve = slices.Sorted(maps.Keys(x.Plan.Approve))
		out.Line, out.Replaces, out.Lines = x.Plan.Change()
	}
	return out
}

// learns reports whether a run of accessc learn would tell more: nothing that it was refused is proposed to be
// permitted, and it has failed, as far as that is known.
func (d Document) learns() bool {
	return start.Observes && !d.Unnamed && (d.Unwatched || d.Status != 0) &&
		!slices.ContainsFunc(d.Proposals, func(p Proposal) bool { return p.Command != "" || p.Permitted })
}

// learnCommand is that run, empty where it takes words that are not kept.
func (d Document) learnCommand() string {
	words := []string{"accessc", "learn", "--apply", "--run", shellword.Quote(d.Tool)}
	switch {
	case d.Unnamed, d.Given && d.GivenCommand == nil:
		return ""
	case d.Given:
		words = []string{"accessc", "learn", "--apply", shellword.Quote(d.Tool), "--"}
		for _, w := range d.GivenCommand {
			words = append(words, shellword.Quote(w))
		}
	}
	return strings.Join(words, " ")
}

// Read reads the refusals of the last run of a tool, of any tool without a name; nil where none are kept.
func Read(state userdir.Dir, tool string) (*denial.Kept, error) {
	file := latest(filepath.Dir(state.Denials("")))
	if tool != "" {
		// The name of no tool leads elsewhere.
		file = state.Denials(filepath.Base(tool))
	}
	f, err := os.Open(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.Read(f, denial.MaxKept<<1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var k denial.Kept
	if err := json.Unmarshal(text, &k); err != nil || k.Format != denial.KeptFormat || k.Version != denial.KeptVersion {
		return nil, fmt.Errorf("%s is not of this version of accessc; the next run replaces it", file)
	}
	return &k, nil
}

// latest is the newest file of a directory, empty for none.
func latest(dir string) string {
	entries, _ := os.ReadDir(dir)
	out, at := "", time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && filepath.Ext(e.Name()) == ".json" && info.ModTime().After(at) {
			out, at = filepath.Join(dir, e.Name()), info.ModTime()
		}
	}
	return out
}

// New is the document of a run, without proposals yet.
func New(k *denial.Kept) *Document { return &Document{Kept: *k, Proposals: []Proposal{}} }

// Propose adds what a planner proposes.
func (d *Document) Propose(p *allow.Planner) {
	for _, x := range p.Propose(d.Denials) {
		d.Proposals = append(d.Proposals, proposalOf(x))
	}
}

// Further adds a run of accessc learn where that would tell more.
func (d *Document) Further() {
	if d.learns() && d.learnCommand() != "" {
		d.Proposals = append(d.Proposals, Proposal{Denials: []int{}, Command: d.learnCommand()})
	}
}
