package hostfacts

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/ir"
)

// guardGit adds the files that git takes for its own although the list does not name them: in
// the directory that .git leads to, in the common directory that this directory names
// (gitrepository-layout(5)), in the repositories around them, and in the root where that is a repository itself.
// A workspace without a repository is in the repository that git finds around it.
func (r *Result) guardGit(add guarding) {
	dir := r.gitDir(add)
	if dir == "" && r.leadsOut() {
		if _, around := r.workTree(path.Dir(r.Resolver.Root)); around != "" {
			dir = r.real(r.Resolver.Root, around, add)
		}
	}
	if dir == "" {
		return
	}
	common := dir
	if text, ok := r.readText(path.Join(dir, "commondir")); ok {
		common = r.real(dir, strings.TrimRight(text, "\r\n"), add)
	}
	dirs := []string{common}
	if common != dir {
		dirs = append(dirs, dir)
		r.guardMain(common, add)
	}
	for at := path.Dir(common); r.within(common) == "" && path.Dir(at) != at; at = path.Dir(at) {
		if r.isGitDir(at) {
			dirs = append([]string{at}, dirs...)
		}
	}
	r.guardDirs(dirs, add)
}

// ofMain are the names in a common directory that the main work tree has for itself (gitrepository-layout(5), git's
// path.c). The commands that rebase-merge and sequencer list are run when its user goes on.
var ofMain = [...]string{
	"AUTO_MERGE", "BISECT_LOG", "BISECT_START", "CHERRY_PICK_HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "HEAD",
	"HEAD.lock", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "ORIG_HEAD", "REVERT_HEAD", "index",
	"index.lock", "logs/HEAD",
	"rebase-apply", "rebase-merge", "sequencer",
}

// guardMain adds the state of the main work tree, which a linked work tree does not need, where the common
// directory lies outside of the workspace. See decision D410.
func (r *Result) guardMain(common string, add guarding) {
	for i := 0; i < len(ofMain) && r.within(common) == ""; i++ {
		add(path.Join(common, ofMain[i]), ir.WhyMain, false)
	}
}

// guardDirs adds the files of git directories, the outer directories first. Each that lies in a protected
// directory of another is written as far as its own files are not.
func (r *Result) guardDirs(dirs []string, add guarding) {
	var configs []string
	for i, dir := range dirs {
		if i > 0 {
			add(dir, ir.WhyGit, true)
			add(path.Join(dir, "gitdir"), ir.WhyGit, false)
		}
		for _, p := range ir.ProtectedPaths() {
			if rel, ok := strings.CutPrefix(p.Path, ".git/"); ok {
				r.guardAt(path.Join(dir, rel), p.Why, add)
			}
		}
		configs = append(configs, path.Join(dir, "config"), path.Join(dir, "config.worktree"))
	}
	r.guardConfigs(configs, add)
}

// leadsOut reports whether a tool has a rule on a place outside of the workspace.
func (r *Result) leadsOut() bool {
	if r.Result == nil || r.Program == nil {
		return false
	}
	external := func(rule ir.FSRule) bool { return rule.External }
	return slices.ContainsFunc(r.Program.Tools, func(t *ir.Tool) bool { return slices.ContainsFunc(t.FS, external) })
}

// isGitDir reports whether git takes a directory for a repository.
func (r *Result) isGitDir(dir string) bool {
	return !slices.ContainsFunc([]string{"HEAD", "objects", "refs"}, func(name string) bool {
		found, err := r.Resolver.Disk.Follow(path.Join(dir, name))
		return err != nil || found.Kind == ir.Absent
	})
}

// guardAt adds a place, the symlinks on the way, and where they lead. Git writes NAME.lock beside
// the target, too.
func (r *Result) guardAt(abs, why string, add guarding) {
	add(abs, why, false)
	found, err := r.Resolver.Disk.Follow(abs)
	if err != nil || len(found.Links) == 0 {
		return
	}
	r.guardLinks(found, why, add)
	add(found.Abs, why, false)
	if why == ir.WhyGit && found.Kind != ir.Dir {
		add(found.Abs+".lock", ir.WhyLock, false)
	}
}

// guardLinks adds the symlinks on the way to a place: a tool that replaced such a symlink would
// put another file in that place.
func (r *Result) guardLinks(found resolve.Found, why string, add guarding) {
	for _, link := range found.Links {
		add(link, why, false)
	}
}

// gitDir returns the directory of the workspace's repository: .git, the directory that it names
// as a file, or the root. It is empty where git finds none.
func (r *Result) gitDir(add guarding) string {
	found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, ".git"))
	if err != nil {
		return ""
	}
	r.guardLinks(found, ir.WhyGit, add)
	switch found.Kind {
	case ir.Dir:
		return found.Abs
	case ir.File:
		add(found.Abs, ir.WhyGit, false)
		text, _ := r.readText(found.Abs)
		if dir, ok := strings.CutPrefix(text, "gitdir: "); ok {
			return r.real(r.Resolver.Root, strings.TrimRight(dir, "\r\n"), add)
		}
		return ""
	case ir.Absent, ir.Unknown:
	}
	if !r.isGitDir(r.Resolver.Root) {
		return ""
	}
	return r.Resolver.Root
}

// guardConfigs adds the hooks that git's configuration names, and the files that it includes,
// whether or not their conditions hold now.
func (r *Result) guardConfigs(files []string, add guarding) {
	for i := 0; i < len(files); i++ {
		if i == mostConfigs {
			r.unread = files[i]
			return
		}
		text, found := r.configText(files[i])
		if found == unread {
			r.unread = files[i]
		}
		for _, v := range settings(text) {
			switch v.name {
			case "core.hookspath":
				add(r.real(r.Resolver.Root, v.value, add), ir.WhyGit, false)
			case "include.path", "includeif.path":
				file := r.real(path.Dir(files[i]), v.value, add)
				add(file, ir.WhyGit, false)
				add(file+".lock", ir.WhyLock, false)
				if !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
}

// real is where a path that git reads leads, without symlinks; as written where that fails. The
// symlinks are added.
func (r *Result) real(dir, to string, add guarding) string {
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
	text, found := r.configText(name)
	return text, found == present
}

// state is the result of a look for a file.
type state uint8

const (
	// absent is a file that git does not read either.
	absent state = iota
	present
	// unread is a file that git may read, and accessc does not: it is larger, or none on the disk.
	unread
)

// configText reads a file of git's. An unread text must close all that depends on it.
func (r *Result) configText(name string) (string, state) {
	mode, err := r.view.Stat(name)
	switch {
	case err != nil || mode.IsDir() || name == "/dev/null":
		return "", absent
	case !mode.IsRegular():
		return "", unread
	}
	f, err := r.view.Open(name)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return "", absent
	}
	if err != nil {
		return "", unread
	}
	defer f.Close()
	data, err := bounded.Read(f, source.MaxSize)
	if err != nil {
		return "", unread
	}
	return string(data), present
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
