package source

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// altering are the attributes by which git makes another text of a blob when it checks it out (gitattributes(5)). Ends of
// lines are none of them: TOML reads both alike. See RATIONALE D360.
var altering = []string{"filter", "ident", "working-tree-encoding"}

// attributes are those of git for one path: by name, the value, or "true".
type attributes struct {
	macros map[string][]string
	set    map[string]string
}

// altered returns the attribute by which the file of a name differs from its blob in a checkout, empty if none says so.
func altered(top fs.FS, name string) (string, error) {
	a := attributes{macros: map[string][]string{}, set: map[string]string{}}
	parts := strings.Split(name, "/")
	for i := range parts {
		dir := path.Join(parts[:i]...)
		text, err := readAttributes(top, path.Join(dir, ".gitattributes"))
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(text) {
			a.line(line, strings.Join(parts[i:], "/"), i == 0)
		}
	}
	for _, name := range altering {
		switch value := a.set[name]; {
		case value == "", name == "working-tree-encoding" && (strings.EqualFold(value, "UTF-8") || strings.EqualFold(value, "UTF8")):
		case value == "true":
			return name, nil
		default:
			return name + "=" + value, nil
		}
	}
	return "", nil
}

// readAttributes reads a file of attributes. Git follows no symlink there.
func readAttributes(top fs.FS, name string) (string, error) {
	info, err := fs.Lstat(top, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	data, err := fs.ReadFile(top, name)
	return string(data), err
}

// line applies a line of a file of attributes to a path that is relative to the directory of the file.
func (a *attributes) line(line, name string, top bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return
	}
	if macro, ok := strings.CutPrefix(line, "[attr]"); ok {
		if words := strings.Fields(macro); top && len(words) > 0 {
			a.macros[words[0]] = words[1:]
		}
		return
	}
	pattern, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	if line[0] == '"' {
		if quoted, err := strconv.QuotedPrefix(line); err == nil {
			pattern, _ = strconv.Unquote(quoted)
			rest = line[len(quoted):]
		}
	}
	if attributed(pattern, name) {
		a.apply(strings.Fields(rest), 0)
	}
}

// apply sets attributes, those of macros included.
func (a *attributes) apply(words []string, depth int) {
	const deepest = 16
	for _, w := range words {
		name, value, valued := strings.Cut(w, "=")
		switch {
		case w[0] == '-' || w[0] == '!':
			delete(a.set, w[1:])
			continue
		case !valued:
			value = "true"
		}
		a.set[name] = value
		if depth < deepest && value == "true" {
			a.apply(a.macros[name], depth+1)
		}
	}
}

// attributed reports whether a pattern of attributes is about a path. A pattern without a slash is about the last name.
func attributed(pattern, name string) bool {
	if rest, ok := strings.CutPrefix(pattern, "/"); ok {
		pattern = rest
	} else if !strings.Contains(pattern, "/") {
		return ir.MatchName(pattern, path.Base(name))
	}
	return doublestar.MatchUnvalidated(strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern), name)
}

// checkAltered refuses a layer that a checkout has another text of than the repository.
func (l *loader) checkAltered(kind ir.Layer, name, file string) *diag.Diagnostic {
	top, prefix := l.req.Top, l.req.Prefix
	if r, ok := l.req.Tree.(interface{ Whole() (fs.FS, string) }); ok {
		top, prefix = r.Whole()
	}
	if top == nil || l.req.Tree != nil && !l.revised(kind) {
		return nil
	}
	at, _, err := l.workspace(kind).follow(file)
	if err != nil {
		return nil // reading says so
	}
	attribute, err := altered(top, path.Join(prefix, at))
	if err == nil && attribute == "" {
		return nil
	}
	d := diag.New(diag.Altered, ir.Pos{File: name}, 0)
	d.Label = "the attribute " + attribute + " has git write another text than the one that it keeps and shows"
	if err != nil {
		d.Label = "the attributes of git cannot be read: " + err.Error()
	}
	d.Hint = "take it away in .gitattributes, such as by a line behind the others: " + path.Base(at) + " -filter -ident -working-tree-encoding"
	return &d
}

// submoduleError is the reason why a layer of a revision is not known.
type submoduleError struct{ name string }

// Error implements error.
func (e submoduleError) Error() string {
	return "lies in the submodule " + e.name + ", whose files are in another repository: a comparison of revisions does not see them"
}

// inSubmodule returns an error for a place in a submodule of a revision.
func inSubmodule(tree fs.FS, name string) error {
	if r, ok := tree.(interface{ Submodule(string) (string, bool) }); ok {
		if at, in := r.Submodule(name); in {
			return submoduleError{at}
		}
	}
	return nil
}
