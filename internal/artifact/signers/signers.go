package signers

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/plural"
)

// Policy says who may sign, and where attestations are required. The zero value permits no signer.
type Policy struct {
	files []file
	// also returns the name of another file that requires an attestation of a tool, or is nil.
	also func(tool string) string
}

// And has the policy require what another file does: also returns its name for a tool, empty if it requires nothing.
func (p Policy) And(also func(tool string) string) Policy {
	p.also = also
	return p
}

// file is the content of a file.
type file struct {
	name string
	// require is true for all workspaces, or a list of patterns of them.
	require   bool
	requireIn []string
	threshold int
	older     bool
	signers   []signer
}

// signer is a key that may sign.
type signer struct {
	name string
	key  attest.Public
	// workspaces are patterns, tools names; nil for all.
	workspaces, tools []string
	// project is the project that a statement must name, empty for any; serial the lowest.
	project string
	serial  int
}

// Subject is the tool or the build that is to be started or checked.
type Subject struct {
	// Workspace is the canonical root. Tool is empty for a whole build, which a signer of some tools
	// may not sign.
	Workspace, Tool string
	// Home is the user's home directory, for patterns below "~/".
	Home string
}

// Requires returns the name of a file that requires attestations in a workspace, empty if none does.
func (p Policy) Requires(s Subject) string {
	for _, f := range p.files {
		if f.require || s.required(f.requireIn, foldsCase) {
			return f.name
		}
	}
	if p.also != nil {
		return p.also(s.Tool)
	}
	return ""
}

// Older reports whether a tool may be started by an older attestation than before, as all files must say.
func (p Policy) Older() bool {
	return !slices.ContainsFunc(p.files, func(f file) bool { return len(f.signers) > 0 && !f.older })
}

// errNone is the answer where no file names a key.
var errNone = errors.New("no file says who may sign: " +
	"attestation.toml beside your own layer, or that of the administrator")

// Judge returns the statement of an attestation if those who may have signed it, and their names. Every
// file that names signers must permit it.
func (p Policy) Judge(e *attest.Envelope, s Subject) (*attest.Statement, []string, error) {
	var said *attest.Statement
	var by []string
	for _, f := range p.files {
		if len(f.signers) == 0 {
			continue
		}
		statement, names, err := f.judge(e, s)
		if err != nil {
			return nil, nil, fmt.Errorf("%w, by %s", err, f.name)
		}
		said, by = statement, append(by, names...)
	}
	if said == nil {
		return nil, nil, errNone
	}
	slices.Sort(by)
	return said, slices.Compact(by), nil
}

// judge asks a file.
func (f file) judge(e *attest.Envelope, s Subject) (*attest.Statement, []string, error) {
	var keys []attest.Public
	byKey := map[string]signer{}
	for _, x := range f.signers {
		if (x.workspaces == nil || s.in(x.workspaces)) && (x.tools == nil || slices.Contains(x.tools, s.Tool)) {
			keys = append(keys, x.key)
			byKey[x.key.ID()] = x
		}
	}
	if len(keys) < f.threshold {
		return nil, nil, fmt.Errorf("%s may sign for %s, and %d must",
			plural.Count(len(keys), "signer"), s, f.threshold)
	}
	said, accepted, err := e.Verify(f.threshold, keys...)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, k := range accepted {
		x := byKey[k.ID()]
		if why := x.refuses(said); why != "" {
			err = fmt.Errorf("signed by %s, %s", x.name, why)
			continue
		}
		names = append(names, x.name)
	}
	if len(names) < f.threshold {
		return nil, nil, err
	}
	return said, names, nil
}

// refuses returns why a signer may not have said this, empty if the signer may.
func (x signer) refuses(said *attest.Statement) string {
	b := said.Build
	if b == nil { // a summary has a time and no serial
		b = &attest.Build{Project: said.Summary.Project, Serial: x.serial}
	}
	switch {
	case x.project != "" && b.Project != x.project:
		return fmt.Sprintf("who may sign for the project %q, and not for %q", x.project, b.Project)
	case b.Serial < x.serial:
		return fmt.Sprintf("whose attestations count from the serial %d, and this one has %d", x.serial, b.Serial)
	default:
		return ""
	}
}

// String names the subject.
func (s Subject) String() string {
	if s.Tool == "" {
		return s.Workspace
	}
	return s.Tool + " in " + s.Workspace
}

// foldsCase is true on systems whose file systems usually do not tell cases apart, and whose canonical paths are as the
// caller spells them.
const foldsCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// in reports whether a pattern matches the workspace. Symlinks in the part of a pattern that has no
// metacharacters are followed.
func (s Subject) in(patterns []string) bool {
	return s.matches(patterns, filepath.ToSlash(s.Workspace), func(p string) string { return p })
}

// required is in for patterns that require more: each is about the directories below as well, any of which becomes a
// workspace by a file in it, and with fold it does not tell cases apart.
// See decision D290.
func (s Subject) required(patterns []string, fold bool) bool {
	for dir := s.Workspace; ; dir = filepath.Dir(dir) {
		at := filepath.ToSlash(dir)
		if s.matches(patterns, at, func(p string) string { return p }) ||
			fold && s.matches(patterns, at, strings.ToLower) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// matches is in for a directory, by the spelling that key gives to it and to the patterns.
func (s Subject) matches(patterns []string, dir string, key func(string) string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = literal(filepath.ToSlash(s.Home)) + "/" + rest
		}
		base, rest := split(p)
		if doublestar.MatchUnvalidated(key(join(literal(base), rest)), key(dir)) {
			return true
		}
		real, err := filepath.EvalSymlinks(filepath.FromSlash(base))
		return err == nil && doublestar.MatchUnvalidated(key(join(literal(filepath.ToSlash(real)), rest)), key(dir))
	})
}

// split divides a pattern into the path before its first element with metacharacters, cleaned, and the elements
// from there on. A pattern that ends in a slash or a dot is about the same directory as without.
func split(pattern string) (base, rest string) {
	elements := strings.Split(pattern, "/")
	n := slices.IndexFunc(elements, func(e string) bool {
		return strings.ContainsAny(escaped.Get().ReplaceAllString(e, ""), "*?[{")
	})
	if n < 0 {
		n = len(elements)
	}
	base = strings.Join(elements[:n], "/") + "/"
	base = escaped.Get().ReplaceAllStringFunc(base, func(e string) string { return e[1:] })
	return filepath.ToSlash(filepath.Clean(filepath.FromSlash(base))), strings.Join(elements[n:], "/")
}

// join is the pattern of a split pattern.
func join(base, rest string) string {
	if rest == "" {
		return base
	}
	return strings.TrimSuffix(base, "/") + "/" + rest
}

// escaped is a metacharacter that stands for itself.
var escaped = expression.Once{Text: `\\.`}

// ends reports whether all elements of a pattern have metacharacters from the first that has some. A symlink with the
// name of another element would not be followed, and the pattern not match the directory that it leads to.
func ends(pattern string) bool {
	meta := false
	for _, element := range strings.Split(escaped.Get().ReplaceAllString(pattern, ""), "/") {
		has := strings.ContainsAny(element, "*?[{")
		if meta && !has {
			return false
		}
		meta = meta || has
	}
	return true
}

// literal makes a path a pattern that matches only it.
func literal(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}
