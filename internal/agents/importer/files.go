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

// access is the permission of the settings at a place, and at everything below that no other point is about.
type access struct{ read, write bool }

// point is a place that an entry names.
type point struct {
	abs   string
	entry *Entry
	// opens is true for an entry that permits something there, fold for one that denies names in any case.
	opens, fold bool
	// name is the pattern of a name at any depth, where abs has none.
	name string
}

// roots are the places that the rules may speak of: the workspace, and the places of the home that entries
// open.
func (t *translation) roots(points []point) []string {
	out := []string{t.host.Dir}
	for _, p := range points {
		if why := t.outside(p.abs); p.opens && why == "" && !ir.Within(p.abs, t.host.Dir) {
			out = append(out, p.abs)
		}
	}
	return without(out)
}

// outside is why no rule can be about a place, empty if one can.
func (t *translation) outside(abs string) string {
	switch {
	case ir.Within(abs, t.host.Dir):
		return ""
	case ir.Within(t.host.Dir, abs):
		return "the workspace lies in it: only the workspace is carried over"
	case t.host.Home == "" || !ir.Within(abs, t.host.Home):
		return "it lies outside of the workspace and of your home: write an external rule with its absolute path in your own configuration"
	}
	return ""
}

// files writes rules for the points, where the permission of the settings changes.
func (t *translation) files(points []point, permits func(abs string) access) {
	roots := t.roots(points)
	points = append(points, point{abs: t.host.Dir, entry: t.own})
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(strings.Count(a.abs, "/"), strings.Count(b.abs, "/")), cmp.Compare(a.abs, b.abs))
	})
	written := map[string]access{}
	tied := -1
	for _, p := range points {
		if !slices.ContainsFunc(roots, func(r string) bool { return ir.Within(p.abs, r) }) {
			t.beyond(p)
			continue
		}
		if t.host.Follow(p.abs) != p.abs {
			// A rule would be about the target of the symlink.
			t.faults = append(t.faults, faultOf(p.entry, p.abs+" leads over a symlink"))
			continue
		}
		now := t.less(p.abs, permits(p.abs))
		around, inside := enclosing(written, p.abs)
		if around == now && (inside || p.abs != t.host.Dir) {
			p.entry.become(Carried, "the rules around %s say the same", t.spell(p.abs))
			continue
		}
		written[p.abs] = now
		r := fsRule{path: t.spell(p.abs), read: now.read, write: now.write, from: p.entry.from()}
		r.external = now != access{} && !ir.Within(p.abs, t.host.Dir)
		if tied < 0 && slices.ContainsFunc(t.named, func(n named) bool { return n.about(p.abs) }) {
			tied = len(t.draft.fs)
		}
		t.draft.fs = append(t.draft.fs, r)
		p.entry.become(Carried, "access.fs %s%s", r.path, p.otherwise())
	}
	if tied < 0 {
		tied = len(t.draft.fs)
	}
	// Of a rule by name and a rule for such a place the later one counts, which knows more about that place.
	t.draft.fs = slices.Insert(t.draft.fs, tied, t.nameRules(written)...)
}

// beyond settles an entry for which no rule is written.
func (t *translation) beyond(p point) {
	if p.opens {
		p.entry.become(LeftOut, "%s", t.outside(p.abs))
		return
	}
	p.entry.become(Carried, "no rule grants anything there")
}

// spell writes a place as a rule does.
func (t *translation) spell(abs string) string {
	if ir.Within(abs, t.host.Dir) {
		return ir.In(strings.TrimPrefix(strings.TrimPrefix(abs, t.host.Dir), "/")).Spelled()
	}
	return "~" + strings.TrimPrefix(abs, t.host.Home)
}

// from is the comment on a rule.
func (e *Entry) from() string {
	if e.Line == 0 {
		return e.Key
	}
	return fmt.Sprintf("%s, line %d", e.Key, e.Line)
}

// names resolves a pattern that denies: the places to deny instead. opened are the places with grants.
// See decision D196.
func (t *translation) names(p point, opened []string, what denial) []point {
	if out, ok := t.byName(p, opened, what); ok {
		return out
	}
	var out []point
	abs, e := p.abs, p.entry
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
		if p.fold {
			dirs = without(append(dirs, cased(from, []string{root})...))
		}
		switch t.req.Patterns {
		case Close:
			for _, dir := range dirs {
				out = append(out, point{abs: t.host.Follow(dir), entry: e, fold: p.fold})
			}
			e.become(Narrowed, "all of %s is closed", t.spell(from))
		case Existing:
			found, err := p.matching(dirs, literal)
			if err != nil {
				t.faults = append(t.faults, fmt.Errorf("%s: %s %s: %w", e.Place(), e.Key, e.Text, err))
			}
			for _, f := range found {
				out = append(out, point{abs: t.host.Follow(f), entry: e, fold: p.fold})
			}
			e.become(Narrowed, "%d names that exist now are denied; later ones are not", len(found))
		case Refuse:
			t.unspelled = append(t.unspelled, e)
		}
	}
	e.become(Carried, "no rule grants anything there")
	return out
}

// The bounds of a search for names.
const (
	maxSeen  = 500_000
	maxNames = 500
)

var errTooMany = errors.New("too many names to write a rule for each; --patterns close closes the directory")

// matching lists the existing places below a directory that one of some patterns matches, topmost ones alone,
// and the names in it that they end in, where those have no wildcard.
func matching(dir, flags string, patterns ...string) ([]string, error) {
	var out, all []string
	for _, p := range patterns {
		all = append(all, globExpression(p))
		one, err := regexp.Compile("(?" + flags + ")^" + globExpression(p) + "$")
		if err != nil {
			return nil, err
		}
		if _, last, deep := strings.Cut(p, "/**/"); deep && !strings.ContainsAny(last, "*?[") && one.MatchString(path.Join(dir, last)) {
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
	return without(out), err
}

// matching lists the existing places that a pattern matches below some directories: that of its path before the
// first wildcard, or the one with grants in that, and their spellings in another case.
func (p point) matching(dirs []string, literal string) ([]string, error) {
	var out []string
	flags := "s"
	if p.fold {
		flags = "si"
	}
	for _, dir := range dirs {
		pattern := p.abs
		if dirs[0] == literal {
			pattern = dir + p.abs[len(literal):]
		}
		found, err := matching(dir, flags, pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	out = without(out)
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

// follow returns a path without symlinks, as far as it exists.
func follow(abs string) string {
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
