package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/plural"
)

// Request is the input of Import.
type Request struct {
	Files []string
	// From is the name of a format, empty to recognise it.
	From string
	// Tool and Ruleset are the names that the rules go to.
	Tool, Ruleset string
	Patterns      Patterns
	Denies        Denies
	// Reserved is why no rule on a place is written for a server, empty where one may be; nil for no such place.
	Reserved func(abs string) string
	// Secrets are the sensitive places below a directory of the workspace, false where they are not all known; nil
	// for none.
	Secrets func(abs string) ([]string, bool)
	// Dir is the workspace, Home the user's home directory, both canonical.
	Dir, Home string
}

// Denies is the answer to denied commands that no rule can say.
type Denies string

// The answers.
const (
	RefuseDenies Denies = "refuse"
	AskDenies    Denies = "ask"
)

// Result is the configuration that the settings became, and its proof.
type Result struct {
	// Text is the configuration.
	Text string
	// Format is that of the settings, with its version.
	Format  string
	Entries []*Entry
	Proof   Proof
}

// format is a kind of settings.
type format struct {
	name, version string
	// looks recognises a document by its name and its keys.
	looks func(d *document) bool
	// read translates the documents, and returns their policy.
	read func(t *translation, docs []*document) foreign.Policy
	// text is true for documents that are no JSON.
	text bool
	// files is true for settings that are about files, whose paths are those of Linux and macOS.
	files bool
	// several is true where several files are one configuration.
	several bool
}

// formats are those that are recognised, in this order.
func formats() []format {
	return []format{
		codexConfig, codexRules, geminiFormat, // text, which no JSON is tried for
		landlockConfig, devcontainerFormat, fenceFormat, nonoFormat,
		srtFormat, claudeFormat, mcpFormat,
		opencodeFormat, geminiSettings, vscodeFormat, cursorFormat,
	}
}

// Formats lists the names of the formats.
func Formats() []string {
	var out []string
	for _, f := range formats() {
		out = append(out, f.name)
	}
	return out
}

// translation is one run.
type translation struct {
	req   *Request
	host  foreign.Host
	draft draft
	// own is the entry behind rules that no single entry asks for.
	own     *Entry
	entries []*Entry
	// unspelled are the patterns that deny names which no rule can spell out.
	unspelled []*Entry
	// named are the entries that deny names at any depth.
	named []named
	// classes are the examples of names that some lists of patterns tell apart.
	classes map[string][]string
	// lost are the denied commands of which no rule says any part.
	lost []*Entry
	// decided is true once a rule decides about every command.
	decided bool
	faults  []error
	// lists are the tools of servers.
	lists []*toolList
}

// Import reads settings and translates them. After an error there is no text.
func Import(req Request) (*Result, error) {
	for _, dir := range []string{req.Dir, req.Home} {
		if strings.ContainsAny(dir, `*?[]\`) {
			return nil, fmt.Errorf("%s: a path with characters of patterns is not understood", dir)
		}
	}
	docs, f, err := load(&req)
	if err != nil {
		return nil, err
	}
	if f.files && !strings.HasPrefix(req.Dir, "/") {
		return nil, fmt.Errorf("%s: paths of %s are understood on Linux and macOS alone", req.Files[0], f.name)
	}
	t := &translation{
		req: &req,
		host: foreign.Host{
			Dir: req.Dir, Home: req.Home, Existing: req.Patterns == Existing, Follow: once(follow),
			Exists: once(func(abs string) bool { _, err := os.Lstat(filepath.FromSlash(abs)); return err == nil }),
		},
		draft: draft{tool: req.Tool, ruleset: req.Ruleset, base: "system"},
	}
	policy := f.read(t, docs)
	t.toolLists()
	for _, d := range docs {
		t.faults = append(t.faults, d.err())
	}
	if err := errors.Join(t.faults...); err != nil {
		return nil, err
	}
	if len(t.unspelled) > 0 {
		return nil, unspelled(t.unspelled)
	}
	if len(t.lost) > 0 && req.Denies != AskDenies {
		return nil, lostDenies(t.lost)
	}
	out := &Result{Format: f.name + " (" + f.version + ")", Entries: t.entries}
	return out, t.settle(out, policy)
}

// once remembers answers about the disk, of which all of a run sees one state.
func once[T any](ask func(string) T) func(string) T {
	known := map[string]T{}
	return func(abs string) T {
		answer, ok := known[abs]
		if !ok {
			answer = ask(abs)
			known[abs] = answer
		}
		return answer
	}
}

// unspelled is the error about patterns.
func unspelled(entries []*Entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot become a rule, which names one path:", plural.Count(len(without(entries)), "pattern"))
	for _, e := range without(entries) {
		fmt.Fprintf(&b, "\n  %s: %s %s", e.Place(), e.Key, e.Text)
	}
	b.WriteString("\n--patterns existing denies the names that exist now and not later ones; --patterns close denies the directories that the patterns look in")
	return errors.New(b.String())
}

// load opens the files and finds their format.
func load(req *Request) ([]*document, *format, error) {
	var docs []*document
	var found *format
	for _, name := range req.Files {
		d, err := open(name)
		if err != nil {
			return nil, nil, err
		}
		f, err := recognise(d, req.From)
		if err != nil {
			return nil, nil, err
		}
		if found != nil && (found.name != f.name || !f.several) {
			return nil, nil, fmt.Errorf("%s: one more configuration of %s; import it by itself", name, f.name)
		}
		found, d.version = f, f.name+" "+f.version
		docs = append(docs, d)
	}
	return docs, found, nil
}

// recognise finds the format of a document.
func recognise(d *document, name string) (*format, error) {
	for _, f := range formats() {
		switch {
		case name != "" && f.name != name || name == "" && f.text && !f.looks(d):
			continue
		case !f.text && d.root == nil:
			if err := d.json(); err != nil {
				return nil, err
			}
		}
		if name != "" || f.looks(d) {
			return &f, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("%q is no format; there are %s", name, strings.Join(Formats(), ", "))
	}
	return nil, fmt.Errorf("%s: not recognised; --from names the format, one of %s", d.name, strings.Join(Formats(), ", "))
}

// add notes an entry.
func (t *translation) add(d *document, n *jsonc.Node, key, text string) *Entry {
	e := d.entry(n, key, text)
	t.entries = append(t.entries, e)
	return e
}

// leave returns a reader of a member that does not carry over.
func (t *translation) leave(d *document, within, why string) func(*jsonc.Node) {
	return func(n *jsonc.Node) {
		t.add(d, n, strings.TrimPrefix(within+"."+n.Key, "."), "").become(LeftOut, "%s", why)
	}
}
