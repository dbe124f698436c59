package survey

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/host/layerfile"
)

// Found is a file of the repository that says something of its tools.
type Found struct {
	// File is the file's name.
	File string
	// Tools are proposed for it; there are none where Why says so.
	Tools []Tool
	// Why is the reason for having no tool, or a note on the tools.
	Why string
}

// Tool is a proposed tool.
type Tool struct {
	Name, Command string
	// About is a sentence on the tool's work.
	About   string
	Presets []Preset
	Rules   []Rule
	// ByName are rules about names in all directories, behind the other rules.
	ByName []ByName
	// Later are presets that the user may add, with the reason.
	Later []Preset
	// Notes are lines of a comment behind the tool.
	Notes []string
}

// Preset is a preset that a tool extends, and the reason.
type Preset struct{ Name, Why string }

// Rule is a rule about files. It grants the capabilities that Keys names, none if it is empty.
type Rule struct {
	Path string
	Keys []string
	Why  string
}

// ByName is a rule about the names that patterns match.
type ByName struct {
	Names []string
	Rule
}

// Programs reports whether a program is in the PATH of whoever runs the tools.
type Programs func(name string) bool

// repo is a directory that is looked at: that of the repository, or of a project in it.
type repo struct {
	root *os.Root
	// at is the project's directory in the repository, empty for the repository itself.
	at string
	// names are those of its entries that are regular files, dirs those that are directories.
	names, dirs []string
	// below has the directories below it that have a manifest, by the manifest's name.
	below map[string][]string
	// members are directories of the repository that belong to a project above them.
	members map[string]bool
	// shared are presets of managers of all toolchains.
	shared []Preset
}

// maxNames bounds the entries that are looked at.
const maxNames = 10_000

// kinds are the projects that may lie below the top, each with the manifests that begin it.
var kinds = []struct {
	manifests []string
	look      func(*repo) []Found
}{
	{[]string{"go.mod"}, goModule},
	{[]string{"Cargo.toml"}, rust},
	{[]string{"package.json"}, node},
	{[]string{"pyproject.toml", "requirements.txt", "setup.py"}, python},
	{[]string{"pom.xml"}, maven},
	{[]string{"build.gradle.kts", "build.gradle"}, gradle},
}

// open looks at the files of a directory and of those below, before any tool is proposed.
func open(dir string) (*repo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r := &repo{root: root, members: map[string]bool{}}
	if err := r.list(); err != nil {
		_ = root.Close()
		return nil, err
	}
	r.walk()
	r.managers()
	return r, nil
}

// Look looks at a directory.
func Look(dir string, there Programs) ([]Found, error) {
	r, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer r.root.Close()
	var out []Found
	for _, k := range kinds {
		out = append(out, k.look(r)...)
	}
	for _, look := range []func(*repo) []Found{makefile, cmake, docker, servers, unknown, git} {
		out = append(out, look(r)...)
	}
	out = append(out, r.nested()...)
	for i := range out {
		out[i].keep(there)
		for j := range out[i].Tools {
			t := &out[i].Tools[j]
			if t.Name != "git" {
				t.Presets = slices.Concat(t.Presets, r.shared)
			}
			t.closeSecrets()
		}
	}
	return out, nil
}

// keep drops the tools whose programs are missing, and says so.
func (f *Found) keep(there Programs) {
	var missing []string
	f.Tools = slices.DeleteFunc(f.Tools, func(t Tool) bool {
		program, _, _ := strings.Cut(t.Command, " ")
		if strings.HasPrefix(program, "./") || there(program) {
			return false
		}
		if !slices.Contains(missing, program) {
			missing = append(missing, program)
		}
		return true
	})
	if len(missing) > 0 {
		why := "no tool for " + strings.Join(missing, ", ") + ": not in PATH; accessc init --print proposes it once it is"
		f.Why = strings.TrimPrefix(f.Why+"; "+why, "; ")
	}
}

func (r *repo) list() error {
	d, err := r.root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) && len(entries) == 0 {
		return err // otherwise the names after the fault are missing
	}
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			r.names = append(r.names, e.Name())
		case e.IsDir():
			r.dirs = append(r.dirs, e.Name())
		}
	}
	slices.Sort(r.names)
	return nil
}

// has returns the first of some names that is a regular file.
func (r *repo) has(names ...string) (string, bool) {
	for _, n := range names {
		if slices.Contains(r.names, n) {
			return n, true
		}
	}
	return "", false
}

// text reads a file; empty where it cannot be read, or is too large for a file of its name.
func (r *repo) text(name string) string {
	f, err := layerfile.Open(r.root, ".", name)
	if err != nil {
		return ""
	}
	defer f.Close()
	return string(f.Data)
}

// ignored are those of some directories that git is told to ignore, as built files usually are.
func (r *repo) ignored(dirs ...string) []string { return r.ignoredIn("", dirs...) }

// ignoredIn is ignored for a directory below, by the file of its own.
func (r *repo) ignoredIn(below string, dirs ...string) []string {
	var out []string
	lines := strings.Split(r.text(path.Join(below, ".gitignore")), "\n")
	for _, d := range dirs {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.Trim(strings.TrimSpace(l), "/") == d }) {
			out = append(out, d)
		}
	}
	return out
}

// closeSecrets has no tool see the files that usually hold secrets. git reads and writes all files that are tracked, of
// which some have names of keys. See decision D416.
func (t *Tool) closeSecrets() {
	if t.Name == "git" {
		untracked := Rule{".", nil, "grants nothing: secrets that nobody tracks"}
		t.ByName = []ByName{{[]string{".env", ".env.local", ".env.*.local"}, untracked}}
		return
	}
	t.Presets = append(t.Presets, Preset{"secrets", ".env, private keys and logins stay closed, by their names"})
	i := slices.IndexFunc(t.Rules, func(r Rule) bool { return r.Path == "." })
	if i < 0 {
		return
	}
	opened := Rule{Path: ".", Why: "templates, which hold no secrets"}
	for _, key := range t.Rules[i].Keys {
		if key != "execute" {
			opened.Keys = append(opened.Keys, key)
		}
	}
	t.ByName = append(t.ByName, ByName{[]string{".env.example", ".env.sample", ".env.template"}, opened})
}

// managers adds the presets of programs that manage toolchains of all languages.
func (r *repo) managers() {
	if _, ok := r.has(".tool-versions"); ok {
		r.shared = append(r.shared, Preset{"asdf", ".tool-versions: toolchains of your home that asdf manages"})
	}
	if _, ok := r.has("mise.toml", ".mise.toml"); ok {
		r.shared = append(r.shared, Preset{"mise", "mise.toml: toolchains of your home that mise manages"})
	}
}

// The capabilities that rules grant.
var (
	use    = []string{"read", "execute"}
	change = []string{"read", "write"}
	all    = []string{"read", "write", "execute"}
)

// reads is the rule about the whole workspace of a tool that changes nothing in it.
var reads = Rule{".", use, "the sources and the programs among them, which stay as they are"}

// writes is the one of a tool that may change everything.
func writes(why string) Rule { return Rule{".", all, why} }

var loopback = Preset{"local-server", "tests start servers that only this machine reaches"}
