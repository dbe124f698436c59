package source

import (
	"cmp"
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
// of lines are none of them: TOML reads both alike. See decision D360.
var altering = []string{"filter", "ident", "working-tree-encoding"}

const (
	attributesFile = ".gitattributes"
	attributesInfo = "info/attributes"
	// maxAttributes bounds a file of attributes, maxLine its lines: git passes over longer lines (attr.h).
	maxAttributes, maxLine = 1 << 20, 2048
)

// attributes are the altering attributes that git may set for a path. Lines that may set an attribute count unless
// they certainly do not, lines that take an attribute away only if they certainly do: git's reading is not repeated.
// See decision D360.
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

// checkout is a work tree or a commit, as git makes files of it.
type checkout struct {
	top fs.FS
	// own, unless nil, is the directory of the repository. Commits may use the macros there; what the user sets for
	// paths by other lines is the user's.
	own fs.FS
	// fold, unless nil, is Request.Fold.
	fold func(string) string
	dirs map[string]listing
}

// listing is a directory of a checkout: its entries by name, and their names by their folded form.
type listing struct {
	entries map[string]fs.DirEntry
	folded  map[string][]string
	lines   []attributeLine
	err     error
}

// attributed returns the words by which the file of a name may differ from its blob in a checkout, empty if no line may
// have that effect.
func (c *checkout) attributed(name string) (string, error) {
	var texts []attributeText
	parts := strings.Split(name, "/")
	for i := range parts {
		dir := path.Join(parts[:i]...)
		in := c.list(c.top, dir, attributesFile)
		if in.err != nil {
			return "", in.err
		}
		texts = append(texts, attributeText{path.Join(dir, attributesFile), strings.Join(parts[i:], "/"), in.lines})
	}
	macros := slices.Clone(texts)
	if c.own != nil {
		in := c.list(c.own, path.Dir(attributesInfo), path.Base(attributesInfo))
		if in.err != nil {
			return "", in.err
		}
		macros = append(macros, attributeText{lines: in.lines})
	}
	a := attributes{macros: macrosOf(macros), set: map[string]string{}}
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

// list reads a directory and the file of attributes in it, once.
func (c *checkout) list(tree fs.FS, dir, file string) listing {
	key := dir + "/" + file
	if in, ok := c.dirs[key]; ok {
		return in
	}
	in := listing{entries: map[string]fs.DirEntry{}, folded: map[string][]string{}}
	entries, err := fs.ReadDir(tree, cmp.Or(dir, "."))
	if !errors.Is(err, fs.ErrNotExist) {
		in.err = err
	}
	for _, e := range entries {
		in.entries[e.Name()] = e
		if c.fold != nil {
			f := c.fold(e.Name())
			in.folded[f] = append(in.folded[f], e.Name())
		}
	}
	if e := in.entries[file]; e != nil && in.err == nil {
		in.lines, in.err = readAttributes(tree, path.Join(dir, file), e)
	}
	c.dirs[key] = in
	return in
}

// alike returns a name that some file systems take for the name of a path or a directory around it, or of a file of
// attributes on the way; empty for none. Names of the first parts belong to the user's disk, and are not looked at.
func (c *checkout) alike(name string, from int) string {
	if c.fold == nil {
		return ""
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		dir := path.Join(parts[:i]...)
		in := c.list(c.top, dir, attributesFile)
		own := []string{attributesFile}
		if i >= from {
			own = append(own, parts[i])
		}
		for _, name := range own {
			for _, other := range in.folded[c.fold(name)] {
				if other != name {
					return path.Join(dir, other)
				}
			}
		}
	}
	return ""
}

// readAttributes reads a file of attributes. Of a symlink git takes the target's text, or the text of the link itself.
func readAttributes(top fs.FS, name string, e fs.DirEntry) ([]attributeLine, error) {
	if !e.Type().IsRegular() {
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

// checkout returns the checkout in which layers of a kind lie and the path of the workspace there; nil where nobody
// asked for it.
func (l *loader) checkout(kind ir.Layer) (c *checkout, prefix string) {
	top, prefix := l.req.Top, l.req.Prefix
	if r, ok := l.req.Tree.(interface{ Whole() (fs.FS, string) }); ok {
		top, prefix = r.Whole()
	}
	if top == nil || l.req.Tree != nil && !l.revised(kind) {
		return nil, ""
	}
	if l.git == nil {
		l.git = &checkout{top, l.req.Git, l.req.Fold, map[string]listing{}}
	}
	return l.git, prefix
}

// checkAltered refuses a layer that a checkout has another text of than the repository.
func (l *loader) checkAltered(kind ir.Layer, name, file string) *diag.Diagnostic {
	c, prefix := l.checkout(kind)
	if c == nil {
		return nil
	}
	at, _, err := l.workspace(kind).follow(file)
	if err != nil {
		return nil // reading says so
	}
	attribute, err := c.attributed(path.Join(prefix, at))
	if err == nil && attribute == "" {
		return nil
	}
	d := diag.New(diag.Altered, ir.Pos{File: name}, 0)
	d.Label = "the attribute " + attribute + " may have git write another text than the one that it keeps and shows"
	if err != nil {
		d.Label = "the attributes of git cannot be read: " + err.Error()
	}
	d.Hint = "take it away in .gitattributes, such as by a line behind the others: " +
		path.Base(at) + " -filter -ident -working-tree-encoding"
	return &d
}

// checkAlike refuses names that a file system takes for the name of a layer, or of a directory of layers, although git
// does not: a checkout there has other layers.
// See decision D360.
func (l *loader) checkAlike(kind ir.Layer, file string) {
	c, prefix := l.checkout(kind)
	if c == nil || l.req.User == file {
		return
	}
	from := 0
	if l.req.Tree == nil && prefix != "" && prefix != "." {
		from = strings.Count(prefix, "/") + 1
	}
	names := []string{}
	if name, ok := l.workspace(kind).holds(file); ok {
		names = append(names, name)
	}
	if at, _, err := l.workspace(kind).follow(file); err == nil {
		names = append(names, at)
	}
	for _, name := range names {
		other := c.alike(path.Join(prefix, name), from)
		if other == "" || l.alike[other] {
			continue
		}
		if l.alike == nil {
			l.alike = map[string]bool{}
		}
		l.alike[other] = true
		d := diag.New(diag.Altered, ir.Pos{File: l.name(file)}, 0)
		d.Label = "a file system that does not tell upper from lower case takes " + other + " for a part of it"
		d.Hint = "rename or remove " + other
		l.diags.Add(d)
	}
}

// submoduleError is the reason why a layer of a revision is not known.
type submoduleError struct{ name string }

// Error implements error.
func (e submoduleError) Error() string {
	return "lies in the submodule " + e.name +
		", whose files are in another repository: a comparison of revisions does not see them"
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
