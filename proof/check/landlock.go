package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// landlockModel is the model of Linux: landlock(7), and the supervisor behind seccomp.
var landlockModel = Model{
	Platform: "linux",
	Assumes: "a Landlock ruleset permits on a file what it grants on the file or a directory above, as each level " +
		"of landlock(7) handles rights; a seccomp filter fails or hands over the listed calls; the loader grants " +
		"rights on the entries that a directory has at the start, and what is named exists then; a supervisor " +
		"decides the calls that it judges by the policy, and other calls are the kernel's",
	Read: readLandlock,
}

type landlockDoc struct {
	Format      string          `json:"format"`
	Version     int             `json:"format_version"`
	Form        string          `json:"form"`
	Tool        string          `json:"tool"`
	Command     json.RawMessage `json:"command"`
	Workspace   string          `json:"workspace"`
	Home        string          `json:"home"`
	Environment []envRule       `json:"environment"`
	Limits      []limit         `json:"limits"`
	Needs       []Row           `json:"needs"`
	Accept      []string        `json:"accept"`
	Context     string          `json:"context"`
	Levels      []struct {
		ABI    int      `json:"abi"`
		FS     []string `json:"fs"`
		Net    []string `json:"net"`
		Scoped []string `json:"scoped"`
	} `json:"levels"`
	Paths    []landlockPath `json:"paths"`
	Programs []struct {
		Name string `json:"name"`
		File string `json:"file"`
	} `json:"programs"`
	Ports []struct {
		Port   uint16   `json:"port"`
		Access []string `json:"access"`
		Cell   string   `json:"cell"`
	} `json:"ports"`
	Calls       int     `json:"calls"`
	Filter      []calls `json:"filter"`
	Supervision *struct {
		Gaps   []string `json:"gaps"`
		Judges struct {
			Reads   bool `json:"reads"`
			Lists   bool `json:"lists"`
			Updates bool `json:"updates"`
			Names   bool `json:"names"`
			Starts  bool `json:"starts"`
		} `json:"judges"`
		Paths    []landlockPath  `json:"paths"`
		Replaces []string        `json:"replaces"`
		Filter   []calls         `json:"filter"`
		Traps    []calls         `json:"traps"`
		Connect  []string        `json:"connect"`
		Egress   bool            `json:"egress"`
		Listen   bool            `json:"listen"`
		Judged   json.RawMessage `json:"judged"`
	} `json:"supervision"`
}

type landlockPath struct {
	Path    string   `json:"path"`
	Access  []string `json:"access"`
	Entries *struct {
		Except []string `json:"except"`
	} `json:"entries"`
	Image bool `json:"image"`
}

// calls are system calls that a filter fails or hands over, where all conditions are true.
type calls struct {
	Group    string   `json:"group"`
	Errno    string   `json:"errno"`
	Syscalls []string `json:"syscalls"`
	When     []struct {
		Arg     int      `json:"arg"`
		Mask    uint32   `json:"mask"`
		In      []string `json:"in"`
		NotIn   []string `json:"not_in"`
		AnyBit  []string `json:"any_bit"`
		NonZero bool     `json:"nonzero"`
	} `json:"when"`
	From int `json:"from_abi"`
	To   int `json:"to_abi"`
}

// landlockRights are the rights on files, in the order of their bits.
var landlockRights = []string{
	"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_char",
	"make_dir", "make_reg", "make_sock", "make_fifo", "make_block", "make_sym", "refer", "truncate", "ioctl_dev",
	"resolve_unix",
}

// The rights as bits, in the same order.
const (
	mayExecute uint32 = 1 << iota
	mayWriteFile
	mayReadFile
	mayReadDir
	mayRemoveDir
	mayRemoveFile
	_ // make_char
	mayMakeDir
	mayMakeReg
	mayMakeSock
	mayMakeFifo
	_ // make_block
	mayMakeSym
	mayRefer
	mayTruncate
	mayIoctlDev
	mayResolveUnix
	fileRights = mayExecute | mayWriteFile | mayReadFile | mayTruncate | mayIoctlDev | mayResolveUnix
	allRights  = 1<<17 - 1
)

func rightsOf(names ...string) (out uint32) {
	for _, n := range names {
		if i := slices.Index(landlockRights, n); i >= 0 {
			out |= 1 << i
		}
	}
	return out
}

// needed are the rights for an act: on the file itself, and on its directory.
var needed = []struct {
	act      Verdict
	on, from uint32
}{
	{Read, mayReadFile, 0},
	{List, mayReadDir, 0},
	{Write, mayWriteFile, 0},
	{Truncate, mayTruncate, 0},
	{Create, 0, mayMakeReg},
	{Fill, 0, mayMakeReg | mayWriteFile},
	{Mkdir, 0, mayMakeDir},
	{Symlink, 0, mayMakeSym},
	{Fifo, 0, mayMakeFifo},
	{Socket, 0, mayMakeSock},
	{Delete, 0, mayRemoveFile},
	{Rmdir, 0, mayRemoveDir},
	{Execute, mayExecute | mayReadFile, 0},
}

// landlockText is a text in force at its levels.
type landlockText struct {
	doc    landlockDoc
	policy *Policy
	launch launch
	levels []landlockLevel
	grants [2]map[string][]landlockPath // by place: without the supervisor, and with it
}

type landlockLevel struct {
	Level
	handled uint32
	filter  []calls
	judged  Verdict // the acts that the supervisor decides and carries out
	free    Verdict // that nothing sees
	failed  Verdict // that the filter fails
	moves   bool    // the supervisor decides moves and links, and carries them out
	own     bool    // it sees every open, and has shared memory and standard descriptors for the tool
}

func readLandlock(text []byte, p *Policy) (Text, error) {
	t := &landlockText{policy: p}
	if err := strict(text, &t.doc); err != nil {
		return nil, err
	}
	t.launch = launch{
		env: t.doc.Environment, private: t.doc.Home != "", limits: t.doc.Limits, listed: t.doc.Programs != nil,
	}
	for _, c := range t.doc.Programs {
		t.launch.programs = append(t.launch.programs, c.Name)
	}
	alone, supervised := t.doc.Paths, []landlockPath(nil)
	if s := t.doc.Supervision; s != nil {
		supervised = s.Paths
	}
	for i, list := range [][]landlockPath{alone, supervised} {
		t.grants[i] = map[string][]landlockPath{}
		for _, g := range list {
			t.grants[i][g.Path] = append(t.grants[i][g.Path], g)
		}
	}
	var handled uint32
	for _, l := range t.doc.Levels {
		handled |= rightsOf(l.FS...)
		for _, with := range []bool{false, true} {
			if with && t.doc.Supervision == nil {
				continue
			}
			next := t.level(l.ABI, handled, with)
			n := len(t.levels) - 1
			for n >= 0 && t.levels[n].Alone != next.Alone {
				n--
			}
			if n >= 0 && len(l.FS)+len(l.Net)+len(l.Scoped) == 0 && t.levels[n].alike(next) {
				t.levels[n].To = l.ABI
				continue
			}
			t.levels = append(t.levels, next)
		}
	}
	return t, nil
}

// level is the text in force at an ABI.
func (t *landlockText) level(abi int, handled uint32, supervised bool) landlockLevel {
	s := t.doc.Supervision
	l := landlockLevel{Level: Level{abi, abi, !supervised && s != nil}, handled: handled}
	for _, b := range t.doc.Filter {
		if !supervised || !slices.Contains(s.Replaces, b.Group) {
			l.filter = append(l.filter, b)
		}
	}
	if supervised {
		l.filter = append(l.filter, s.Filter...)
	}
	l.filter = slices.DeleteFunc(l.filter, func(b calls) bool { return abi < b.From || b.To != 0 && abi > b.To })
	var traps []calls
	if supervised {
		traps = s.Traps
	}
	opens, starts := all(traps, false, openCalls...), all(traps, false, "execve", "execveat")
	if l.own = opens; supervised && opens {
		l.judge(s.Judges.Reads, Read|List)
		l.judge(s.Judges.Updates && all(traps, false, "truncate"), Write|Truncate|Fill)
		l.judge(s.Judges.Names && all(traps, false, nameCalls...), names)
	}
	l.moves = supervised && s.Judges.Names && all(traps, false, moveCalls...)
	l.judge(supervised && s.Judges.Lists && all(traps, false, "open", "openat"), List)
	l.judge(starts, Execute)
	l.judge(all(traps, false, "connect"), Dial)
	either := slices.Concat(traps, l.filter)
	if all(traps, false, "chmod", "fchmodat", "utimensat", "setxattr") && all(either, true, metadataCalls...) {
		l.judged |= Metadata
	} else if !all(l.filter, true, metadataCalls...) {
		l.free |= Metadata
	}
	if !all(l.filter, false, "connect") && l.judged&Dial == 0 {
		l.free |= Dial
	}
	if handled&mayTruncate == 0 && l.judged&Truncate == 0 && all(l.filter, true, "truncate", "open", "openat") {
		l.failed |= Truncate
	}
	return l
}

// alike reports whether two levels answer alike.
func (l *landlockLevel) alike(o landlockLevel) bool {
	return l.Alone == o.Alone && l.handled == o.handled && l.judged == o.judged && l.free == o.free &&
		l.failed == o.failed && l.own == o.own && l.moves == o.moves && len(l.filter) == len(o.filter)
}

func (l *landlockLevel) judge(is bool, acts Verdict) {
	if is {
		l.judged |= acts
	}
}

const names = Create | Fill | Mkdir | Symlink | Fifo | Socket | Delete | Rmdir

// The calls by which acts are done that Landlock does not see, or that a supervisor must see: all that a kernel of
// November 2026 has.
var (
	openCalls = []string{"open", "openat", "openat2", "creat"}
	nameCalls = []string{
		"mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir",
	}
	moveCalls     = []string{"rename", "renameat", "renameat2", "link", "linkat"}
	metadataCalls = []string{
		"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
		"utimensat", "futimesat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
		"lremovexattr", "fremovexattr", "removexattrat", "file_setattr", "ioctl",
	}
)

// all reports whether some calls are each on a list, under whatever conditions where sometimes is set.
func all(list []calls, sometimes bool, names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		return !slices.ContainsFunc(list, func(c calls) bool {
			return (sometimes || len(c.When) == 0 || c.Group == "open") && slices.Contains(c.Syscalls, n)
		})
	})
}

func (t *landlockText) Platform() string { return "linux" }
func (t *landlockText) Acts() Verdict    { return 1<<acts - 1 }
func (t *landlockText) Needs() []Row     { return t.doc.Needs }

// Starts are the tool and the command that the text starts, and the gaps that it has the loader accept.
func (t *landlockText) Starts() (tool string, c command, accept []string) {
	c, err := parseCommand(t.doc.Command)
	if err != nil {
		return "", c, nil
	}
	return t.doc.Tool, c, t.doc.Accept
}

// Key is all of the text that decides: the rest says what is started, and what it is told.
func (t *landlockText) Key() string {
	d := t.doc
	d.Tool, d.Command, d.Context = "", nil, ""
	key, err := json.Marshal(d)
	if err != nil {
		return ""
	}
	return string(key)
}

func (t *landlockText) Levels() []Level {
	out := make([]Level, len(t.levels))
	for i, l := range t.levels {
		out[i] = l.Level
	}
	return out
}

func (t *landlockText) Mentions(k Kind) (out []string) {
	if k != Files {
		return t.launch.mentions(k)
	}
	for _, grants := range t.grants {
		for at, list := range grants {
			out = append(out, at)
			for _, g := range list {
				if g.Entries != nil {
					for _, name := range g.Entries.Except {
						out = append(out, child(at, name))
					}
				}
			}
		}
	}
	return out
}

func (t *landlockText) Answer(q Question) []Verdict {
	switch q.Kind {
	case Files:
		return t.files(q)
	case Moves:
		return t.moves(q.Target, q.To)
	case Hosts:
		return t.hosts(parseEndpoint(q.Target))
	case Variables, Programs, Limits, Names:
	}
	out := make([]Verdict, len(t.levels))
	for i := range out {
		out[i] = t.launch.answer(q)
	}
	return out
}

// hosts are the connections and listeners that are possible: none where the filter fails sockets, any where it does not
// and nobody judges, and otherwise those of the addresses that the supervisor connects to, and what the proxy carries.
func (t *landlockText) hosts(e endpoint) []Verdict {
	out := make([]Verdict, len(t.levels))
	policy, _ := t.policy.reaches(e)
	for i, l := range t.levels {
		s := t.doc.Supervision
		calls := []string{"connect"}
		if e.listen {
			calls = []string{"bind", "listen"}
		}
		is := false
		switch {
		case all(l.filter, false, "socket") || all(l.filter, false, calls...):
		case s == nil || l.Alone || !all(s.Traps, false, calls[:1]...):
			is = true
		case e.listen:
			is = s.Listen && policy
		case s.Egress:
			is = policy
		case e.host == "localhost":
			v4, v6 := e, e
			v4.host, v6.host = "127.0.0.1", "::1"
			is = policy && slices.Contains(s.Connect, net(v4)) && slices.Contains(s.Connect, net(v6))
		default:
			is = policy && slices.Contains(s.Connect, net(e))
		}
		if is {
			out[i] = Permit
		}
	}
	return out
}

// net is a target as the list of addresses spells it.
func net(e endpoint) string {
	if strings.Contains(e.host, ":") {
		return "[" + strings.Trim(e.host, "[]") + "]:" + itoa(int(e.port))
	}
	return e.host + ":" + itoa(int(e.port))
}

// with is the index of the grants of a level.
func (t *landlockText) with(l landlockLevel) int {
	if t.doc.Supervision != nil && !l.Alone {
		return 1
	}
	return 0
}

// Region is the rights on a place and on its directory.
func (t *landlockText) Region(place string) string {
	up, _ := parent(place)
	out := ""
	for _, g := range t.grants {
		out += fmt.Sprint(t.rights(g, place, place), t.rights(g, up, up), " ")
	}
	return out
}

// moves are the moves that the kernel permits, or the supervisor: between directories both need the right to refer, and
// what is moved gets no right that it had not.
func (t *landlockText) moves(src, dst string) []Verdict {
	policy := t.policy.Moves(src, dst)
	out := make([]Verdict, len(t.levels))
	from, _ := parent(src)
	to, _ := parent(dst)
	for i, l := range t.levels {
		if l.moves {
			out[i] = policy
			continue
		}
		grants := t.grants[t.with(l)]
		on, in, into := t.rights(grants, src, src), t.rights(grants, from, from), t.rights(grants, to, to)
		has := func(rights, want uint32) bool { return want&l.handled&^rights == 0 }
		across := func(matters uint32) bool {
			return from == to || l.handled&mayRefer != 0 && has(in&into, mayRefer) && into&^on&l.handled&matters == 0
		}
		file, dir := across(fileRights), across(allRights)
		for _, m := range []struct {
			is  bool
			act Verdict
		}{
			{file && has(in, mayRemoveFile) && has(into, mayMakeReg), RenameFile},
			{file && has(in, mayRemoveFile) && has(into, mayMakeReg|mayRemoveFile), ReplaceFile},
			{dir && has(in, mayRemoveDir) && has(into, mayMakeDir), RenameDir},
			{file && has(into, mayMakeReg) && !all(l.filter, false, "link", "linkat"), Link},
		} {
			if m.is {
				out[i] |= m.act
			}
		}
	}
	return out
}

func (t *landlockText) files(q Question) []Verdict {
	var rights, above [2][2]uint32 // by supervision, and by late
	for i := range rights {
		if i == 1 && t.doc.Supervision == nil {
			break
		}
		for j, last := range []string{q.Target, q.To} {
			rights[i][j] = t.rights(t.grants[i], q.Target, last)
			if up, ok := parent(q.Target); ok {
				if len(up) < len(last) {
					last = up
				}
				above[i][j] = t.rights(t.grants[i], up, last)
			}
		}
	}
	policy := t.policy.Files(q.Target)
	if policy&Read == 0 {
		policy &^= Execute | Execute<<Late // a program is opened first, also by the supervisor
	}
	out := make([]Verdict, len(t.levels))
	for i, l := range t.levels {
		with := t.with(l)
		now, late := t.permits(l, rights[with][0], above[with][0]), t.permits(l, rights[with][1], above[with][1])
		out[i] = now | late<<Late
		judged := l.judged | l.judged<<Late
		if (l.own || l.Alone) && (within(q.Target, "/dev/shm") || within(q.Target, "/dev/fd")) {
			judged = every // not the kernel's, and without a supervisor not there
		}
		if d := prefixes(q.Target); len(d) > 2 && d[1] == "/dev" && t.device(d[2]) {
			if judged = every; len(d) == 3 { // a device has no names below
				judged &^= (Read | Write) * (1 + 1<<Late) // and cannot be emptied
			}
		}
		out[i] = out[i]&^judged | policy&judged
	}
	return out
}

// device reports whether a place is granted as what is no directory.
func (t *landlockText) device(place string) bool {
	list := t.grants[0][place]
	return len(list) > 0 && !slices.ContainsFunc(list, func(g landlockPath) bool {
		return rightsOf(g.Access...)&^fileRights != 0
	})
}

// rights are those that reach a place from grants on it and on the directories above that existed at the start: last is
// the deepest that did.
func (t *landlockText) rights(grants map[string][]landlockPath, place, last string) (out uint32) {
	way := prefixes(place)
	for i, at := range way {
		if len(at) > len(last) {
			break
		}
		for _, g := range grants[at] {
			switch {
			case g.Entries == nil:
				out |= rightsOf(g.Access...)
			case i+1 < len(way) && len(way[i+1]) <= len(last) && !slices.Contains(g.Entries.Except, base(way[i+1])):
				out |= rightsOf(g.Access...)
			}
		}
	}
	return out
}

// permits are the acts that the kernel permits with rights on a file and on its directory.
func (t *landlockText) permits(l landlockLevel, on, from uint32) (out Verdict) {
	for _, n := range needed {
		if n.on&l.handled&^on == 0 && n.from&l.handled&^from == 0 {
			out |= n.act
		}
	}
	out = (out | l.free) &^ l.failed
	if t.doc.Programs != nil {
		out &^= Execute // granted on the listed files
	}
	return out
}
