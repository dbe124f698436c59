//go:build linux

package attacks_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// TestCalls plays attacks by calls beside those that open, make and move files.
func TestCalls(t *testing.T) { run(t, callScenes()) }

func callScenes() []scene {
	return []scene{
		{
			// Landlock has no right for watches: they were left to the kernel.
			name:    "watches of names",
			denied:  []string{"read secrets", "read .env", "read /tmp", "read /"},
			allowed: []string{"read src"},
			tool:    "watch",
			good:    []string{"watch"},
		},
		{
			name:    "filters and rulesets of the tool's own",
			denied:  []string{"read secrets/k", "read .env"},
			allowed: []string{"read src/a"},
			tool:    "ownfilter",
			good:    []string{"read"},
		},
		{
			name:    "upper halves, handles and deep names",
			denied:  []string{"read secrets/k", "read .env"},
			allowed: []string{"read src/a"},
			tool:    "halves",
			good:    []string{"read"},
		},
		{
			name:    "a closed name that the user removes",
			setup:   func(p *place) { p.mkdir("late") },
			denied:  []string{"read late/.env", "update late/.env", "link late/.env src/l"},
			allowed: []string{"create src/f"},
			tool:    "removed",
			host:    remove,
			good:    []string{"a file that has lost its name"},
		},
		{
			name:    "names between all pairs of places",
			setup:   pairs,
			denied:  []string{"rename secrets/f3 src/t", "link gen/f0 src/t", "rename src/f3 bin/t"},
			allowed: []string{"rename src/f3 gen/out/t"},
			tool:    "pairs",
			good:    []string{"moves"},
		},
		{
			name: "copies of new programs",
			toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = "new", read = true, write = true, execute = true },
  { path = "new/closed" },
]`,
			setup: func(p *place) {
				p.mkdir("new")
				p.write("closed/evil", "#!/bin/sh\nexit 42\n")
				p.must(os.Chmod(p.path("closed/evil"), 0o755))
			},
			denied:  []string{"execute closed/evil", "rename closed/evil new/e"},
			allowed: []string{"create new/p", "execute new/p"},
			tool:    "copies",
			good:    []string{"a program that is new"},
		},
		{
			name:    "devices, owners and cores",
			setup:   func(p *place) { p.mkdir("src") },
			denied:  []string{"create gen/core", "create secrets/core"},
			allowed: []string{"create src/own"},
			tool:    "owner",
			root:    true,
			good:    []string{"a file of its own"},
			verdict: func(t *testing.T, p *place, _ string) {
				only("gen", "f", "out")(t, p, "")
				only("kept", "f")(t, p, "")
			},
		},
	}
}

// remove makes a file of a closed name and takes the name away again.
func remove(p *place, stop <-chan struct{}) {
	name := p.path("late/.env")
	until(stop, func(int) {
		p.save("late/tmp", "late/.env", secret)
		os.Remove(name)
	})
	os.Remove(p.path("late/tmp"))
}

// pairs makes the files that are moved.
func pairs(p *place) {
	for _, dir := range []string{"src", "gen", "gen/out", "secrets", "secrets/open", "inbox", "kept", "bin", "."} {
		for i := range 6 {
			name := fmt.Sprintf("%s/f%d", dir, i)
			p.write(name, "#!/bin/true\n")
			p.must(os.Chmod(p.path(name), 0o755))
		}
	}
}

// TestCleaner: the process that removes the private directory of a run follows no symlink that a process of
// the tool puts there meanwhile.
func TestCleaner(t *testing.T) {
	victim := func(p *place) string { return p.outside + "/victim" }
	run(t, []scene{{
		name: "a process that is left exchanges directories",
		toml: `
access.accept = ["fs.metadata"]
access.fs = [{ path = ".", read = true, execute = true }]`,
		setup: func(p *place) {
			p.write("victim", victim(p))
			for i := range 20 {
				p.write(fmt.Sprintf("%s/f%d", victim(p), i), "fine")
			}
		},
		denied:  []string{"delete %/victim/f0"},
		allowed: []string{"read bin/tool"},
		tool:    "cleaner",
		good:    []string{"files to remove"},
		tmp:     true,
		verdict: func(t *testing.T, p *place, _ string) {
			await.Until(t, "the process that is left and the one that removes the directory have ended", func() bool {
				return len(p.busy()) == 0
			})
			if list, _ := os.ReadDir(victim(p)); len(list) != 20 {
				t.Errorf("%d of 20 files are left", len(list))
			}
		},
	}})
}

// TestModesInMemory: no call makes a file that runs as its owner, which another user could start.
func TestModesInMemory(t *testing.T) {
	run(t, []scene{{
		name: "openat2 whose mode changes",
		toml: `access.fs = [{ path = ".", read = true, write = true, execute = true }]`,
		// The directory that the file is moved to.
		setup: func(p *place) { p.write("src/a", "fine") },
		tool:  "setid",
		good:  []string{"tries"},
	}})
}
