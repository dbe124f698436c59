package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// altering are the attributes by which git makes another text of a blob when it checks it out (gitattributes(5)). Ends
// of lines are none of them: TOML reads both alike. See RATIONALE D360.
var altering = []string{"filter", "ident", "working-tree-encoding"}

const (
	attributesFile = ".gitattributes"
	attributesInfo = "info/attributes"
	// maxAttributes bounds a file of attributes, maxLine its lines: git passes over longer ones (attr.h).
	maxAttributes, maxLine = 1 << 20, 2048
)

// attributes are the altering attributes that git may set for one path. Lines that may set an attribute count unless
// they certainly do not, lines that take an attribute away only if they certainly do: git's reading is not repeated.
// See RATIONALE D445.
type attributes struct {
	// macros are the names of those that may set an altering attribute.
	macros map[string]bool
	// set has, by altering attribute, the words that may set it and their place.
	set map[string]string
}

// attributeText is a file of attributes, and the path from its directory.
type attributeText struct {
	file, below string
	lines       []attributeLine
}

// attributed returns the words by which the file of a name may differ from its blob in a checkout, empty if no line may
// have that effect. Own is the directory of the repository, whose attributes win over all others.
func attributed(top, own fs.FS, name string) (string, error) {
	var texts []attributeText
	parts := strings.Split(name, "/")
	for i := range parts {
		lines, err := readAttributes(top, path.Join(path.Join(parts[:i]...), attributesFile))
		if err != nil {
			return "", err
		}
		file := path.Join(path.Join(parts[:i]...), attributesFile)
		texts = append(texts, attributeText{file, strings.Join(parts[i:], "/"), lines})
	}
	if own != nil {
		lines, err := readAttributes(own, attributesInfo)
		if err != nil {
			return "", err
		}
		texts = append(texts, attributeText{attributesInfo, name, lines})
	}
	a := attributes{macros: macrosOf(texts), set: map[string]string{}}
	for _, text := range texts {
		for i := range text.lines {
			a.line(&text.lines[i], text.below, fmt.Sprintf("%s:%d", text.file, text.lines[i].number))
		}
	}
	for _, name := range altering {
		if a.set[name] != "" {
			return a.set[name], nil
		}
	}
	return "", nil
}

// readAttributes reads a file of attributes. Of a symlink git takes the target's text, or that of the link itself.
func readAttributes(top fs.FS, name string) ([]attributeLine, error) {
	entries, err := fs.ReadDir(top, path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(name) })
	switch {
	case i < 0:
		return nil, nil
	case !entries[i].Type().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := top.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxAttributes {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxAttributes)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return attributeLines(string(data)), err
}

// macrosOf returns the names of the macros that may set an altering attribute, by any of their definitions.
func macrosOf(texts []attributeText) map[string]bool {
	out := map[string]bool{}
	for more := true; more; {
		more = false
		for _, text := range texts {
			for i := range text.lines {
				l := &text.lines[i]
				sets := func(w string) bool { return l.sets(w, out) != "" }
				if l.macro != "" && !out[l.macro] && slices.ContainsFunc(l.words, sets) {
					out[l.macro], more = true, true
				}
			}
		}
	}
	return out
}

// line applies a line of a file of attributes to a path that is relative to the directory of the file.
func (a *attributes) line(l *attributeLine, name, at string) {
	may, does := l.matches(name)
	for i := 0; may && i < len(l.words); i++ {
		w := l.words[i]
		switch set := l.sets(w, a.macros); {
		case set == everyAttribute:
			for _, n := range altering {
				a.set[n] = w + " (" + at + ")"
			}
		case set != "":
			a.set[set] = w + " (" + at + ")"
		case does:
			name, _, _ := strings.Cut(strings.TrimLeft(w, "-!"), "=")
			delete(a.set, name)
		}
	}
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
	attribute, err := attributed(top, l.req.Git, path.Join(prefix, at))
	if err == nil && attribute == "" {
		return nil
	}
	d := diag.New(diag.Altered, ir.Pos{File: name}, 0)
	d.Label = "the attribute " + attribute + " may have git write another text than the one that it keeps and shows"
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
