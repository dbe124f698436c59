package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/jsonc"
)

// Report says whether an agent obeys the hook.
type Report struct {
	Agent string `json:"agent"`
	// Version is the agent's, empty where it was not found.
	Version   string `json:"version,omitempty"`
	Installed bool   `json:"installed"`
	// Entries are the entries of accessc, Findings the faults in them and in other settings.
	Entries  []Installed `json:"entries"`
	Findings []Finding   `json:"findings"`
	// Tries are events that the installed hook was asked about.
	Tries []Try `json:"tries"`
	// NotHeld are the actions and cases that no hook of this agent holds.
	NotHeld []string `json:"not_held"`
}

// Installed is an entry in a file.
type Installed struct {
	Scope   string   `json:"scope"`
	Path    string   `json:"path"`
	Program string   `json:"program"`
	Args    []string `json:"args"`
	// Trusted is true for the entry that has to be tried: its program is this one.
	Trusted bool `json:"this_program"`
}

// Finding is a fault because of which the hook does not run, or holds less.
type Finding struct {
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
}

// Try is an event that the hook was asked about.
type Try struct {
	Event string `json:"event"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

// The scopes of settings.
const (
	user    = "user"
	project = "project"
	managed = "managed"
)

// watched is a file that an agent reads.
type watched struct{ scope, path string }

// examination is a report in the making.
type examination struct {
	agent  *Agent
	places Places
	self   string
	report Report
	// trust is the state of hooks in the agent's configuration.
	trust map[string]any
	// boxed is the file that switches the agent's own sandbox on, empty for none.
	boxed string
}

// Examine reads all settings that an agent reads, and reports whether it obeys the hook of a program.
// See decision D155.
func (a *Agent) Examine(p Places, self string) Report {
	x := &examination{agent: a, places: p, self: self, report: Report{
		Agent: a.Name, Entries: []Installed{}, Findings: []Finding{}, Tries: []Try{},
		NotHeld: append(slices.Clone(a.NotHeld), notHeldAnywhere...),
	}}
	for _, w := range p.watched(a) {
		x.file(w)
	}
	x.beside()
	x.borrowed()
	x.summary()
	for _, name := range a.Switches {
		if p.Getenv(name) != "" {
			x.find("", "the variable %s is set: with it the agent asks less, or runs without hooks", name)
		}
	}
	return x.report
}

func (x *examination) find(path, format string, args ...any) {
	x.report.Findings = append(x.report.Findings, Finding{path, fmt.Sprintf(format, args...)})
}

// file looks at one file.
func (x *examination) file(w watched) {
	_, data, err := wholefile.Read(w.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(strings.TrimSpace(string(data))) == 0 {
		return
	}
	var tree map[string]any
	if err == nil && !x.script(w) {
		tree, err = decode(w.path, data)
	}
	if err != nil {
		x.find(w.path, "cannot be read, by the agent perhaps neither: %v", err)
		return
	}
	x.switches(w, tree)
	if x.agent.Untrusted != nil && w.scope == user {
		state, _ := at(tree, x.agent.TrustKey).(map[string]any)
		x.trust = merge(x.trust, state)
	}
	if t := x.agent.Boxed; t.Key != "" && t.Bad(at(tree, t.Key)) {
		x.boxed = w.path
	}
	var all []found
	if x.holds(w.path) {
		all = x.entries(w, data)
		x.handWritten(w, data)
	}
	if w.scope == project {
		x.brought(w, tree, all)
	}
}

// script reports whether a file is a program, and no document.
func (x *examination) script(w watched) bool {
	return slices.Contains([]string{".js", ".ts", ".mjs"}, filepath.Ext(w.path))
}

// holds reports whether install writes a file.
func (x *examination) holds(path string) bool {
	return path == x.places.User(x.agent) || x.places.Workspace != "" && path == x.places.Project(x.agent)
}

// decode reads a document as values.
func decode(path string, data []byte) (map[string]any, error) {
	tree := map[string]any{}
	if filepath.Ext(path) == ".toml" {
		return tree, toml.Unmarshal(data, &tree)
	}
	n, err := jsonc.Parse(data)
	if err != nil {
		return nil, err
	}
	return tree, n.Decode(&tree)
}

// entries looks at the entries of accessc in a file, and returns them.
func (x *examination) entries(w watched, data []byte) []found {
	all, exact, err := x.agent.find(data)
	if err != nil || len(all) == 0 {
		return nil
	}
	e := all[0].Entry
	in := Installed{Scope: w.scope, Path: w.path, Program: e.Program, Args: e.Args,
		Trusted: sameFile(e.Program, x.self)}
	x.report.Entries = append(x.report.Entries, in)
	x.report.Installed = true
	if !exact {
		x.find(w.path, "the entry is not as install writes it, so it may not run for every tool: accessc hook install %s --%s", x.agent.Name, w.scope)
	}
	switch info, err := os.Stat(e.Program); {
	case err != nil:
		x.find(w.path, "the entry starts %s, which is not there", e.Program)
	case !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		x.find(w.path, "the entry starts %s, which is no program", e.Program)
	case !in.Trusted:
		x.find(w.path, "the entry starts %s, and this program is %s", e.Program, x.self)
	case x.places.Workspace != "" && workspace.Within(e.Program, x.places.Workspace):
		x.find(w.path, "the entry starts %s, which lies in the workspace: the agent may be able to replace it",
			e.Program)
	}
	if x.agent.Untrusted != nil {
		x.trusted(w.path, all)
	}
	return all
}

// handWritten looks for hooks of accessc that install has not written, and so neither changes nor removes.
func (x *examination) handWritten(w watched, data []byte) {
	root, err := jsonc.Parse(data)
	if err != nil || x.agent.Plugin != nil {
		return
	}
	x.agent.each(root.Member(hooksKey), func(words []string, at found) {
		if x.agent.foreign(words) {
			x.find(w.path, "the hook of %s starts accessc, and not as install writes it: install and uninstall leave it: %s", at.event, strings.Join(words, " "))
		}
	})
}

// trusted looks up hooks in the state that the agent keeps of them.
func (x *examination) trusted(path string, all []found) {
	for _, f := range all {
		if fault := x.agent.Untrusted(x.trust, path, f.event, f.group, f.at); fault != "" {
			x.find(path, "%s", fault)
		}
	}
}

// sameFile reports whether two paths are of one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// summary adds the findings about all files together.
func (x *examination) summary() {
	rewrites := func(in Installed) bool { return !slices.Contains(in.Args, judgeOnly) }
	if x.boxed != "" && slices.ContainsFunc(x.report.Entries, rewrites) {
		x.find(x.boxed, "%s has commands refused that run confined: %s", x.agent.Boxed.Key, x.agent.Box)
	}
	switch n := len(x.report.Entries); {
	case n == 0:
		x.find("", "the hook is not installed: accessc hook install %s", x.agent.Name)
	case n > 1:
		x.find("", "the hook is installed %d times, and asked as often: accessc hook uninstall %s --project", n,
			x.agent.Name)
	}
}
