package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// winjobModel is the model of winjob.json.
var winjobModel = Model{
	Platform: "windows",
	Assumes: "tier 0 holds no file, connection or program; at tier 1 an AppContainer reaches a file as far as " +
		"the list of the file grants its package rights, its user has every right, lists are inherited as " +
		"their flags say, and the entries for all packages let it read and execute where the text has no " +
		"list; the loader gives each object the list that the text has for it, names of patterns among " +
		"them, and keeps it from being renamed or removed; a file that the tool makes is open to it; what " +
		"refuse stands for exists at the start; no connection gets out of an AppContainer without " +
		"capabilities; the loader holds variables and limits",
	Read: readWinjob,
}

type winDoc struct {
	launchDoc
	Format    string          `json:"format"`
	Version   int             `json:"format_version"`
	Form      string          `json:"form"`
	Build     int             `json:"minimumBuild"`
	Tier      int             `json:"tier"`
	Console   string          `json:"console"`
	Variables json.RawMessage `json:"variables"`
	Tiers     []struct {
		Tier     int             `json:"tier"`
		Name     string          `json:"name"`
		Boundary bool            `json:"boundary"`
		Applies  []string        `json:"applies"`
		Leaves   []string        `json:"leaves"`
		Weakest  json.RawMessage `json:"weakest"`
	} `json:"tiers"`
	Job struct {
		Limits struct {
			Basic struct {
				Flags  []string `json:"LimitFlags"`
				Time   uint64   `json:"PerJobUserTimeLimit"`
				Active uint64   `json:"ActiveProcessLimit"`
			} `json:"BasicLimitInformation"`
			Memory uint64 `json:"JobMemoryLimit"`
		} `json:"JOBOBJECT_EXTENDED_LIMIT_INFORMATION"`
		UI json.RawMessage `json:"JOBOBJECT_BASIC_UI_RESTRICTIONS"`
	} `json:"jobObject"`
	Token     json.RawMessage `json:"token"`
	Process   json.RawMessage `json:"procThreadAttributes"`
	Container struct {
		Security struct {
			Name         string   `json:"AppContainerName"`
			SID          string   `json:"AppContainerSid"`
			Capabilities []string `json:"Capabilities"`
		} `json:"PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES"`
		Children string `json:"PROC_THREAD_ATTRIBUTE_CHILD_PROCESS_POLICY"`
	} `json:"appContainer"`
	Files struct {
		Hold   json.RawMessage `json:"hold"`
		Strip  []string        `json:"strip"`
		Grants map[string]struct {
			Directory []winACE `json:"directory"`
			File      []string `json:"file"`
		} `json:"grants"`
		Entries   []winEntry      `json:"entries"`
		Patterns  []winEntry      `json:"patterns"`
		Ambient   json.RawMessage `json:"ambient"`
		Unmatched json.RawMessage `json:"unmatched"`
	} `json:"fileAccess"`
	Programs []struct {
		Name   string   `json:"name"`
		Path   string   `json:"path"`
		Grants []string `json:"grants"`
	} `json:"programs"`
	Network struct {
		Mode     string          `json:"mode"`
		Services []string        `json:"services"`
		Rules    json.RawMessage `json:"rules"`
	} `json:"network"`
}

type winACE struct {
	Type  string   `json:"AceType"`
	Flags []string `json:"AceFlags"`
	Mask  []string `json:"AccessMask"`
}

type winEntry struct {
	Path    string   `json:"path"`
	DACL    string   `json:"dacl"`
	Names   []string `json:"names"`
	Grants  []string `json:"grants"`
	Absent  string   `json:"absent"`
	Reparse bool     `json:"reparsePoint"`
	Rule    string   `json:"rule"`
}

// winFrame is what every text says alike.
var winFrame = []string{
	`{"UIRestrictionsClass":["JOB_OBJECT_UILIMIT_DESKTOP","JOB_OBJECT_UILIMIT_DISPLAYSETTINGS",` +
		`"JOB_OBJECT_UILIMIT_EXITWINDOWS","JOB_OBJECT_UILIMIT_READCLIPBOARD","JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS",` +
		`"JOB_OBJECT_UILIMIT_WRITECLIPBOARD"]}`,
	`{"CreateRestrictedToken":{"Flags":["DISABLE_MAX_PRIVILEGE","LUA_TOKEN"],"SidsToDisable":["S-1-5-32-544"],` +
		`"PrivilegesToDelete":[],"SidsToRestrict":[]},"TokenIntegrityLevel":"S-1-16-8192","TokenDefaultDacl":` +
		`"D:(A;;GA;;;SY)(A;;GA;;;${user})"}`,
	`{"PROC_THREAD_ATTRIBUTE_JOB_LIST":["jobObject"],"PROC_THREAD_ATTRIBUTE_HANDLE_LIST":["stderr","stdin","stdout"]}`,
	`{"dwDesiredAccess":["FILE_READ_DATA","READ_CONTROL","WRITE_DAC"],"dwShareMode":["FILE_SHARE_READ",` +
		`"FILE_SHARE_WRITE"],"dwFlagsAndAttributes":["FILE_FLAG_BACKUP_SEMANTICS","FILE_FLAG_OPEN_REPARSE_POINT"]}`,
}

// winFlags are the flags of jobs that a text may have, first that it must have.
var winFlags = []string{
	"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE", "JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION",
	"JOB_OBJECT_LIMIT_ACTIVE_PROCESS", "JOB_OBJECT_LIMIT_JOB_MEMORY", "JOB_OBJECT_LIMIT_JOB_TIME",
}

// winRight is a right of winnt.h that may be granted, 0 for every other: to change a list or owner, FILE_DELETE_CHILD.
func winRight(name string) uint32 {
	switch name {
	case "FILE_READ_DATA":
		return 1
	case "FILE_WRITE_DATA", "FILE_ADD_FILE":
		return 2
	case "FILE_APPEND_DATA", "FILE_ADD_SUBDIRECTORY":
		return 4
	case "FILE_READ_EA":
		return 8
	case "FILE_WRITE_EA":
		return 16
	case "FILE_EXECUTE", "FILE_TRAVERSE":
		return 32
	case "FILE_READ_ATTRIBUTES":
		return 128
	case "FILE_WRITE_ATTRIBUTES":
		return 256
	case "DELETE":
		return 1 << 16
	case "READ_CONTROL":
		return 1 << 17
	case "SYNCHRONIZE":
		return 1 << 20
	case "FILE_GENERIC_READ":
		return 1 | 8 | 128 | 1<<17 | 1<<20
	default:
		return 0
	}
}

// winOpen goes with every other right, or programs could not use that: FILE_READ_ATTRIBUTES, READ_CONTROL, SYNCHRONIZE.
const winOpen = 128 | 1<<17 | 1<<20

// winGives is what the package gets by an entry or a word: on the object itself, and on what is below it; on files and
// on directories.
type winGives struct{ file, dir, filesBelow, dirsBelow uint32 }

func (g *winGives) add(o winGives) {
	g.file, g.dir = g.file|o.file, g.dir|o.dir
	g.filesBelow, g.dirsBelow = g.filesBelow|o.filesBelow, g.dirsBelow|o.dirsBelow
}

type winText struct {
	doc      winDoc
	launch   launch
	alone    bool // nothing but the tool's program starts
	words    map[string]winGives
	entries  map[string]winEntry
	there    map[string]bool // places that exist at the start, or it is refused
	patterns []winEntry
}

func readWinjob(text []byte, _ *Policy) (Text, error) {
	t := &winText{words: map[string]winGives{}, entries: map[string]winEntry{}, there: map[string]bool{}}
	d := &t.doc
	if err := strict(text, d); err != nil {
		return nil, err
	}
	for i, part := range []json.RawMessage{d.Job.UI, d.Token, d.Process, d.Files.Hold} {
		var b bytes.Buffer
		if json.Compact(&b, part) != nil || b.String() != winFrame[i] {
			return nil, fmt.Errorf("%s is not %s", clip(b.String()), clip(winFrame[i]))
		}
	}
	s := d.Container.Security
	var wide []byte
	for _, u := range utf16.Encode([]rune(strings.ToLower(s.Name))) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	sid, sum := "S-1-15-2", sha256.Sum256(wide)
	for i := range 7 {
		sid += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(sum[4*i:]))
	}
	const zero, one = "command console environment jobObject limits procThreadAttributes token variables",
		" appContainer fileAccess network programs"
	switch flags := d.Job.Limits.Basic.Flags; {
	case d.Format != "accessc/windows-job-spec" || d.Version != 2 || d.Tier != 1 || d.Console != "own" ||
		d.Build < 17763:
		return nil, fmt.Errorf("the text is of another format, tier, console or build")
	case len(d.Tiers) != 2 || strings.Join(d.Tiers[0].Applies, " ") != zero || d.Tiers[0].Boundary ||
		" "+strings.Join(d.Tiers[0].Leaves, " ") != one || strings.Join(d.Tiers[1].Applies, " ") != zero+one ||
		len(d.Tiers[1].Leaves) != 0 || !d.Tiers[1].Boundary:
		return nil, fmt.Errorf("the tiers apply other parts")
	case s.SID != sid || len(s.Capabilities) != 0:
		return nil, fmt.Errorf("the AppContainer has another identifier than its name, or a capability")
	case d.Network.Mode != "closed" || !slices.Equal(d.Network.Services, []string{"BFE", "MpsSvc"}):
		return nil, fmt.Errorf("the network is not closed")
	case !slices.Equal(d.Files.Strip, []string{"S-1-15-2-1", "S-1-15-2-2"}):
		return nil, fmt.Errorf("entries for all packages stay on the listed objects")
	case !slices.Contains(flags, winFlags[0]) || slices.ContainsFunc(flags, func(f string) bool {
		return !slices.Contains(winFlags, f)
	}):
		return nil, fmt.Errorf("the job outlives its loader, or can be left")
	}
	t.launch = d.launch()
	t.launch.folds = true
	job := d.Job.Limits
	t.alone = d.Container.Children == "PROCESS_CREATION_CHILD_PROCESS_RESTRICTED" && job.Basic.Active == 1
	t.launch.limits = slices.DeleteFunc(t.launch.limits, func(l limit) bool {
		return l.Kind != "wall_time" && !(t.alone && l.Kind == "processes")
	})
	for i, v := range []uint64{job.Memory, job.Basic.Active, job.Basic.Time / 10_000} {
		flag := []string{"JOB_MEMORY", "ACTIVE_PROCESS", "JOB_TIME"}[i]
		if slices.Contains(job.Basic.Flags, "JOB_OBJECT_LIMIT_"+flag) && !(t.alone && i == 1) {
			kind := []string{"memory", "processes", "cpu_time"}[i]
			t.launch.limits = append(t.launch.limits, limit{Kind: kind, Value: v})
		}
	}
	return t, t.read()
}

// read reads the lists.
func (t *winText) read() error {
	mask := func(names []string) (out uint32, err error) {
		for _, n := range names {
			if winRight(n) == 0 {
				return 0, fmt.Errorf("%s is no right that a policy leads to", n)
			}
			out |= winRight(n)
		}
		return out, nil
	}
	for word, g := range t.doc.Files.Grants {
		var w winGives
		var err error
		if w.file, err = mask(g.File); err != nil {
			return err
		}
		for _, a := range g.Directory {
			m, err := mask(a.Mask)
			if err != nil || a.Type != "ACCESS_ALLOWED_ACE_TYPE" {
				return fmt.Errorf("the word %s: %s, %v", word, a.Type, err)
			}
			has := func(flag string) uint32 {
				if slices.Contains(a.Flags, flag) {
					return m
				}
				return 0
			}
			w.add(winGives{0, m &^ has("INHERIT_ONLY_ACE"), has("OBJECT_INHERIT_ACE"), has("CONTAINER_INHERIT_ACE")})
		}
		t.words[word] = w
	}
	spell := func(e winEntry) (winEntry, error) {
		e.Path = strings.ReplaceAll(e.Path, `\`, "/")
		if len(e.Path) > 1 && e.Path[1] == ':' {
			e.Path = "/" + e.Path
		}
		for _, g := range e.Grants {
			if _, known := t.words[g]; !known {
				return e, fmt.Errorf("%s has the unknown word %s", e.Path, g)
			}
		}
		return e, nil
	}
	for _, e := range t.doc.Files.Entries {
		e, err := spell(e)
		_, twice := t.entries[e.Path]
		if err != nil || twice || e.DACL != "protected" && e.DACL != "grant" || len(e.Names) > 0 ||
			!slices.Contains([]string{"create", "skip", "refuse"}, e.Absent) {
			return fmt.Errorf("the list of %s is not understood or stands twice: %v", e.Path, err)
		}
		t.entries[e.Path] = e
		for _, up := range prefixes(e.Path) {
			t.there[up] = t.there[up] || e.Absent != "skip"
		}
	}
	for _, e := range t.doc.Files.Patterns {
		e, err := spell(e)
		if err != nil || e.DACL != "" || e.Absent != "" {
			return fmt.Errorf("the names in %s are not understood: %v", e.Path, err)
		}
		e.DACL = "protected"
		t.patterns = append(t.patterns, e)
	}
	return nil
}

func (t *winText) Platform() string { return "windows" }
func (t *winText) Levels() []Level  { return []Level{{From: 0, To: 0}, {From: 1, To: 1}} }
func (t *winText) Needs() []Row     { return t.doc.Needs }

// Starts is what the text has a loader start, and the gaps that it accepts.
func (t *winText) Starts() (string, command, []string) { return t.doc.Starts() }

// Acts leaves out what Windows does not have, and sockets, which may be closed whatever lists say.
func (t *winText) Acts() Verdict { return (1<<acts - 1) &^ (Fifo | Socket | Dial) }

func (t *winText) Mentions(k Kind) (out []string) {
	for at := range t.entries {
		if k == Files {
			out = append(out, at)
		}
	}
	for _, e := range t.patterns {
		switch k {
		case Files:
			out = append(out, e.Path)
		case Names:
			out = append(out, e.Names...)
		case Moves, Hosts, Variables, Programs, Limits:
		}
	}
	return append(out, t.launch.mentions(k)...)
}

func (t *winText) Answer(q Question) []Verdict {
	all := t.Acts()
	switch q.Kind {
	case Files:
		now, late := t.files(q.Target, q.Target), t.files(q.Target, q.To)
		return []Verdict{all | all<<Late, now | late&^Odd<<Late | (now|late)&Odd}
	case Moves:
		return []Verdict{RenameFile | RenameDir | ReplaceFile | Link, t.moves(q.Target, q.To)}
	case Hosts:
		return []Verdict{Permit, 0}
	case Programs:
		if t.alone {
			return []Verdict{0, 0}
		}
		return []Verdict{Permit, Permit} // those of the system's directories, at least
	case Variables, Limits, Names:
	}
	v := t.launch.answer(q)
	return []Verdict{v, v}
}

// list is the entry for an object, if the text has one: by its path, or by its name if it existed at the start.
func (t *winText) list(at string) (winEntry, bool) {
	if e, ok := t.entries[at]; ok {
		return e, true
	}
	up, below := parent(at)
	for ; below; up, below = parent(up) { // the patterns of the nearest place that has some
		here := slices.DeleteFunc(slices.Clone(t.patterns), func(e winEntry) bool { return e.Path != up })
		for _, e := range slices.Backward(here) {
			if slices.ContainsFunc(e.Names, func(n string) bool { return parsePattern(n).matches(base(at), true) }) {
				return e, true
			}
		}
		if len(here) > 0 {
			break
		}
	}
	return winEntry{}, false
}

// rights is what the package has on an object, when last is the deepest on its way that existed at the start.
func (t *winText) rights(at, last string) (g winGives, listed, held bool) {
	for _, up := range prefixes(at) {
		g.file, g.dir = g.filesBelow, g.dirsBelow
		e, ok := t.list(up)
		held = ok && (len(up) <= len(last) || t.there[up])
		if !held {
			continue
		}
		listed = true
		if e.DACL == "protected" {
			g = winGives{}
		}
		for _, word := range e.Grants {
			g.add(t.words[word])
		}
	}
	return g, listed, held
}

// unheld reports whether NTFS can hold no file of this name: the backslash separates names there.
func unheld(at string) bool {
	return strings.ContainsAny(strings.TrimPrefix(at, root(at)), "<>\"|?*\\\x00\n\t")
}

func (t *winText) files(at, last string) (out Verdict) {
	if unheld(at) {
		return 0
	}
	g, listed, held := t.rights(at, last)
	give := func(has uint32, name string, acts Verdict) {
		if r := winRight(name); has&r != 0 {
			out |= acts
			if has&winOpen != winOpen && has != 0 {
				out |= Odd
			}
		}
	}
	if !listed {
		return Read | List | Execute
	}
	give(g.file, "FILE_READ_DATA", Read)
	give(g.dir, "FILE_READ_DATA", List)
	give(g.file, "FILE_WRITE_DATA", Write|Truncate)
	give(g.file, "FILE_WRITE_ATTRIBUTES", Metadata)
	give(g.file, "FILE_EXECUTE", Execute)
	defer func() {
		if t.alone {
			out &^= Execute
		}
	}()
	if up, ok := parent(at); ok && !held {
		in, _, _ := t.rights(up, last)
		give(g.file, "DELETE", Delete)
		give(g.dir, "DELETE", Rmdir)
		give(in.dir, "FILE_ADD_FILE", Create|Fill)
		give(in.dir, "FILE_ADD_SUBDIRECTORY", Mkdir)
		if at != last && in.dir&winRight("FILE_ADD_FILE") != 0 {
			out |= t.Acts() &^ Symlink // the maker of a file chooses its list
		}
	}
	return out
}

func (t *winText) moves(from, to string) (out Verdict) {
	if unheld(from) || unheld(to) {
		return 0
	}
	src, _, held := t.rights(from, from)
	up, ok := parent(to)
	if !ok {
		return 0
	}
	in, _, _ := t.rights(up, up)
	dst, _, kept := t.rights(to, to)
	if held {
		src.file, src.dir = src.file&^winRight("DELETE"), src.dir&^winRight("DELETE")
	}
	file, dir := in.dir&winRight("FILE_ADD_FILE") != 0, in.dir&winRight("FILE_ADD_SUBDIRECTORY") != 0
	if src.file&winRight("DELETE") != 0 && file {
		out |= RenameFile
		if dst.file&winRight("DELETE") != 0 && !kept {
			out |= ReplaceFile
		}
	}
	if src.dir&winRight("DELETE") != 0 && dir {
		out |= RenameDir
	}
	if src.file&winRight("FILE_WRITE_ATTRIBUTES") != 0 && file && from != root(from) {
		out |= Link
	}
	if t.there[to] {
		out &= ReplaceFile
	}
	return out
}
