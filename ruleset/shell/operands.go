package shell

import (
	"slices"
	"strings"
)

// always doubts every operand.
func always(string) bool { return true }

// otherHost doubts names that tar takes for names of another host.
func otherHost(s string) bool { return strings.Contains(s, ":") }

// outside doubts names that may be of another project, the code of which would run.
func outside(s string) bool {
	return strings.HasPrefix(s, "/") || slices.Contains(strings.Split(s, "/"), "..")
}

// label doubts names that are neither a label of the workspace nor below the directory.
func label(s string) bool { return strings.HasPrefix(s, "@") || outside(strings.TrimPrefix(s, "//")) }

// globbed doubts names outside as well, and patterns that the program expands itself.
func globbed(s string) bool { return given(s) || strings.ContainsAny(s, patterns) }

// local doubts names outside, patterns and addresses.
func local(s string) bool { return globbed(s) || strings.Contains(s, ":") }

// near doubts names outside, and addresses.
func near(s string) bool { return outside(s) || strings.Contains(s, ":") }

// given doubts names outside as well, and names of files with further arguments.
func given(s string) bool { return outside(s) || strings.HasPrefix(s, "@") }

// fetched doubts packages of a version, which go fetches and puts where the shell may look.
func fetched(s string) bool { return outside(s) || strings.Contains(s, "@") }

// dotted doubts names with a part that begins with a dot, such as .git: the files in such a
// directory have a meaning.
func dotted(s string) bool {
	return slices.ContainsFunc(strings.Split(s, "/"), func(e string) bool {
		return strings.HasPrefix(e, ".") && e != "." && e != ".."
	})
}

// transport doubts names for git that choose a program, or an option of ssh.
func transport(s string) bool {
	return strings.Contains(s, "::") || strings.Contains(s, "://-") ||
		strings.HasPrefix(s, "-") && strings.Contains(s, ":")
}

// foreign doubts names of repositories outside or in .git, and those that choose a program.
func foreign(s string) bool { return transport(s) || outside(s) || dotted(s) }

// remote reports whether git pushes to another host by this name, or to a configured host. In a repository on this host
// it would run the hooks.
func remote(_ int, s string) bool {
	scheme, _, url := strings.Cut(s, "://")
	host, _, scp := strings.Cut(s, ":")
	switch {
	case url:
		return scheme == "https" || scheme == "ssh" || scheme == "git" || scheme == "http"
	case scp:
		return len(host) > 1 && !strings.Contains(host, "/") // C: is a drive
	}
	return !strings.Contains(s, "/") && !strings.HasPrefix(s, ".")
}

// unpublished doubts names for which npm asks git or the disk.
func unpublished(s string) bool {
	rest, scoped := strings.CutPrefix(s, "@")
	if scoped {
		_, rest, _ = strings.Cut(rest, "/")
	}
	return strings.ContainsAny(rest, ":/\\") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "~")
}

// unnamed doubts what npm takes for another thing than the name of a package in a registry: an address, a directory, an
// archive.
func unnamed(s string) bool { return unpublished(s) || archived(s) }

// distribution doubts what pip takes for another thing, too, save the project itself.
func distribution(s string) bool {
	own := s == "." || strings.HasPrefix(s, ".[") && strings.HasSuffix(s, "]")
	return !own && (strings.ContainsAny(s, ":/@\\") || strings.HasPrefix(s, ".") || archived(s))
}

// unpacked are the names that a program may give to what it takes out of a file.
func unpacked(name string) []string {
	var out []string
	for end, left := range map[string]string{
		".gz": "", "-gz": "", ".z": "", "-z": "", "_z": "", ".Z": "", ".tgz": ".tar", ".taz": ".tar",
		".bz2": "", ".bz": "", ".tbz2": ".tar", ".tbz": ".tar", ".xz": "", ".lzma": "", ".txz": ".tar", ".tlz": ".tar",
	} {
		if short, ok := strings.CutSuffix(name, end); ok {
			out = append(out, short+left)
		}
	}
	slices.Sort(out)
	return out
}

// archived reports whether a name names an archive.
func archived(s string) bool {
	ends := []string{".tgz", ".tar", ".gz", ".bz2", ".xz", ".zip", ".whl", ".egg"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(strings.ToLower(s), end) })
}

// each gives several subcommands the same entry.
func each(e entry, names string) map[string]entry {
	out := map[string]entry{}
	for name := range strings.FieldsSeq(names) {
		out[name] = e
	}
	return out
}
