package allow

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Bounds are the places and operations of a policy that no addition is proposed for, each with its reason.
type Bounds struct{ *Policy }

// guard refuses places that no addition is on: those outside of the workspace, sensitive and
// protected ones.
// See decision D176.
func (b Bounds) guard(at ir.Location) error {
	name := at.Short()
	switch at.Root.Kind {
	case ir.Workspace:
	case ir.External:
		return refuse("%s lies in the mount %s: accessc mount changes what it grants", name, at.Root.Name)
	case ir.System:
		return refuse("%s lies outside of the workspace: accessc mount makes such a place reachable", name)
	case ir.Home, ir.Temp:
		return refuse("%s is the tool's own", name)
	default:
		return refuse("%s is no place of a rule", name)
	}
	if why := denial.Reserved(b.View, at); why != "" {
		return refuse("%s; if it is meant, write the rule yourself", why)
	}
	return resolve.CheckText(name)
}

// leads refuses a rule on a directory that leads to protected paths if it lets that directory be
// made anew, as a file or a symlink.
func (b Bounds) leads(r ir.FSRule) error {
	if why := denial.Leads(b.View, r); why != "" {
		return refuse("%s; if it is meant, write the rule yourself", why)
	}
	return nil
}

// Reserved is why no rule is proposed that lets the tool change a place which a file names, empty where one may be. The
// place is judged by its name and by where that leads.
// See decision D395.
func (b Bounds) Reserved(abs string) string {
	found, err := b.Now.Resolver.Disk.Follow(abs)
	if err != nil {
		return err.Error()
	}
	_, inside := resolve.Below(abs, b.Now.Resolver.Root)
	for _, name := range []string{abs, found.Abs} {
		rel, in := resolve.Below(name, b.Now.Resolver.Root)
		switch {
		case in:
			at := ir.In(strings.TrimPrefix(rel, "/"))
			if err := b.guard(at); err != nil {
				return err.Error()
			}
			if err := b.leads(ir.FSRule{At: at, Caps: ir.Write}); err != nil {
				return err.Error()
			}
		case inside:
			return "it leads out of the workspace, to " + name
		default:
			if why := b.placed(name, directory(name)); why != "" {
				return why
			}
			if b.startsPrograms(name) {
				return "programs that are not confined start what it says or holds"
			}
		}
		if special(name) {
			return "it is a socket, a device or a FIFO, behind which something outside of the sandbox may act"
		}
	}
	return ""
}

// outside is why nothing is proposed for a place outside of the workspace, empty where something
// is.
func (b Bounds) outside(abs string, dir bool) string {
	if _, _, deeper := strings.Cut(strings.TrimPrefix(abs, "/"), "/"); !deeper {
		return ofSystem
	}
	return b.placed(abs, dir)
}

const ofSystem = "it belongs to the system, of which the base grants what tools need"

// placed is outside for a place that a person or a file has named.
func (b Bounds) placed(abs string, dir bool) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(abs, "/"), "/")
	switch home := filepath.ToSlash(b.opts.Layers.Home); {
	case slices.Contains(denial.SystemDirectories(), first) || first == "":
		return ofSystem
	case dir && slices.Contains(roots(home), abs):
		return "a rule on all of " + abs + " is yours to write"
	case ir.Within(b.Now.Resolver.Root, abs):
		return "the workspace lies in it"
	case b.Now.Own(abs) != "":
		return "accessc trusts what lies there"
	case b.sensitiveAt(abs, home):
		return "it is sensitive or holds something that is; if it is meant, mount it yourself"
	}
	return ""
}

// roots are directories that hold everything of a user or of the system.
func roots(home string) []string {
	out := []string{
		"/home", "/root", "/Users", "/opt", "/srv", "/mnt", "/media", "/tmp",
		"/var", "/var/tmp", "/var/lib", "/var/cache", home,
	}
	for _, below := range []string{".config", ".local", ".local/share", ".local/state", ".local/bin", ".cache", "Library"} {
		out = append(out, path.Join(home, below))
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); dir != "" {
			out = append(out, path.Clean(filepath.ToSlash(dir)))
		}
	}
	return out
}

// sensitiveAt reports whether a place outside of the workspace is sensitive, holds something that
// is, or is too large to be looked through.
func (b Bounds) sensitiveAt(abs, home string) bool {
	for _, s := range credentials {
		if place := path.Join(home, s); home != "" &&
			(ir.Within(abs, place) || ir.Within(place, abs) && exists(place)) {
			return true
		}
	}
	for _, s := range b.Tool.Sensitive {
		if rest, ok := strings.CutPrefix(s.Pattern, "~/"); ok && home != "" {
			place := path.Join(home, strings.TrimSuffix(rest, "/"))
			if ir.Within(abs, place) || ir.Within(place, abs) {
				return true
			}
		}
	}
	const most = 10_000
	seen, found := 0, false
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, _ os.DirEntry, _ error) error {
		seen++
		rel := strings.TrimPrefix(filepath.ToSlash(name), "/")
		found = seen > most ||
			slices.ContainsFunc(b.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(rel) })
		if found {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// acts reports whether a directory of the workspace holds a socket or the like, or too much is in it to
// be looked at.
func (b Bounds) acts(dir ir.Location) bool {
	abs, ok := b.asker.Bindings.Path(dir)
	return !ok || holds(abs, acts)
}

// acts reports whether something outside of the sandbox may act behind a file.
func acts(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSocket|fs.ModeDevice|fs.ModeNamedPipe) != 0
}

// holds reports whether a place or something below it is of a kind, or too much is there to be looked
// at.
func holds(abs string, kind func(fs.FileInfo) bool) bool {
	const most = 10_000
	seen, found := 0, false
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(_ string, e fs.DirEntry, err error) error {
		seen++
		info, infoErr := fs.FileInfo(nil), err
		if err == nil {
			info, infoErr = e.Info()
		}
		if found = seen > most || infoErr == nil && kind(info); found {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// private reports whether not everyone on this system may read a file.
func private(info fs.FileInfo) bool {
	const others, listed = 0o004, 0o005
	if info.IsDir() {
		return info.Mode()&listed != listed
	}
	return info.Mode()&fs.ModeSymlink == 0 && info.Mode()&others == 0
}
