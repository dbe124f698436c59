package survey

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The bounds on directories below the top: how deep they lie, how many are looked at, how many become projects, and
// how many members of a project get rules.
const (
	maxDepth    = 4
	maxLooked   = 4_000
	maxProjects = 12
	maxMembers  = 60
)

// aside are directories whose manifests are no projects of the repository's own.
var aside = []string{
	"node_modules", "vendor", "third_party", "target", "dist", "build", "out", "coverage", "testdata", "fixtures", "fixture",
	"__fixtures__", "example", "examples", "template", "templates", "venv",
}

// walk finds the manifests below the top, over no symlink. See decision D416.
func (r *repo) walk() {
	r.below = map[string][]string{}
	level := []string{""}
	for range maxDepth {
		var next []string
		for _, dir := range level {
			for _, e := range r.entries(dir) {
				name := path.Join(dir, e.Name())
				switch {
				case e.IsDir() && plain(e.Name()) && !slices.Contains(aside, e.Name()) && len(next) < maxLooked:
					next = append(next, name)
				case e.Type().IsRegular() && dir != "" && manifest(e.Name()):
					r.below[e.Name()] = append(r.below[e.Name()], dir)
				}
			}
		}
		level = next
	}
}

// entries lists a directory of the repository, empty where it cannot be read.
func (r *repo) entries(dir string) []os.DirEntry {
	d, err := r.root.Open(path.Join(".", dir))
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxNames)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// plain reports whether a name can stand in a rule and in a command as it is.
func plain(name string) bool {
	const signs = "_-."
	odd := func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !letter && (c < '0' || c > '9') && !strings.ContainsRune(signs, c)
	}
	return name != "" && len(name) < 64 && !strings.ContainsRune(signs, rune(name[0])) && !strings.ContainsFunc(name, odd)
}

func manifest(name string) bool {
	for _, k := range kinds {
		if slices.Contains(k.manifests, name) {
			return true
		}
	}
	return false
}

// nested looks at the projects below the top that belong to none above them.
func (r *repo) nested() (out []Found) {
	var rest []string
	count := 0
	for _, k := range kinds {
		seen := map[string]bool{}
		for _, m := range k.manifests {
			for _, dir := range r.below[m] {
				switch {
				case seen[dir] || r.members[path.Join(dir, m)]:
				case count == maxProjects:
					rest = append(rest, path.Join(dir, m))
				default:
					seen[dir] = true
					count++
					out = append(out, r.project(dir, k.look)...)
				}
			}
		}
	}
	if len(rest) > 0 {
		f := Found{File: rest[0], Why: "no tool: a policy with more projects is better written by hand"}
		if n := len(rest) - 1; n > 0 {
			f.File += " and " + strconv.Itoa(n) + " more"
		}
		out = append(out, f)
	}
	return out
}

// project looks at one directory as the project that it is.
func (r *repo) project(dir string, look func(*repo) []Found) []Found {
	root, err := r.root.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	p := &repo{root: root, at: dir, below: map[string][]string{}, members: r.members}
	for name, dirs := range r.below {
		for _, d := range dirs {
			if inner, ok := strings.CutPrefix(d, dir+"/"); ok {
				p.below[name] = append(p.below[name], inner)
			}
		}
	}
	if p.list() != nil {
		return nil
	}
	out := look(p)
	for i := range out {
		out[i].File = path.Join(dir, out[i].File)
		for j := range out[i].Tools {
			t := &out[i].Tools[j]
			t.Name = strings.ReplaceAll(dir, "/", "-") + "-" + t.Name
			for k := range t.Rules {
				if t.Rules[k].Path != "." || slices.Contains(t.Rules[k].Keys, "write") {
					t.Rules[k].Path = path.Join(dir, t.Rules[k].Path)
				}
			}
			if !slices.ContainsFunc(t.Rules, func(r Rule) bool { return r.Path == "." }) {
				t.Rules = append([]Rule{reads}, t.Rules...)
			}
		}
	}
	return out
}

// there is a command, with the words that lead it to the directory of a project below the top.
func (r *repo) there(root, nested string) string {
	if r.at == "" {
		return root
	}
	return strings.ReplaceAll(nested, "DIR", r.at)
}

// having are the directories below that have a manifest and fit a pattern, which become members of the project.
func (r *repo) having(name string, fits func(dir string) bool) []string {
	var out []string
	for _, dir := range r.below[name] {
		if fits(dir) && len(out) < maxMembers {
			out = append(out, dir)
			r.members[path.Join(r.at, dir, name)] = true
		}
	}
	return out
}

// glob reports whether a directory fits a pattern of members: components with *, ? and [], and ** for any number of
// them.
func glob(pattern, dir string) bool {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(pattern, "./"), "/"), "/")
	return len(parts) <= maxParts && globs(parts, strings.Split(dir, "/"))
}

// maxParts bounds the components of a pattern, whose cost grows with those of two stars.
const maxParts = 8

func globs(pattern, dir []string) bool {
	switch {
	case len(pattern) == 0:
		return len(dir) == 0
	case pattern[0] == "**":
		return globs(pattern[1:], dir) || len(dir) > 0 && globs(pattern, dir[1:])
	case len(dir) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], dir[0])
	return err == nil && ok && globs(pattern[1:], dir[1:])
}

// anyOf reports whether a directory fits a list of patterns, where those that begin with an exclamation mark take away.
func anyOf(patterns []string) func(dir string) bool {
	return func(dir string) bool {
		fits := false
		for _, p := range patterns {
			if not, ok := strings.CutPrefix(p, "!"); ok {
				fits = fits && !glob(not, dir)
			} else {
				fits = fits || glob(p, dir)
			}
		}
		return fits
	}
}
