package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Patterns is the treatment of patterns that deny names which no rule can spell out.
type Patterns string

// The choices.
const (
	// Refuse imports nothing.
	Refuse Patterns = "refuse"
	// Existing denies the names that exist now.
	Existing Patterns = "existing"
	// Close denies the whole directory that the pattern looks in.
	Close Patterns = "close"
)

// Access is the permission of the settings at a place, and at everything below that no other point is about.
type Access struct{ Read, Write bool }

// Point is a place that an entry names.
type Point struct {
	Abs   string
	Entry *Entry
	// Opens is true for an entry that permits something there, fold for one that denies names in any case.
	Opens, Fold bool
	// Name is the pattern of a name at any depth, where abs has none.
	Name string
}

// Roots are the places that the rules may speak of: the workspace, and the places of the home that entries
// open.
func (t *Translation) Roots(points []Point) []string {
	out := []string{t.Host.Dir}
	for _, p := range points {
		if why := t.Outside(p.Abs); p.Opens && why == "" && !ir.Within(p.Abs, t.Host.Dir) {
			out = append(out, p.Abs)
		}
	}
	return Without(out)
}

// Outside is why no rule can be about a place, empty if one can.
func (t *Translation) Outside(abs string) string {
	switch {
	case ir.Within(abs, t.Host.Dir):
		return ""
	case ir.Within(t.Host.Dir, abs):
		return "the workspace lies in it: only the workspace is carried over"
	case t.Host.Home == "" || !ir.Within(abs, t.Host.Home):
		return "it lies outside of the workspace and of your home: write an external rule with its absolute path in your own configuration"
	}
	return ""
}

// Files writes rules for the points, where the permission of the settings changes.
func (t *Translation) Files(points []Point, permits func(abs string) Access) {
	roots := t.Roots(points)
	points = append(points, Point{Abs: t.Host.Dir, Entry: t.Own})
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Abs, "/"), strings.Count(b.Abs, "/")), cmp.Compare(a.Abs, b.Abs))
	})
	written := map[string]Access{}
	tied := -1
	for _, p := range points {
		if !slices.ContainsFunc(roots, func(r string) bool { return ir.Within(p.Abs, r) }) {
			t.beyond(p)
			continue
		}
		if t.Host.Follow(p.Abs) != p.Abs {
			// A rule would be about the target of the symlink.
			t.Faults = append(t.Faults, FaultOf(p.Entry, p.Abs+" leads over a symlink"))
			continue
		}
		now := t.named.less(p.Abs, permits(p.Abs))
		around, inside := enclosing(written, p.Abs)
		if around == now && (inside || p.Abs != t.Host.Dir) {
			p.Entry.Become(Carried, "the rules around %s say the same", t.Spell(p.Abs))
			continue
		}
		written[p.Abs] = now
		r := FSRule{Path: t.Spell(p.Abs), read: now.Read, write: now.Write, From: p.Entry.From()}
		r.External = now != Access{} && !ir.Within(p.Abs, t.Host.Dir)
		if tied < 0 && slices.ContainsFunc(t.named, func(n named) bool { return n.about(p.Abs) }) {
			tied = len(t.Draft.FS)
		}
		t.Draft.FS = append(t.Draft.FS, r)
		p.Entry.Become(Carried, "access.fs %s%s", r.Path, p.otherwise())
	}
	if tied < 0 {
		tied = len(t.Draft.FS)
	}
	// Of a rule by name and a rule for such a place the later one counts, which knows more about that place.
	t.Draft.FS = slices.Insert(t.Draft.FS, tied, t.nameRules(written)...)
}

// beyond settles an entry for which no rule is written.
func (t *Translation) beyond(p Point) {
	if p.Opens {
		p.Entry.Become(LeftOut, "%s", t.Outside(p.Abs))
		return
	}
	p.Entry.Become(Carried, "no rule grants anything there")
}

// Spell writes a place as a rule does.
func (t *Translation) Spell(abs string) string {
	if ir.Within(abs, t.Host.Dir) {
		return ir.In(strings.TrimPrefix(strings.TrimPrefix(abs, t.Host.Dir), "/")).Spelled()
	}
	return "~" + strings.TrimPrefix(abs, t.Host.Home)
}

// From is the comment on a rule.
func (e *Entry) From() string {
	if e.Line == 0 {
		return e.Key
	}
	return fmt.Sprintf("%s, line %d", e.Key, e.Line)
}

// Names resolves a pattern that denies: the places to deny instead. opened are the places with grants.
// See decision D196.
func (t *Translation) Names(p Point, opened []string, what denial) []Point {
	if out, ok := t.ByName(p, opened, what); ok {
		return out
	}
	var out []Point
	abs, e := p.Abs, p.Entry
	literal := abs[:strings.IndexAny(abs, "*?[")]
	literal = path.Clean(literal[:strings.LastIndexByte(literal, '/')+1])
	for _, root := range opened {
		if !ir.Within(root, literal) && !ir.Within(literal, root) {
			continue
		}
		from := root
		if ir.Within(literal, root) {
			from = literal
		}
		dirs := []string{from}
		if p.Fold {
			dirs = Without(append(dirs, cased(from, []string{root})...))
		}
		switch t.req.Patterns {
		case Close:
			for _, dir := range dirs {
				out = append(out, Point{Abs: t.Host.Follow(dir), Entry: e, Fold: p.Fold})
			}
			e.Become(Narrowed, "all of %s is closed", t.Spell(from))
		case Existing:
			found, err := p.matching(dirs, literal)
			if err != nil {
				t.Faults = append(t.Faults, fmt.Errorf("%s: %s %s: %w", e.Place(), e.Key, e.Text, err))
			}
			for _, f := range found {
				out = append(out, Point{Abs: t.Host.Follow(f), Entry: e, Fold: p.Fold})
			}
			e.Become(Narrowed, "%d names that exist now are denied; later ones are not", len(found))
		case Refuse:
			t.unspelled = append(t.unspelled, e)
		}
	}
	e.Become(Carried, "no rule grants anything there")
	return out
}

// The bounds of a search for names.
const (
	maxSeen  = 500_000
	maxNames = 500
)

var errTooMany = errors.New("too many names to write a rule for each; --patterns close closes the directory")

// Matching lists the existing places below a directory that one of some patterns matches, topmost ones alone,
// and the names in it that they end in, where those have no wildcard.
func Matching(dir, flags string, patterns ...string) ([]string, error) {
	var out, all []string
	for _, p := range patterns {
		all = append(all, globExpression(p))
		one, err := regexp.Compile("(?" + flags + ")^" + globExpression(p) + "$")
		if err != nil {
			return nil, err
		}
		if _, last, deep := strings.Cut(p, "/**/"); deep && !strings.ContainsAny(last, "*?[") &&
			one.MatchString(path.Join(dir, last)) {
			out = append(out, path.Join(dir, last))
		}
	}
	re, err := regexp.Compile("(?" + flags + ")^(?:" + strings.Join(all, "|") + ")$")
	if err != nil {
		return nil, err
	}
	seen := 0
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSeen || len(out) > maxNames {
			return errTooMany
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !re.MatchString(name) {
			return nil
		}
		out = append(out, name)
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return Without(out), err
}

// matching lists the existing places that a pattern matches below some directories: that of its path before the
// first wildcard, or the one with grants in that, and their spellings in another case.
func (p Point) matching(dirs []string, literal string) ([]string, error) {
	var out []string
	flags := "s"
	if p.Fold {
		flags = "si"
	}
	for _, dir := range dirs {
		pattern := p.Abs
		if dirs[0] == literal {
			pattern = dir + p.Abs[len(literal):]
		}
		found, err := Matching(dir, flags, pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	out = Without(out)
	return slices.DeleteFunc(slices.Clone(out), func(f string) bool {
		_, err := os.Lstat(filepath.FromSlash(f))
		return err != nil && slices.ContainsFunc(out, func(o string) bool { return o != f && strings.EqualFold(o, f) })
	}), nil
}

// globExpression is a pattern as a regular expression.
func globExpression(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += len("**/") - 1
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[' && strings.Contains(rest, "]"):
			b.WriteString("[^/]") // of any set: more is denied
			i += strings.IndexByte(rest, ']')
		default:
			end := max(strings.IndexAny(rest[1:], "*?[")+1, 1)
			if !strings.ContainsAny(rest[1:], "*?[") {
				end = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:end]))
			i += end - 1
		}
	}
	return b.String()
}

// Follow returns a path without symlinks, as far as it exists.
func Follow(abs string) string {
	rest := ""
	for at := abs; ; at, rest = path.Dir(at), path.Join(path.Base(at), rest) {
		if found, err := filepath.EvalSymlinks(filepath.FromSlash(at)); err == nil {
			return path.Join(filepath.ToSlash(found), rest)
		}
		if to, err := os.Readlink(filepath.FromSlash(at)); err == nil && rest != "" {
			// A link that leads nowhere yet: a file that is made there lies at its target.
			if !path.IsAbs(to) {
				to = path.Join(path.Dir(at), to)
			}
			return path.Join(to, rest)
		}
		if at == path.Dir(at) {
			return abs
		}
	}
}

// IsDir reports whether a directory has a name.
func IsDir(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && info.IsDir()
}
