package opencode

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model are the permissions of opencode, as of version 1.18.33 (opencode.ai/docs/permissions, and the
// program's "debug agent" on real files and command lines): of the rules that match, the last one decides. The
// rules of the settings follow those that the program has by itself.
type Model struct {
	foreign.Host
	// Worktree is the top of the repository around Dir, "/" without one. Paths are compared relative to it.
	Worktree string
	Rules    []Rule
}

// Rule is the decision about the calls that a pattern matches.
type Rule struct {
	// Permission is the name of a permission, or a pattern of such names.
	Permission string
	Pattern    string
	Action     string // allow, ask or deny
	// Own is true for rules that the program has by itself.
	Own bool
}

// match compares a text with a pattern: "*" is any text, slashes and blanks included, "?" any character, and
// " *" at the end may be missing.
func match(pattern, text string) bool {
	pattern, text = strings.ReplaceAll(pattern, `\`, "/"), strings.ReplaceAll(text, `\`, "/")
	if begin, ok := strings.CutSuffix(pattern, " *"); ok && like([]rune(begin), []rune(text)) {
		return true
	}
	return like([]rune(pattern), []rune(text))
}

// like compares without going back further than the last "*".
func like(pattern, text []rune) bool {
	p, star, from := 0, -1, 0
	for i := 0; i < len(text); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "*") == ""
}

// expanded is a pattern with the home directory in place of "~" and "$HOME" at its beginning.
func (o *Model) expanded(pattern string) string {
	rest, ok := strings.CutPrefix(pattern, "$HOME")
	if pattern == "~" || strings.HasPrefix(pattern, "~/") {
		rest, ok = pattern[1:], true
	}
	if ok {
		return o.Home + rest
	}
	return pattern
}

// allows reports whether the last rule about a text allows. abs is the file that it is about, if it is about one.
func (o *Model) allows(permission, text, abs string) bool {
	for _, r := range slices.Backward(o.Rules) {
		if !match(r.Permission, permission) || !match(o.expanded(r.Pattern), text) {
			continue
		}
		if abs != "" && r.Action != "allow" && !spelledOut(r.Pattern) && (o.Existing || r.Own) && !o.present(r, abs) {
			continue // a name that is not there is not denied
		}
		return r.Action == "allow"
	}
	return false
}

// spelledOut reports whether a pattern is a path, or all below one.
func spelledOut(pattern string) bool {
	base := strings.TrimRight(pattern, "*")
	return !strings.ContainsAny(base, "*?") && (base == pattern || base == "" || strings.HasSuffix(base, "/"))
}

// present reports whether a rule is about the name of something that is there, at or above a path. The name .env counts
// always in the directory itself.
func (o *Model) present(r Rule, abs string) bool {
	for at := abs; at != "/"; at = path.Dir(at) {
		if match(o.expanded(r.Pattern), o.relative(at)) && (o.Exists(at) || r.Own && at == path.Join(o.Dir, ".env")) {
			return true
		}
	}
	return false
}

// relative is the text that a file is compared by.
func (o *Model) relative(abs string) string {
	rel, err := filepath.Rel(o.Worktree, abs)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

func (o *Model) directory(abs string) bool { return o.Exists(abs + "/.") }

// opens evaluates a permission for files: outside of the repository the directory has to be allowed as well. A
// directory is as open as the files in it, and nothing lies below a file.
func (o *Model) opens(permission, abs string) bool {
	for at := path.Dir(abs); at != "/"; at = path.Dir(at) {
		if o.Exists(at) && !o.directory(at) {
			abs = at
		}
	}
	dir := path.Dir(abs)
	if o.directory(abs) {
		dir, abs = abs, path.Join(abs, foreign.Fresh)
	}
	return o.visits(dir) && o.allows(permission, o.relative(abs), abs)
}

func (o *Model) inside(abs string) bool {
	return foreign.Under(abs, o.Dir) || o.Worktree != "/" && foreign.Under(abs, o.Worktree)
}

// visits reports whether files of a directory may be touched.
func (o *Model) visits(dir string) bool {
	return o.inside(dir) || o.allows("external_directory", path.Join(dir, "*"), "")
}

// Reads implements Policy. Outside of the repository and of the home directory commands read as far as the system lets
// them, unless the settings close those places by their path, or all.
func (o *Model) Reads(abs string) bool {
	if o.inside(abs) || foreign.Under(abs, o.Home) {
		return o.opens("read", abs)
	}
	for _, r := range slices.Backward(o.Rules) {
		if spelledOut(r.Pattern) && match(r.Permission, "read") && match(o.expanded(r.Pattern), o.relative(abs)) {
			return r.Action == "allow"
		}
	}
	return false
}

// Writes implements Policy: the files that the tools for editing write unasked.
func (o *Model) Writes(abs string) bool { return o.opens("edit", abs) }

// Connects implements Policy: commands are not confined, and no rule is about hosts.
func (o *Model) Connects(string, uint16) bool { return false }

// Passes implements Policy.
func (o *Model) Passes(string) bool { return true }

// Fetches implements Policy.
func (o *Model) Fetches(host string) bool {
	return o.allows("webfetch", "https://"+host+"/", "")
}

// touching are the programs whose arguments are paths that opencode looks at.
var touching = []string{
	"cd", "chdir", "popd", "pushd", "push-location", "set-location", "rm", "cp", "mv", "mkdir", "touch", "chmod",
	"chown",
	"cat", "get-content", "set-content", "add-content", "copy-item", "move-item", "remove-item", "new-item",
	"rename-item",
}

// Runs implements Policy.
func (o *Model) Runs(line string) bool {
	line = strings.TrimSpace(line)
	if !o.allows("bash", line, "") {
		return false
	}
	words := strings.Fields(line)
	if len(words) == 0 || !slices.Contains(touching, words[0]) {
		return true
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !o.visits(o.Absolute(w, o.Dir)) && !o.visits(path.Dir(o.Absolute(w, o.Dir))) {
			return false
		}
	}
	return true
}

// Stops implements Stopper.
func (o *Model) Stops(line string) bool {
	line = strings.TrimSpace(line)
	for _, r := range slices.Backward(o.Rules) {
		if match(r.Permission, "bash") && match(o.expanded(r.Pattern), line) {
			return r.Action != "allow"
		}
	}
	return false
}

// Marks implements Policy.
func (o *Model) Marks() foreign.Marks {
	out := foreign.Marks{Paths: []string{o.Dir, path.Join(o.Dir, ".env")}}
	for _, r := range o.Rules {
		text := o.expanded(r.Pattern)
		if match(r.Permission, "bash") {
			out.Commands = append(out.Commands, text)
		}
		if !slices.ContainsFunc([]string{"read", "edit", "external_directory"},
			func(p string) bool { return match(r.Permission, p) }) {
			continue
		}
		base := strings.TrimRight(text, "*")
		if spelledOut(text) {
			out.Paths = append(out.Paths, o.Absolute(base, o.Worktree))
			continue
		}
		for strings.Contains(text, "**") {
			text = strings.ReplaceAll(text, "**", "*")
		}
		for _, star := range []string{"*", "*/**/*"} {
			for _, dir := range []string{o.Worktree, o.Home} {
				out.Patterns = append(out.Patterns,
					foreign.NewPattern(o.Absolute(strings.ReplaceAll(text, "*", star), dir)))
			}
		}
	}
	return out
}
