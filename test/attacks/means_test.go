//go:build linux

package attacks_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// byBubblewrap has the scenes that are played under bubblewrap, with the leaks that its ledger foresees. An empty gap stands for
// a line that is no leak there: a descriptor of access mode 3 neither reads nor writes (open(2)). See RATIONALE D289.
var byBubblewrap = map[string]map[string]string{
	"names and flags flip in memory":                 nil,
	"descriptors without a right":                    nil,
	"metadata of what may be read only":              {"access mode 3 succeeded": ""},
	"files without a name":                           {"linkat to .git/config": "fs.protected", ".git/config succeeded": "fs.protected", "rename to .git/config": "fs.protected"},
	"protected paths are brought into being":         {".": "fs.protected"},
	"symlinks and directories flip on the disk":      nil,
	"programs that may not start":                    {"a program started": "fs.execute", "a flipping name was started": "fs.execute"},
	"programs that are not listed":                   {"started by": "commands.program"},
	"calls of other tables":                          nil,
	"namespaces, mounts and rings":                   nil,
	"sockets of the user's":                          nil,
	"descriptors and working directories flip":       nil,
	"directories that the user replaces by symlinks": nil,
	"spellings of names":                             nil,
	"what may be written only, and moves that gain":  {"read by": "fs.write", "a program was carried": "fs.execute"},
	"a directory outside that was approved":          nil,
	"another run":                                    nil,
	"upper halves, handles and deep names":           nil,
	"names between all pairs of places":              nil,
	"copies of new programs":                         {"another program was started": "fs.execute", "a program without execute": "fs.execute"},
	"devices, owners and cores":                      nil,
}

// apartByBubblewrap are controls that move or link a file into another mount.
var apartByBubblewrap = []string{"linkat", "a move that loses"}

// notByBubblewrap has the scenes that say nothing there, with the reason.
var notByBubblewrap = map[string]string{
	"files of the user's where files may be made":      "fs.write: a directory is writable as a whole, and the host's part of the scene fails",
	"names of the user's where none may be made":       "fs.write",
	"files that may be deleted and not read":           "fs.write",
	"a rename over a name that the user takes away":    "fs.write",
	"a name that is deleted and renamed over at once":  "fs.write",
	"a rename to a name that the user takes meanwhile": "its control moves a file into another mount",
	"hard links": "its control moves a file into another mount",
	"names upwards from a directory that moves":                "its control moves a file into another mount",
	"the working directory is carried into an exception":       "the ledger assumes that no other process moves directories",
	"a directory that the user moves to and fro":               "the ledger assumes that no other process moves directories",
	"names that are not there yet":                             "fs.late, and the host's part of the scene fails",
	"a repository that the user makes":                         "fs.protected, and the host's part of the scene fails",
	"files that the user saves":                                "fs.replaced, and a start stops if a place is replaced meanwhile",
	"a closed name that the user removes":                      "fs.replaced, and a start stops if a place is replaced meanwhile",
	"the supervisor and other processes":                       "there is no supervisor, and the first process is of the sandbox",
	"filters and rulesets of the tool's own":                   "there is no supervisor that a listener of the tool's own could take calls from",
	"calls that wait, and limits at their end":                 "there is no supervisor to wear out",
	"more calls that wait than the supervisor answers at once": "there is no supervisor to wear out",
	"watches of names":                                         "the cover of a file can be watched, and says nothing",
}

// TestBubblewrap plays the attacks by calls and files under bubblewrap: they get what its ledger foresees, and nothing else.
func TestBubblewrap(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no bubblewrap")
	}
	var scenes []scene
	for _, s := range slices.Concat(fileScenes(), callScenes()) {
		leaks, played := byBubblewrap[s.name]
		if why := notByBubblewrap[s.name]; played == (why != "") {
			t.Errorf("the scene %q is to be played under bubblewrap, or to have a reason why not", s.name)
		}
		if played {
			s.means, s.leaks = "bubblewrap", leaks
			s.good = slices.DeleteFunc(s.good, func(g string) bool { return slices.Contains(apartByBubblewrap, g) })
			scenes = append(scenes, s)
		}
	}
	run(t, scenes)
}

// TestBubblewrapProcesses plays attacks on processes, limits and the network under bubblewrap.
func TestBubblewrapProcesses(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no bubblewrap")
	}
	bin := procBuild(t)
	var scenes []procScene
	for _, s := range slices.Concat(procHosts(), procSurvivors(), procLimits(), procNetwork()) {
		switch {
		case strings.HasPrefix(s.name, "other processes"): // they try the first one, which is of the sandbox
		case s.name == "one address", s.name == "connections that wait": // nothing is reached
		default:
			s.means = "bubblewrap"
			scenes = append(scenes, s)
		}
	}
	procRun(t, bin, scenes)
}

// TestBubblewrapDescriptors: a directory as a standard descriptor leads to the host's mounts, and is refused. A file there is opened anew
// with all rights, which the ledger assumes to be fine; a pipe is not.
func TestBubblewrapDescriptors(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no bubblewrap")
	}
	for user, uid := range procUsers() {
		t.Run(user, func(t *testing.T) {
			s := scene{means: "bubblewrap", toml: granted, tool: "#!/bin/sh\ncat /proc/self/fd/[012]/private 2>/dev/null && echo LEAK\n" +
				"{ echo changed >>/proc/self/fd/0; } 2>/dev/null && echo did || echo refused\n"}
			p := newPlace(t, s, accessc(t), uid)
			p.write(p.outside+"/input", "before\n")
			start := func(n, flags int, name string) string {
				fd, err := syscall.Open(name, flags|syscall.O_CLOEXEC, 0)
				if err != nil {
					t.Fatal(err)
				}
				f := os.NewFile(uintptr(fd), name)
				defer f.Close()
				cmd, out := p.starting(t.Context(), s), strings.Builder{}
				cmd.Stdout, cmd.Stderr = &out, &out
				switch n {
				case 0:
					cmd.Stdin = f
				case 1:
					cmd.Stdout = f
				case 2:
					cmd.Stderr = f
				}
				err = cmd.Run()
				if strings.Contains(out.String(), "LEAK") || strings.Contains(out.String(), secret) {
					t.Errorf("descriptor %d, %s: %s", n, name, out.String())
				}
				if flags != syscall.O_RDONLY && cmd.ProcessState.ExitCode() != 125 {
					t.Errorf("descriptor %d, %s: %v %s", n, name, err, out.String())
				}
				return out.String()
			}
			for n := range 3 {
				for _, flags := range []int{syscall.O_DIRECTORY, syscall.O_DIRECTORY | 0o10000000 /* O_PATH */} {
					start(n, flags, p.outside)
				}
			}
			if out := start(0, syscall.O_RDONLY, p.outside+"/input"); !strings.Contains(out, "did") {
				t.Errorf("the ledger assumes more than it has to: %s", out)
			}
		})
	}
}

// foreseen reports whether a line is about a leak that the ledger foresees.
func (s scene) foreseen(line string) bool {
	rest, ok := strings.CutPrefix(line, "LEAK ")
	for leak := range s.leaks {
		if ok && strings.HasPrefix(rest, leak) {
			return true
		}
	}
	return false
}

// gapLine is a line of a start that was refused.
var gapLine = regexp.MustCompile(`(?m)^  ([a-z]+\.[a-z_]+) `)

// gapsOf are the gaps that a refused start names.
func gapsOf(text string) (gaps []string) {
	for _, m := range gapLine.FindAllStringSubmatch(text, -1) {
		gaps = append(gaps, m[1])
	}
	return gaps
}

func accepting(gaps []string) (flags []string) {
	for _, g := range gaps {
		flags = append(flags, "--accept", g)
	}
	return flags
}

// accepting are the flags that accept the gaps of a scene's policy, and no others. Each leak that the scene expects must be
// one of them.
func (p *place) accepting(s scene) []string {
	out, err := p.command(p.t.Context(), "exec", "-C", p.ws, "--no-prompt", "--means", s.means, "t").CombinedOutput()
	gaps := gapsOf(string(out))
	if err == nil {
		p.t.Errorf("a start that accepts nothing is not refused\n%s", out)
	}
	for leak, gap := range s.leaks {
		if gap != "" && !slices.Contains(gaps, gap) {
			p.t.Errorf("%s is under the gap %s, and the start names %v", leak, gap, gaps)
		}
	}
	return accepting(gaps)
}
