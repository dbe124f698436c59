package ruleset

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/ruleset/shell"
)

// Group matches the commands of a list that ships with this package.
type Group string

// The groups.
const (
	// Compilation builds and checks the code of a project, which may itself run programs.
	Compilation Group = "compilation"
	// ReadOnlyGit shows the contents of a repository. It trusts the configuration of the repository.
	ReadOnlyGit Group = "read_only_git"
	// SafeNpm shows installed and published packages, and runs no scripts. It has neither yarn nor
	// pnpm, which for any command run the version of themselves that the project names
	// (yarnPath in .yarnrc.yml, packageManager in package.json).
	SafeNpm Group = "safe_npm"
)

// member is a command of a group.
type member struct {
	names    []string
	commands []string
	// alone is true where only the options may follow, bare where the member is just that, without a target.
	alone, bare bool
	options     []string
}

// The options that a package shell does not know are doubts for a member as for any command; a
// member that lists its own takes no others.
var groups = map[Group][]member{
	Compilation: {
		{names: []string{"cargo"}, commands: []string{"build", "b", "check", "c", "clippy", "doc", "d"}},
		{names: []string{"go"}, commands: []string{"build", "vet"}},
		{names: []string{"tsc"}, alone: true, options: []string{"--noEmit", "--build", "-b", "--pretty", "--version",
			"--strict", "--skipLibCheck", "--listFiles"}},
		{names: []string{"gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "javac"}},
		{names: []string{"make", "gmake"}, alone: true, bare: true,
			options: []string{"-j", "-k", "-s", "-B", "-n", "--silent", "--keep-going", "--dry-run"}},
		{names: []string{"ninja"}, alone: true, bare: true, options: []string{"-j", "-k", "-v", "-n", "--quiet"}},
		{names: []string{"make", "gmake", "ninja"}, commands: []string{"all", "build", "compile"}},
		{names: []string{"cmake"}},
		{names: []string{"meson"}, commands: []string{"setup", "compile"}},
		{names: []string{"gradle", "gradlew", "./gradlew"},
			commands: []string{"build", "assemble", "classes", "testClasses", "compileJava", "compileTestJava",
				"compileKotlin", "jar"}},
		{names: []string{"mvn", "mvnw", "./mvnw"},
			commands: []string{"validate", "compile", "test-compile", "package"}},
		{names: []string{"dotnet"}, commands: []string{"build", "restore"}},
	},
	ReadOnlyGit: {
		{names: []string{"git"}, commands: []string{
			"status", "diff", "log", "show", "whatchanged", "rev-list", "diff-tree", "diff-index", "diff-files",
			"blame", "annotate", "grep", "ls-files", "ls-tree", "rev-parse", "describe", "shortlog", "show-ref",
			"merge-base", "name-rev", "cat-file", "for-each-ref", "count-objects", "cherry", "check-ignore",
			"check-attr", "stash list", "stash show", "reflog show", "remote get-url", "worktree list",
		}},
		{names: []string{"git"}, commands: []string{"branch"}, alone: true, options: []string{
			"-a", "-r", "-v", "-vv", "-av", "-avv", "--list", "--all", "--remotes", "--verbose", "--show-current",
			"--no-color", "-i",
		}},
		{names: []string{"git"}, commands: []string{"tag"}, alone: true, options: []string{"-l", "--list", "-n", "-i"}},
		{names: []string{"git"}, commands: []string{"remote"}, alone: true, options: []string{"-v", "--verbose"}},
		{names: []string{"git"}, commands: []string{"reflog", "config --list", "config -l"}, alone: true},
	},
	SafeNpm: {
		{names: []string{"npm"}, commands: []string{"ls", "list", "ll", "la", "outdated", "view", "info", "show",
			"search", "ping", "root", "prefix", "why", "explain"}},
		{names: []string{"npm"}, commands: []string{"audit"}, alone: true, options: []string{"--json"}},
	},
}

// GroupNames lists the groups.
func GroupNames() []string {
	var out []string
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, string(g))
	}
	return out
}

// Commands lists the beginnings of the commands of a group: a program, the words that follow, and
// where only some options may follow, each of these.
func (m Group) Commands() [][]string {
	var out [][]string
	for _, x := range groups[m] {
		for _, name := range x.names {
			starts := [][]string{{name}}
			for _, c := range x.commands {
				starts = append(starts, append([]string{name}, strings.Fields(c)...))
			}
			for _, s := range starts {
				out = append(out, s)
				for _, o := range x.options {
					out = append(out, append(slices.Clone(s), o))
				}
			}
		}
	}
	return out
}

func (m Group) match(q *question) answer {
	out := answer{}
	for _, x := range groups[m] {
		a := Command{x.names, x.commands}.match(q)
		if a.tri == no {
			continue
		}
		if x.alone {
			a.tri = both(a.tri, x.ends(q))
		}
		if x.bare {
			a.reach = len(q.part.Words) + 1
		}
		if a.tri > out.tri {
			out = a
		}
	}
	return out
}

// ends reports whether nothing but options of the member follows its command.
func (x member) ends(q *question) tri {
	at := q.part.First
	switch {
	case x.bare:
		at = 1
	case len(x.commands) > 0:
		at++
	}
	found := yes
	words := q.part.Words[min(at, len(q.part.Words)):]
	for i, w := range words {
		if i == 0 && slices.ContainsFunc(x.commands, func(c string) bool { return strings.HasSuffix(c, " "+w.Text) }) {
			continue
		}
		text := w.Text
		if x.bare {
			text = strings.TrimRight(text, "0123456789") // -j8, and -j 8
		}
		switch {
		case w.Form != shell.Literal:
			found = both(found, maybe)
		case x.bare && text == "" && i > 0 && words[i-1].Is("-j"):
		case !slices.Contains(x.options, text):
			found = no
		}
	}
	return found
}
