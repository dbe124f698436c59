//go:build linux

package attacks_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A fate says how a scene ends where mounts confine the tool, or why it is not played there.
type fate struct {
	leaks leaks
	// root are further ones of root.
	root leaks
	// without are controls that mounts refuse, as the ledger says.
	without []string
	not     string
}

// fates are those of one scene: by bubblewrap, by firejail, and in containers without accessc.
type fates struct{ bubblewrap, firejail, containers fate }

func everywhere(f fate) fates { return fates{f, f, f} }

func not(why string) fates { return everywhere(fate{not: why}) }

// Why scenes about files are not played, and then the cells of their policies under which mounts leak.
const (
	late     = "fs.late, and the host's part of the scene fails"
	write    = "fs.write: a directory is writable as a whole, and the host's part of the scene fails"
	replaced = "fs.replaced, and a start stops if a place is replaced meanwhile"
	moves    = "the ledger assumes that no other process moves directories"
	apart    = "its control moves a file into another mount"
	alone    = "there is no supervisor to wear out"

	made      = "fs default create fs.default"
	changed   = "fs default update fs.default"
	protected = "fs protected create fs.protected"
	starts    = "fs fs[0] execute fs.execute"
	connects  = "fs fs[5] socket fs.socket"
	listed    = "commands default program commands.program"
)

// byFile has the fates of the attacks by calls and files, and byProcess those of the attacks on processes, by the beginnings of their names. See
// decision D170.
//
// Some lines are no leaks. A descriptor of access mode 3 neither reads nor writes (open(2)). A cover can be opened and listed: by root under
// firejail, and under runc, which gives it the mode of the directory. The directory /tmp around the workspace is the tool's own in a container. firejail's
// filter permits rings, which see the same mounts, nodes of devices that open nothing, and set-user-ID bits (docs/targets.md).
var byFile = map[string]fates{
	"names and flags flip in memory": everywhere(fate{}),
	"descriptors without a right":    {firejail: fate{without: []string{"read below an exception"}}},
	"metadata of what may be read only": {
		fate{leaks: leaks{"access mode 3 of": ""}},
		fate{leaks: leaks{"access mode 3 of": ""}, root: leaks{"creat of ../outside": made, "O_RDONLY|O_TRUNC of ../outside": changed,
			"append of ../outside": changed, "O_CREAT of ../outside": changed, "../outside changed": "fs default metadata fs.default"}},
		fate{leaks: leaks{"access mode 3 of": ""}, root: leaks{"creat of ../outside": "", "O_RDONLY|O_TRUNC of ../outside": "",
			"append of ../outside": "", "O_CREAT of ../outside": "", "../outside changed": ""}},
	},
	"files without a name": {
		fate{leaks: nameless, without: []string{"linkat"}},
		fate{leaks: nameless, without: []string{"linkat"}, root: leaks{"mkdir ../outside": made, "O_TMPFILE in ..": made, "symlink to ../outside/evil": made}},
		fate{leaks: nameless, without: []string{"linkat"}, root: leaks{"mkdir ../outside": "", "O_TMPFILE in ..": "", "symlink to ../outside/evil": ""}},
	},
	"protected paths are brought into being":         everywhere(fate{leaks: leaks{".": protected}}),
	"symlinks and directories flip on the disk":      everywhere(fate{}),
	"descriptors and working directories flip":       everywhere(fate{}),
	"directories that the user replaces by symlinks": everywhere(fate{}),
	"spellings of names":                             everywhere(fate{}),
	"upper halves, handles and deep names":           everywhere(fate{}),
	"names between all pairs of places":              everywhere(fate{}),
	"hard links":                                     everywhere(fate{without: []string{"rename between grants"}}),
	"programs that may not start": {
		bubblewrap: fate{leaks: leaks{"a program started": starts, "a flipping name was started": starts}},
		firejail:   fate{leaks: leaks{"a program started": starts, "a flipping name was started": starts}},
	},
	"programs that are not listed": everywhere(fate{leaks: leaks{"started by": listed}}),
	"calls of other tables":        {firejail: fate{leaks: leaks{"started": starts}, root: leaks{"32-bit call": ""}}},
	"namespaces, mounts and rings": {
		firejail:   fate{leaks: leaks{"io_uring_setup": ""}, root: leaks{"a listing of secrets": "", "opening secrets": ""}},
		containers: fate{leaks: leaks{"a listing of secrets": "", "opening secrets": ""}},
	},
	"sockets of the user's": {firejail: fate{leaks: leaks{"connect to": connects, "sendto": connects, "sendmsg of a pair": connects, "sendmmsg of a pair": connects,
		"connect of a pair": connects, "user/st heard": connects, "user/dg heard": connects, "bind to .env": "fs fs[2] create fs.late",
		"bind to late/.env": "fs fs[6] create fs.late", "a datagram socket of": "", "a raw socket of": ""}}},
	"what may be written only, and moves that gain": {
		fate{leaks: leaks{"read by": "fs fs[2] read fs.write", "a program was carried": starts}, without: []string{"a move that loses"}},
		fate{leaks: leaks{"read by": "fs fs[2] read fs.write", "a program was carried": starts, "drop/": "fs fs[2] move fs.move", "trash/": "fs fs[3] move fs.move",
			"ws/drop/": "fs fs[2] move fs.move", "ws/trash/": "fs fs[3] move fs.move", "ws/src/got": "fs fs[3] move fs.move"}},
		fate{leaks: leaks{"read by": "fs fs[2] read fs.write"}, without: []string{"a move that loses"}},
	},
	"a directory outside that was approved": {firejail: fate{leaks: leaks{"outside/fork/sub/": "fs fs[2] move fs.move", "outside/fork/sub2/": "fs fs[2] move fs.move"}}},
	"another run": {
		firejail:   fate{root: leaks{"%/home/.state/accessc/workspaces/": made}},
		containers: fate{root: leaks{"%/home/.state/accessc/workspaces/": ""}},
	},
	"copies of new programs": {
		bubblewrap: fate{leaks: leaks{"another program was started": starts, "a program without execute": starts}},
		firejail: fate{leaks: leaks{"another program was started": starts, "a program without execute": starts,
			"a move that gains execute": "fs fs[0] move fs.move"}},
	},
	"devices, owners and cores": {firejail: fate{leaks: leaks{"a program that runs as its owner": "", "a device 0": ""}}},

	"files of the user's where files may be made":              not(write),
	"names of the user's where none may be made":               not(write),
	"files that may be deleted and not read":                   not(write),
	"a rename over a name that the user takes away":            not(write),
	"a name that is deleted and renamed over at once":          not(write),
	"a rename to a name that the user takes meanwhile":         not(apart + ", or " + write),
	"names upwards from a directory that moves":                not(apart),
	"the working directory is carried into an exception":       not(moves),
	"a directory that the user moves to and fro":               not(moves),
	"names that are not there yet":                             not(late),
	"a repository that the user makes":                         not("fs.protected, and the host's part of the scene fails"),
	"files that the user saves":                                not(replaced),
	"a closed name that the user removes":                      not(replaced),
	"the supervisor and other processes":                       not("there is no supervisor, and the first process is of the sandbox"),
	"filters and rulesets of the tool's own":                   not("there is no supervisor that a listener of the tool's own could take calls from"),
	"calls that wait, and limits at their end":                 not(alone),
	"more calls that wait than the supervisor answers at once": not(alone),
	"watches of names":                                         not("the cover of a file can be watched, and says nothing"),
}

var nameless = leaks{"linkat to .git/config": protected, ".git/config succeeded": protected, "rename to .git/config": protected}

var byProcess = map[string]fates{
	"groups and owners, ":  everywhere(fate{}),
	"unix sockets, ":       everywhere(fate{}),
	"memory of others, ":   everywhere(fate{}),
	"calls of the kernel,": {firejail: fate{leaks: leaks{"io_uring_setup answers": "", "quotactl answers": "", "int 0x80 makes a socket": ""}}},
	"families, ":           {firejail: fate{leaks: leaks{"socket of family": ""}}},
	"inherited sockets, ": {
		firejail: fate{leaks: leaks{"connected what it inherited elsewhere": "net default connect assumption", "the other port was reached": "net default connect assumption"}},
		// runc makes pipes of the descriptors.
		containers: fate{without: []string{"the socket that was open before"}},
	},
	"terminal, ":        {containers: fate{not: "a container without a terminal of its own has none"}},
	"set-user-ID bits":  {firejail: fate{not: "firejail's filter permits the bits (docs/targets.md)"}},
	"survivor ":         {firejail: fate{not: "firejail ends with the last process of the tool"}},
	"size of files":     {firejail: fate{leaks: leaks{"": "limits file_size limit limits.file_size"}}},
	"open files":        {firejail: fate{leaks: leaks{"": "limits open_files limit limits.open_files"}}},
	"processor":         {firejail: fate{not: "limits.cpu_time"}},
	"wall time":         {firejail: fate{not: "limits.wall_time"}, containers: fate{not: "limits.wall_time"}},
	"supervisor under ": {firejail: fate{not: alone}, containers: fate{not: alone}},

	"other processes, ":      not("the first process is of the sandbox, and the others are the tool's own"),
	"one address":            not("nothing is reached"),
	"connections that wait":  not("nothing is reached"),
	"forged lines":           not(reports),
	"report and record":      not(reports),
	"ways":                   not(apiece),
	"variables":              not(apiece),
	"exec ":                  not(apiece),
	"descriptors exchanged":  not(apiece),
	"links exchanged":        not(apiece),
	"script":                 not(apiece),
	"traced":                 not(apiece),
	"core of a process with": not(apiece),
}

// Why scenes about processes are not played.
const (
	reports = "there is no supervisor, and so no report"
	apiece  = "commands.program, commands.args and commands.envs: all programs are treated alike"
)

// notInside has the beginnings of the scenes about processes that say nothing where accessc starts the tool in a container, with the reason.
var notInside = map[string]string{
	"other processes, alone": "the first process is the tool itself",
	"variables of others":    "the variables are those of the bundle",
	"core of a process with": "the variables are those of the bundle",
	"terminal, ":             "a container without a terminal of its own has none",
	"inherited sockets, ":    "runc makes pipes of the descriptors",
	"one address":            "the container has a network of its own",
	"forged lines":           "a bundle has no report",
	"report and record":      "a bundle has no report",
}

// begun returns the longest beginning of a name in a table, empty for none.
func begun[T any](table map[string]T, name string) (best string) {
	for begin := range table {
		if strings.HasPrefix(name, begin) && len(begin) > len(best) {
			best = begin
		}
	}
	return best
}

// of returns the fate of a scene, and whether it has one.
func (m *means) of(table map[string]fates, name string) (fate, bool) {
	f, ok := table[begun(table, name)]
	return m.fate(f), ok
}

// as returns the leaks that a user gets.
func (f fate) as(uid int) leaks {
	all := maps.Clone(f.leaks)
	if uid == 0 && len(f.root) > 0 {
		if all == nil {
			all = leaks{}
		}
		maps.Copy(all, f.root)
	}
	return all
}

// controls are those that mounts do not refuse.
func (f fate) controls(good []string) []string {
	return slices.DeleteFunc(slices.Clone(good), func(g string) bool { return slices.Contains(f.without, g) })
}

// TestFates: each scene has a fate where mounts confine the tool, and each fate is one of a scene.
func TestFates(t *testing.T) {
	var files, processes []string
	for _, s := range slices.Concat(fileScenes(), callScenes()) {
		files = append(files, s.name)
	}
	for _, s := range procScenes() {
		processes = append(processes, s.name)
	}
	for _, c := range []struct {
		names   []string
		table   map[string]fates
		besides []string
	}{{files, byFile, nil}, {processes, byProcess, slices.Collect(maps.Keys(notInside))}} {
		for _, name := range c.names {
			if _, ok := everyMeans[0].of(c.table, name); !ok {
				t.Errorf("the scene %q is to be played by other means, or to have a reason why not", name)
			}
		}
		for _, begin := range slices.Concat(slices.Collect(maps.Keys(c.table)), c.besides) {
			if !slices.ContainsFunc(c.names, func(n string) bool { return strings.HasPrefix(n, begin) }) {
				t.Errorf("there is no scene %q", begin)
			}
		}
	}
}
