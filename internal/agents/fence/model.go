package fence

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/srt"
)

// Model are the settings of fence, as of version 0.1.66 (its docs/configuration.md). It holds the entries of
// denyRead against every other one; on macOS allowRead opens parts of them.
type Model struct {
	foreign.Host
	DenyRead, AllowRead, AllowWrite, DenyWrite []foreign.Spelled
	// DefaultDeny has nothing read but the listed places and the system's, Strict not even those.
	DefaultDeny, Strict           bool
	AllowedDomains, DeniedDomains []string
	// Denied are prefixes of commands, Unenforced those programs among them that processes of a command may start.
	Denied, Unenforced []string
	// Defaults adds fence's own list to them; Argv has processes held to all of a prefix.
	Defaults, Argv bool
}

// systemDirs are the directories that can be read under defaultDenyRead.
var systemDirs = []string{"/bin", "/etc", "/lib", "/lib64", "/nix", "/opt", "/run", "/sbin", "/snap", "/sys", "/usr"}

// fencePrograms and fenceLines are denied by fence itself, by programs and by more words.
var (
	fencePrograms = []string{
		"chroot", "fdisk", "halt", "insmod", "kexec", "mkfs", "mkfs.btrfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4",
		"mkfs.ntfs",
		"mkfs.vfat", "mkfs.xfs", "modprobe", "nsenter", "parted", "poweroff", "reboot", "rmmod", "shutdown", "unshare",
	}
	fenceLines = []string{
		"dd if=", "docker run --privileged", "docker run -v /:/", "init 0", "init 6", "systemctl halt",
		"systemctl poweroff", "systemctl reboot",
	}
)

// lists are the lists that fence has in common with srt.
func (f *Model) lists() *srt.Model {
	return &srt.Model{Host: f.Host, DenyRead: f.DenyRead, AllowWrite: plain(f.AllowWrite), DenyWrite: f.DenyWrite,
		AllowedDomains: f.AllowedDomains, DeniedDomains: f.DeniedDomains}
}

// plain leaves entries with alternatives in braces out.
func plain(list []foreign.Spelled) []foreign.Spelled {
	return slices.DeleteFunc(slices.Clone(list), func(e foreign.Spelled) bool { return strings.Contains(e.Path, "{") })
}

// Reads implements Policy.
func (f *Model) Reads(abs string) bool {
	s := f.lists()
	if !s.Reads(abs) {
		return false
	}
	if !f.DefaultDeny && !f.Strict {
		return true
	}
	if parts := foreign.Split(abs); len(parts) > 0 && !f.Exists("/"+parts[0]) {
		return true // there is no such directory, and no confined program could make it
	}
	listed := slices.ContainsFunc(plain(slices.Concat(f.AllowRead, f.AllowWrite)), func(e foreign.Spelled) bool {
		_, open := s.Opens(e, abs)
		return open
	})
	return listed || !f.Strict && slices.ContainsFunc(systemDirs,
		func(dir string) bool { return foreign.Under(abs, dir) })
}

// Writes implements Policy.
func (f *Model) Writes(abs string) bool {
	return f.Reads(abs) && f.lists().Writes(abs) && !f.obeyed(abs)
}

// obeyed reports whether a path is, or lies in, a name that is never written: in the home itself, and anywhere
// else where it exists.
func (f *Model) obeyed(abs string) bool {
	parts := foreign.Split(abs)
	for from := range parts {
		for _, name := range foreign.Startup {
			want := foreign.Split(name)
			if len(parts)-from < len(want) || !slices.Equal(parts[from:from+len(want)], want) {
				continue
			}
			dir := "/" + strings.Join(parts[:from], "/")
			if dir == f.Home || f.Exists(path.Join(dir, name)) {
				return true
			}
		}
	}
	return false
}

// Connects implements Policy. An entry has no port and is about all of them.
func (f *Model) Connects(host string, port uint16) bool { return f.lists().Connects(host, port) }

// Fetches implements Policy: fence confines commands alone.
func (f *Model) Fetches(string) bool { return false }

// Passes implements Policy: variables of the dynamic linker are taken away.
func (f *Model) Passes(name string) bool {
	return !strings.HasPrefix(name, "LD_") && !strings.HasPrefix(name, "DYLD_")
}

// all are the prefixes that are denied.
func (f *Model) all() []string {
	out := slices.Clone(f.Denied)
	if f.Defaults {
		out = slices.Concat(out, fencePrograms, fenceLines)
	}
	return out
}

// Runs implements Policy: of the first command, before it starts. Words may come between those of a prefix.
func (f *Model) Runs(line string) bool {
	words := strings.Fields(line)
	return len(words) == 0 || !slices.ContainsFunc(f.all(), func(prefix string) bool {
		want := strings.Fields(prefix)
		for _, w := range words {
			if len(want) > 0 && (path.Base(w) == path.Base(want[0]) || w == want[0] ||
				strings.HasSuffix(want[0], "=") && strings.HasPrefix(w, want[0])) {
				want = want[1:]
			}
		}
		return len(want) == 0
	})
}

// Starts implements Starter. A program of which a part is denied by its arguments counts as denied where fence looks
// at them.
func (f *Model) Starts(program string) bool {
	return !slices.ContainsFunc(f.all(), func(prefix string) bool {
		words := strings.Fields(prefix)
		return len(words) > 0 && path.Base(words[0]) == program &&
			(len(words) == 1 && !slices.Contains(f.Unenforced, program) || f.Argv)
	})
}

// Marks implements Policy.
func (f *Model) Marks() foreign.Marks {
	out := f.lists().Marks()
	out.Linux = f.DefaultDeny || f.Strict
	for _, e := range f.AllowRead {
		if p, plain := f.lists().Pattern(e); plain {
			out.Paths = append(out.Paths, p.String())
		}
	}
	for _, name := range foreign.Startup {
		out.Paths = append(out.Paths, path.Join(f.Home, name))
	}
	for _, prefix := range f.all() {
		out.Commands = append(out.Commands, prefix, prefix+" *")
		out.Programs = append(out.Programs, path.Base(strings.Fields(prefix + " -")[0]))
	}
	return out
}
