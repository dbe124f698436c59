package hostfacts

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/bounded"
	"github.com/accessc/accessc/ir"
)

// guardGit adds the files that git takes for its own although the list does not name them: in
// the directory that .git leads to, in the common directory that this one names
// (gitrepository-layout(5)), and in the root where that is a repository itself.
func (r *Result) guardGit(add func(at, why string)) {
	dir := r.gitDir(add)
	if dir == "" {
		return
	}
	dirs := []string{dir}
	if text, ok := r.readText(path.Join(dir, "commondir")); ok {
		dirs = []string{r.real(dir, strings.TrimRight(text, "\r\n"), add), dir}
	}
	var configs []string
	for _, dir := range dirs {
		for _, p := range ir.ProtectedPaths() {
			if rel, ok := strings.CutPrefix(p.Path, ".git/"); ok {
				r.guardAt(path.Join(dir, rel), p.Why, add)
			}
		}
		configs = append(configs, path.Join(dir, "config"), path.Join(dir, "config.worktree"))
	}
	r.guardConfigs(configs, add)
}

// guardAt adds a place, the symlinks on the way, and where they lead. Git writes NAME.lock beside
// the target, too.
func (r *Result) guardAt(abs, why string, add func(at, why string)) {
	add(r.within(abs), why)
	found, err := r.Resolver.Disk.Follow(abs)
	if err != nil || len(found.Links) == 0 {
		return
	}
	r.guardLinks(found, why, add)
	if at := r.within(found.Abs); at != "" {
		add(at, why)
		if why == ir.WhyGit && found.Kind != ir.Dir {
			add(at+".lock", ir.WhyLock)
		}
	}
}

// guardLinks adds the symlinks on the way to a place: a tool that replaced one would put another
// file in that place.
func (r *Result) guardLinks(found resolve.Found, why string, add func(at, why string)) {
	for _, link := range found.Links {
		add(r.within(link), why)
	}
}

// gitDir returns the directory of the workspace's repository: .git, the one that it names as a
// file, or the root. It is empty where git finds none.
func (r *Result) gitDir(add func(at, why string)) string {
	found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, ".git"))
	if err != nil {
		return ""
	}
	r.guardLinks(found, ir.WhyGit, add)
	switch found.Kind {
	case ir.Dir:
		return found.Abs
	case ir.File:
		add(r.within(found.Abs), ir.WhyGit)
		text, _ := r.readText(found.Abs)
		if dir, ok := strings.CutPrefix(text, "gitdir: "); ok {
			return r.real(r.Resolver.Root, strings.TrimRight(dir, "\r\n"), add)
		}
		return ""
	case ir.Absent, ir.Unknown:
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, name)); err != nil || found.Kind == ir.Absent {
			return ""
		}
	}
	return r.Resolver.Root
}

// guardConfigs adds the hooks that git's configuration names, and the files that it includes,
// whether or not their conditions hold now.
func (r *Result) guardConfigs(files []string, add func(at, why string)) {
	const most = 100
	for i := 0; i < len(files) && i < most; i++ {
		text, ok := r.readText(files[i])
		if !ok {
			continue
		}
		for _, v := range settings(text) {
			switch v.name {
			case "core.hookspath":
				add(r.within(r.real(r.Resolver.Root, v.value, add)), ir.WhyGit)
			case "include.path", "includeif.path":
				file := r.real(path.Dir(files[i]), v.value, add)
				add(r.within(file), ir.WhyGit)
				add(r.within(file+".lock"), ir.WhyLock)
				files = append(files, file)
			}
		}
	}
}

// real is where a path that git reads leads, without symlinks; as written where that fails. The
// symlinks are added.
func (r *Result) real(dir, to string, add func(at, why string)) string {
	to = filepath.ToSlash(to)
	if rest, ok := strings.CutPrefix(to, "~/"); ok && r.home != "" {
		dir, to = filepath.ToSlash(r.home), rest
	}
	if !path.IsAbs(to) && !filepath.IsAbs(to) {
		to = dir + "/" + to
	}
	found, err := r.Resolver.Disk.Follow(to)
	if err != nil {
		return path.Clean(to)
	}
	r.guardLinks(found, ir.WhyGit, add)
	return found.Abs
}

// readText reads a file of git's.
func (r *Result) readText(name string) (string, bool) {
	if mode, err := r.view.Stat(name); err != nil || !mode.IsRegular() {
		return "", false
	}
	f, err := r.view.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := bounded.Read(f, source.MaxSize)
	return string(data), err == nil
}

// A setting is a variable of a git configuration. Its name is in lower case and has no
// subsection.
type setting struct{ name, value string }

// settings reads a configuration (git-config(1), syntax). A file that git refuses names no fewer
// settings here.
func settings(text string) []setting {
	var out []setting
	section := ""
	for text = strings.ReplaceAll(text, "\r\n", "\n"); ; {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			section, text = header(text[1:])
			continue
		}
		i := strings.IndexAny(text, "=\n#;")
		if i < 0 {
			return out
		}
		name := strings.ToLower(strings.TrimSpace(text[:i]))
		if text[i] != '=' {
			_, text, _ = strings.Cut(text[i:], "\n")
			continue
		}
		var value string
		if value, text = unquoted(text[i+1:]); value != "" {
			out = append(out, setting{section + "." + name, value})
		}
	}
}

// header reads a section's name up to the subsection, and returns the text behind the bracket.
func header(text string) (section, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			section, _, _ = strings.Cut(text[:i], `"`)
			return strings.ToLower(strings.TrimSpace(section)), text[i+1:]
		}
	}
	return "", ""
}

// unquoted is the value at the beginning of a text without quotes, escapes and the comment
// behind it, and the lines that follow.
func unquoted(text string) (value, rest string) {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n', !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return strings.TrimSpace(out.String()), rest
		case c == '"':
			quoted = !quoted
		case c != '\\':
			out.WriteByte(c)
		case i+1 < len(text):
			i++
			if text[i] != '\n' {
				out.WriteByte(text[i])
			}
		}
	}
	return strings.TrimSpace(out.String()), ""
}
