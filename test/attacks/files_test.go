//go:build linux

package attacks_test

import (
	"os"
	"strings"
	"testing"
)

// workspace is the policy of most scenes: exceptions inside grants, grants inside exceptions,
// and directories with one right each.
const workspace = `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = ".env" },
  { path = "secrets" },
  { path = "secrets/open", read = true },
  { path = "gen", read = true },
  { path = "gen/out", read = true, write = true },
  { path = "inbox", read = true, create = true },
  { path = "kept", read = true },
  { path = "late/.env" },
]
`

// standing is a policy where names of std may be changed and none made or removed.
const standing = `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "std", read = true, update = true },
]`

func TestFiles(t *testing.T) { run(t, fileScenes()) }

func fileScenes() []scene {
	return []scene{
		{
			name:    "names and flags flip in memory",
			denied:  []string{"read .env", "update .env", "read secrets/k", "update gen/f", "link .env src/l", "rename .env src/m"},
			allowed: []string{"read src/a", "update src/a", "link src/a src/l", "rename src/a src/m"},
			tool:    "flip",
			good:    []string{"read", "opens while flipping"},
		},
		{
			name:    "descriptors without a right",
			denied:  []string{"read .env", "read secrets/k", "read secrets", "read %/private", "link .env src/l1", "update .env"},
			allowed: []string{"read src/a", "read secrets/open/f"},
			tool:    "descriptors",
			good:    []string{"O_PATH", "read by /proc/self/cwd", "read below an exception"},
		},
		{
			name:    "metadata of what may be read only",
			denied:  []string{"update gen/f", "update kept/f", "update secrets/k", "update .env", "update bin/tool", "update accessc.toml", "update gen", "update secrets"},
			allowed: []string{"update src/a", "read gen/f"},
			tool:    "metadata",
			root:    true,
			good:    []string{"open", "metadata"},
		},
		{
			name: "files without a name",
			denied: []string{"create gen/evil", "create secrets/evil", "create secrets/open/evil", "create bin/evil", "create late/.env", "create .git/config",
				"create .git/hooks/pre-commit", "create .accessc/local.toml", "create %/evil", "create kept/evil", "execute src/given", "create .jp/config.toml"},
			allowed: []string{"create src/given", "read gen/f"},
			tool:    "tmpfile",
			good:    []string{"linkat", "create", "read"},
		},
		{
			name: "protected paths are brought into being",
			denied: []string{"create .git/config", "create .git/hooks/pre-commit", "create .accessc/local.toml", "create .jp/config.toml",
				"create .vscode/tasks.json", "create .github/workflows/x.yml", "update accessc.toml", "rename src .git"},
			allowed: []string{"create src/fine", "create src/x/config"},
			tool:    "protected",
			good:    []string{"create", "a lookalike"},
		},
		{
			name:    "symlinks and directories flip on the disk",
			denied:  []string{"read .env", "read secrets/k", "update gen/f", "create bin/new", "read %/private", "create %/new"},
			allowed: []string{"read src/a", "rename src/l src/m"},
			tool:    "links",
			good:    []string{"opens through symlinks"},
			verdict: noneIn("secrets/open"),
		},
		{
			name:    "files of the user's where files may be made",
			denied:  []string{"update inbox/old", "delete inbox/old", "rename src/a inbox/old"},
			allowed: []string{"create inbox/f0", "rename src/a inbox/f0", "read inbox/old"},
			tool:    "inbox",
			host:    deliver,
			good:    []string{"create", "create and fill", "read"},
		},
		{
			name: "names of the user's where none may be made",
			toml: standing,
			setup: func(p *place) {
				p.write("std/f", "fine")
				p.write("src/a", "fine")
				p.symlink("../std", "src/viastd")
			},
			denied:  []string{"create std/new", "delete std/f", "rename src/a std/new"},
			allowed: []string{"update std/f", "create src/f"},
			tool:    "standing",
			host:    vanish,
			good:    []string{"update"},
			verdict: noneIn("std"),
		},
		{
			name: "the working directory is carried into an exception",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "deep/b" },
]`,
			setup: func(p *place) {
				p.write("deep/a/x/y/f", "fine")
				p.write("deep/b/came", "fine")
				p.write("src/a", "fine")
				p.fifo("src/moved")
			},
			denied:  []string{"read deep/b/x/k", "create deep/b/x/new", "delete deep/b/x/k", "update deep/b/x/k"},
			allowed: []string{"read deep/a/came", "create deep/a/made"},
			tool:    "swap",
			host:    carry,
			good:    []string{"what was moved into the grant", "create"},
			verdict: noneIn("deep/b/y"),
		},
		{
			name:    "names that are not there yet",
			denied:  []string{"read late/.env", "create late/.env", "rename late src/away", "exchange src/d late"},
			allowed: []string{"create late/", "create late/other"},
			tool:    "late",
			host:    belate,
			good:    []string{"create beside a late name"},
		},
		{
			name:    "programs that may not start",
			setup:   programs,
			denied:  []string{"execute src/ev", "create bin/hl", "rename src/sh bin/sh", "rename bin src/b", "exchange src bin", "update bin/ok"},
			allowed: []string{"execute bin/ok", "create src/ev", "link src/ev src/hl"},
			tool:    "start",
			good:    []string{"start"},
		},
		{
			name: "programs that are not listed",
			toml: `
access.commands = { true = { args = [[]] }, "bin/tool" = {} }
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
]`,
			setup:   func(p *place) { p.write("src/a", "fine") },
			denied:  []string{"run cat src/marker", "run /bin/cat src/marker", "run true --help", "run sh -c exit", "run env cat src/marker"},
			allowed: []string{"run true"},
			tool:    "listed",
			good:    []string{"a listed program"},
		},
		{
			name:    "hard links",
			setup:   programs,
			denied:  []string{"link .env src/l", "link secrets/k src/l", "link %/private src/l", "rename gen/out src/out", "rename gen src/gen", "rename secrets/open src/open", "exchange gen/out/f gen/f", "update gen/f", "update bin/ok", "exchange src secrets"},
			allowed: []string{"link src/a src/b", "link gen/out/f gen/out/g", "rename gen/out/f src/moved"},
			tool:    "hard",
			good:    []string{"link", "link below", "rename between grants"},
		},
		{
			name:    "calls of other tables",
			denied:  []string{"read .env", "update gen/f", "create gen/evil", "execute src/sh", "delete .env"},
			allowed: []string{"read src/a"},
			tool:    "abi",
			good:    []string{"read"},
		},
		{
			name:    "namespaces, mounts and rings",
			denied:  []string{"read .env", "read secrets", "read secrets/k", "update gen/f", "rename secrets src/s"},
			allowed: []string{"read src/a"},
			tool:    "spaces",
			root:    true,
			good:    []string{"read"},
		},
		{
			name: "sockets of the user's",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = ".env" },
  { path = "secrets" },
  { path = "gen", read = true },
  { path = "user", read = true },
  { path = "late/.env" },
]`,
			setup: func(p *place) {
				p.write("src/a", "fine")
				p.mkdir("user")
				p.mkdir("gen")
				p.mkdir("secrets")
				p.mkdir("late")
			},
			denied:  []string{"dial user/st", "dial user/dg", "dial %/st", "create gen/s", "create .env", "create secrets/s"},
			allowed: []string{"read src/a", "create src/own"},
			tool:    "sockets",
			host:    listen,
			good:    []string{"read", "socketpair"},
			verdict: noneIn("gen", "secrets"),
		},
		{
			name:    "the supervisor and other processes",
			denied:  []string{"read .env", "read secrets/k", "read /proc/1/environ", "read /proc/1/mem"},
			allowed: []string{"read src/a", "create src/after"},
			tool:    "supervisor",
			good:    []string{"create", "own signals"},
		},
		{
			name:    "calls that wait, and limits at their end",
			denied:  []string{"read .env", "update gen/f", "update secrets/k", "rename secrets src/s", "link secrets/k src/k"},
			allowed: []string{"read src/a", "create src/new"},
			tool:    "exhaust",
			good:    []string{"read under load", "create under load", "read and create afterwards"},
		},
		{
			name:    "descriptors and working directories flip",
			denied:  []string{"read secrets/k", "update gen/f", "create secrets/n", "delete secrets/k", "link gen/f src/d/l2"},
			allowed: []string{"read src/a", "update src/a", "read src/d/k", "create src/d/n"},
			tool:    "fdflip",
			good:    []string{"opens"},
			verdict: only("secrets", "k", "open"),
		},
		{
			name:    "files that the user saves",
			denied:  []string{"read .env", "read secrets/k", "read secrets/fresh/k", "update gen/f", "delete .env", "rename src/new gen/f", "link secrets/k src/k"},
			allowed: []string{"read src/a", "read gen/f"},
			tool:    "editor",
			host:    edit,
			good:    []string{"read what the user saves"},
		},
		{
			name: "directories that the user replaces by symlinks",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "secrets" },
  { path = "work", read = true, write = true },
]`,
			setup: func(p *place) {
				p.write("work/f", "fine")
				p.write("secrets/k", secret)
				p.write("secrets/private", secret)
				p.mkdir("src")
				p.symlink(p.outside, "to-outside")
				p.symlink("secrets", "to-secrets")
			},
			denied:  []string{"read %/private", "create %/made", "read secrets/k", "create secrets/made"},
			allowed: []string{"read work/f", "create work/made"},
			tool:    "relink",
			host:    relink,
			good:    []string{"use of the directory"},
			verdict: func(t *testing.T, p *place, s string) {
				only("secrets", "k", "private")(t, p, s)
				only(p.outside, "private")(t, p, s)
			},
		},
		{
			name:    "spellings of names",
			denied:  []string{"read .env", "read secrets/k", "update .env", "delete .env", "rename .env src/r"},
			allowed: []string{"read src/a", "create src/x"},
			tool:    "names",
			good:    []string{"reopen of its own unlinked file", "strange names", "read"},
		},
		{
			name:    "names upwards from a directory that moves",
			denied:  []string{"update gen/f", "create gen/new", "delete gen/f", "read secrets/k"},
			allowed: []string{"update src/f", "rename src/x gen/out/p", "create src/new"},
			tool:    "dotdot",
			good:    []string{"update by ..", "move"},
			verdict: only("gen", "f", "out"),
		},
		{
			name: "a directory that the user moves to and fro",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "deep/b" },
]`,
			setup: func(p *place) {
				p.write("deep/a/x/f", "fine")
				p.mkdir("deep/a/x/y")
				p.mkdir("deep/b")
				p.mkdir("src")
			},
			denied:  []string{"read deep/b/x/k", "delete deep/b/x/k", "link deep/b/x/k src/l", "read deep/b"},
			allowed: []string{"read deep/a/x/f"},
			tool:    "carousel",
			host:    turn,
			good:    []string{"read while it is granted"},
		},
		{
			name: "what may be written only, and moves that gain",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "drop", create = true, update = true },
  { path = "trash", delete = true },
  { path = "gen", read = true },
]`,
			setup: func(p *place) {
				for _, name := range []string{"drop/k", "drop/sub/k", "trash/k", "trash/sub/k"} {
					p.write(name, secret)
				}
				p.write("trash/other", "")
				p.write("gen/f", "fine")
				p.write("src/a", "fine")
			},
			denied:  []string{"read drop/k", "rename drop/k src/got", "link drop/k src/got", "rename trash/k src/got", "rename trash/sub src/got", "read trash/k", "execute src/prog"},
			allowed: []string{"update drop/k", "create drop/mine", "rename src/a drop/given", "delete trash/other"},
			tool:    "gains",
			good:    []string{"write only", "delete", "create", "a move that loses"},
		},
		{
			name:    "a repository that the user makes",
			denied:  []string{"create .git/config", "create .git/hooks/pre-commit", "rename .git src/mine", "rename src/g .git", "exchange src/g .git"},
			allowed: []string{"create .git/description"},
			tool:    "gitinit",
			host:    initialize,
			good:    []string{"create beside what is protected"},
		},
		{
			name: "a directory outside that was approved",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "fork", external = true, read = true, write = true },
  { path = "fork/.env", external = true },
  { path = "fork/ro", external = true, read = true },
  { path = "fork/sub/.env", external = true },
]`,
			setup: func(p *place) {
				for _, name := range []string{"/fork/.env", "/fork/sub/.env", "/other/private"} {
					p.write(p.outside+name, secret)
				}
				p.write(p.outside+"/fork/f", "fine")
				p.write(p.outside+"/other/f", "fine")
				p.write(p.outside+"/fork/ro/f", "fine")
				p.symlink(p.outside+"/fork", "fork")
				p.mkdir("src")
				p.approve("fork")
			},
			denied:  []string{"read fork/.env", "read %/fork/.env", "read %/private", "read %/other/private", "update fork/ro/f", "rename fork/sub fork/sub2"},
			allowed: []string{"read fork/f", "create fork/made"},
			tool:    "external",
			host:    redirect,
			good:    []string{"read of the target"},
			verdict: only("../outside/other", "private", "f"),
		},
		{
			name: "another run",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
]
[tools.u]
source = "local"
command = "bin/other"
[[tools.u.access.fs]]
path = "bin"
read = true
execute = true
`,
			setup: func(p *place) {
				p.write("src/a", "fine")
				p.fifo("src/go")
				p.write("bin/other", "#!/bin/sh\necho "+secret+" >$HOME/x\necho "+secret+" >$TMPDIR/x\necho "+secret+
					" >/dev/shm/accessc-attack\necho \"$HOME\n$TMPDIR\"\nread end\n")
				p.must(os.Chmod(p.path("bin/other"), 0o755))
			},
			denied:  []string{"update bin/other", "read /tmp"},
			allowed: []string{"read src/a"},
			tool:    "runs",
			host:    beside,
			good:    []string{"paths", "its own temporary directory", "its own shared memory"},
		},
		{
			name:    "a rename to a name that the user takes meanwhile",
			denied:  []string{"update inbox/old", "delete inbox/old", "rename src/a inbox/old"},
			allowed: []string{"rename src/a inbox/f0", "create inbox/f0"},
			tool:    "overtaken",
			host:    deliver,
			good:    []string{"rename"},
		},
		{
			name: "files that may be deleted and not read",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "tok", delete = true },
  { path = "trash", delete = true },
]`,
			setup: func(p *place) {
				for _, name := range []string{"tok", "trash/k", "trash/r", "trash/sub/k", "trash/open/k", "trash/dir/k"} {
					p.write(name, secret)
				}
				p.mkdir("src")
			},
			denied:  []string{"read tok", "update tok", "read trash/k", "link tok src/l", "rename src/n trash/r"},
			allowed: []string{"delete tok", "delete trash/k", "create src/own"},
			tool:    "discard",
			host: func(p *place, _ <-chan struct{}) {
				p.forget("tok", "trash/k", "trash/sub/k", "trash/open/k", "trash/dir/k")
			},
			good: []string{"delete", "its own deleted file"},
		},
		{
			name:    "more calls that wait than the supervisor answers at once",
			denied:  []string{"read .env", "update gen/f"},
			allowed: []string{"read src/a", "create src/new"},
			tool:    "exhaust",
			args:    []string{"200"},
			good:    []string{"read under load", "create under load", "read and create afterwards"},
		},
		{
			name:    "a rename over a name that the user takes away",
			toml:    standing,
			setup:   func(p *place) { p.write("std/f", "fine"); p.write("src/x", "tool") },
			denied:  []string{"create std/new", "rename src/x std/new", "delete std/f"},
			allowed: []string{"update std/f", "rename src/x std/f"},
			tool:    "vacated",
			host:    vanish,
			good:    []string{"rename over"},
		},
		{
			name:    "a name that is deleted and renamed over at once",
			toml:    strings.Replace(standing, "update = true }", "update = true, delete = true }", 1),
			setup:   func(p *place) { p.write("std/f", "fine"); p.write("src/a", "fine") },
			denied:  []string{"create std/new", "rename src/a std/new"},
			allowed: []string{"delete std/f", "rename src/a std/f"},
			tool:    "revive",
			good:    []string{"delete"},
		},
	}
}
