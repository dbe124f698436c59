package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/plural"
)

// Request is the input of Import.
type Request struct {
	Files []string
	// Formats are the known formats, of which the first that recognises a document counts.
	Formats []Format
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
	// Policy is the evaluation of the settings that the text was compared with.
	Policy foreign.Policy
}

// Format is a kind of settings.
type Format struct {
	Name, Version string
	// Looks recognises a document by its name and its keys.
	Looks func(d *Document) bool
	// Read translates the documents, and returns their policy.
	Read func(t *Translation, docs []*Document) foreign.Policy
	// Text is true for documents that are no JSON.
	Text bool
	// Files is true for settings that are about files, whose paths are those of Linux and macOS.
	Files bool
	// Several is true where several files are one configuration.
	Several bool
}

// Names lists the names of formats.
func Names(formats []Format) []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.Name)
	}
	return out
}

// Translation is one run.
type Translation struct {
	req   *Request
	Host  foreign.Host
	Draft draft
	// Own is the entry behind rules that no single entry asks for.
	Own     *Entry
	Entries []*Entry
	// unspelled are the patterns that deny names which no rule can spell out.
	unspelled []*Entry
	// named are the entries that deny names at any depth.
	named denials
	// Lost are the denied commands of which no rule says any part.
	Lost []*Entry
	// decided is true once a rule decides about every command.
	decided bool
	Faults  []error
	// Lists are the tools of servers.
	Lists []*toolList
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
	if f.Files && !strings.HasPrefix(req.Dir, "/") {
		return nil, fmt.Errorf("%s: paths of %s are understood on Linux and macOS alone", req.Files[0], f.Name)
	}
	t := &Translation{
		req: &req,
		Host: foreign.Host{
			Dir: req.Dir, Home: req.Home, Existing: req.Patterns == Existing, Follow: Once(Follow),
			Exists: Once(func(abs string) bool { _, err := os.Lstat(filepath.FromSlash(abs)); return err == nil }),
		},
		Draft: draft{tool: req.Tool, Ruleset: req.Ruleset, base: "system"},
	}
	policy := f.Read(t, docs)
	t.toolLists()
	for _, d := range docs {
		t.Faults = append(t.Faults, d.Err())
	}
	if err := errors.Join(t.Faults...); err != nil {
		return nil, err
	}
	if len(t.unspelled) > 0 {
		return nil, unspelled(t.unspelled)
	}
	if len(t.Lost) > 0 && req.Denies != AskDenies {
		return nil, lostDenies(t.Lost)
	}
	out := &Result{Format: f.Name + " (" + f.Version + ")", Entries: t.Entries, Policy: policy}
	return out, prover{t}.settle(out, policy)
}

// Once remembers answers about the disk, of which all of a run sees one state.
func Once[T any](ask func(string) T) func(string) T {
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
	fmt.Fprintf(&b, "%s cannot become a rule, which names one path:", plural.Count(len(Without(entries)), "pattern"))
	for _, e := range Without(entries) {
		fmt.Fprintf(&b, "\n  %s: %s %s", e.Place(), e.Key, e.Text)
	}
	b.WriteString("\n--patterns existing denies the names that exist now and not later ones; --patterns close denies the directories that the patterns look in")
	return errors.New(b.String())
}

// load opens the files and finds their format.
func load(req *Request) ([]*Document, *Format, error) {
	var docs []*Document
	var found *Format
	for _, name := range req.Files {
		d, err := OpenDocument(name)
		if err != nil {
			return nil, nil, err
		}
		f, err := req.recognise(d)
		if err != nil {
			return nil, nil, err
		}
		if found != nil && (found.Name != f.Name || !f.Several) {
			return nil, nil, fmt.Errorf("%s: one more configuration of %s; import it by itself", name, f.Name)
		}
		found, d.Version = f, f.Name+" "+f.Version
		docs = append(docs, d)
	}
	return docs, found, nil
}

// recognise finds the format of a document.
func (req *Request) recognise(d *Document) (*Format, error) {
	name := req.From
	for _, f := range req.Formats {
		switch {
		case name != "" && f.Name != name || name == "" && f.Text && !f.Looks(d):
			continue
		case !f.Text && d.Root == nil:
			if err := d.JSON(); err != nil {
				return nil, err
			}
		}
		if name != "" || f.Looks(d) {
			return &f, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("%q is no format; there are %s", name, strings.Join(Names(req.Formats), ", "))
	}
	return nil, fmt.Errorf("%s: not recognised; --from names the format, one of %s", d.Name,
		strings.Join(Names(req.Formats), ", "))
}

// Add notes an entry.
func (t *Translation) Add(d *Document, n *jsonc.Node, key, text string) *Entry {
	e := d.Entry(n, key, text)
	t.Entries = append(t.Entries, e)
	return e
}

// Leave returns a reader of a member that does not carry over.
func (t *Translation) Leave(d *Document, within, why string) func(*jsonc.Node) {
	return func(n *jsonc.Node) {
		t.Add(d, n, strings.TrimPrefix(within+"."+n.Key, "."), "").Become(LeftOut, "%s", why)
	}
}
