package undo

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"
)

// Format and Version identify a journal. The version changes when a reader of the older form would misunderstand the
// newer.
const (
	format  = "accessc-undo"
	version = 1
)

// name is a path or a name of any bytes, escaped in JSON as in a URL.
type name string

// MarshalText implements encoding.TextMarshaler.
func (n name) MarshalText() ([]byte, error) {
	return []byte(strings.ReplaceAll(url.PathEscape(string(n)), "%2F", "/")), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *name) UnmarshalText(text []byte) error {
	s, err := url.PathUnescape(string(text))
	*n = name(s)
	return err
}

// print is what tells a state of a file from every other: any change of a file sets CTime, which no program chooses.
type print struct {
	// ID tells the file from all others, also from later files with its inode number: it has the time of birth.
	ID    string `json:"id"`
	Mode  uint32 `json:"m"` // with the type, as st_mode
	UID   uint32 `json:"u,omitempty"`
	GID   uint32 `json:"g,omitempty"`
	Size  int64  `json:"s,omitempty"`
	MTime int64  `json:"t"` // nanoseconds
	CTime int64  `json:"c"`
}

// Types of files in a mode (inode(7)).
const (
	typeMask = 0o170000
	typeDir  = 0o040000
	typeFile = 0o100000
	typeLink = 0o120000
)

func (p *print) dir() bool { return p != nil && p.Mode&typeMask == typeDir }

// same reports whether a file is as it was. Others may make and remove names in a directory.
func (p *print) same(q *print) bool {
	if p == nil || q == nil || !p.dir() || !q.dir() {
		return p == q || p != nil && q != nil && *p == *q
	}
	return p.ID == q.ID && p.Mode == q.Mode && p.UID == q.UID && p.GID == q.GID
}

// header begins a journal.
type header struct {
	Format  string    `json:"format"`
	Version int       `json:"format_version"`
	Tool    string    `json:"tool"`
	Begun   time.Time `json:"begun"`
	// Places are the directories that the run could change, absolute.
	Places []name `json:"places"`
	// Undoes is the number of the run that this run takes back, 0 for a run of a tool; Paths are the paths that it
	// takes back of that run, none for all.
	Undoes int    `json:"undoes,omitempty"`
	Paths  []name `json:"paths,omitempty"`
}

// named is a name before the run first changed it. Path is that which it had when the run began.
type named struct {
	Path name   `json:"path"`
	In   string `json:"in"` // the ID of its directory
	Was  *print `json:"was"`
	then print  // Was, as it was written
}

// kept is a file before the run first changed it.
type kept struct {
	Path name `json:"path"`
	print
	// Links is the number of its names.
	Links uint32            `json:"n,omitempty"`
	ATime int64             `json:"a"`
	Attrs map[string][]byte `json:"x,omitempty"`
	// Target is the text of a symlink, Dev the number of a device.
	Target name   `json:"to,omitempty"`
	Dev    uint64 `json:"dev,omitempty"`
	// Blob names the file in the directory of the run with the contents, empty where these have not changed. Linked is
	// set where the blob is the file itself.
	Blob   string `json:"blob,omitempty"`
	Linked bool   `json:"linked,omitempty"`
	then   print  // as it was written
	// also are other paths at which the run came to the file.
	also []string
}

// left is a file as the run left it.
type left struct {
	Path name `json:"path"`
	print
}

// again says that an undo has made a file as it was. Then stands for Now.
type again struct {
	Then print `json:"then"`
	Now  print `json:"now"`
}

// record is a line of a journal: one of these.
type record struct {
	Head  *header    `json:"run,omitempty"`
	Name  *named     `json:"name,omitempty"`
	Kept  *kept      `json:"kept,omitempty"`
	Done  bool       `json:"done,omitempty"` // an undo has brought everything back
	Back  bool       `json:"back,omitempty"` // an undo that was stopped has been taken back
	Left  *left      `json:"left,omitempty"`
	Again *again     `json:"again,omitempty"`
	End   *time.Time `json:"end,omitempty"`
}

// journal is what is read of a run.
type journal struct {
	header
	names map[string]*named // by path
	files map[string]*kept  // by ID
	left  map[string]*print // by path
	again []again
	// undone are the paths that have been taken back by themselves.
	undone map[string]bool
	equal  map[print]print // states of files, by others that they are equal to
	done   bool
	back   bool
	ended  *time.Time
}

// ErrNone says that no run is kept that could be undone.
var ErrNone = errors.New("no run is kept that could be undone: accessc exec --undo keeps what it changes")

var errJournal = errors.New("this is no journal of this version of accessc")

// maxLine bounds a line: paths, attributes of 64 KB each (xattr(7)).
const maxLine = 16 << 20

// read reads a journal. The last line may be a part of a record: what it was to announce was not done.
func read(r io.Reader) (*journal, error) {
	j := &journal{names: map[string]*named{}, files: map[string]*kept{}, left: map[string]*print{}}
	in := bufio.NewReader(r)
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && !first {
			return j, nil
		}
		if err != nil || len(line) > maxLine {
			return nil, errJournal
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, fmt.Errorf("%w: %w", errJournal, err)
		}
		if err := j.add(&rec, first); err != nil {
			return nil, err
		}
	}
}

func (j *journal) add(r *record, first bool) error {
	switch {
	case first != (r.Head != nil):
		return errJournal
	case first:
		if r.Head.Format != format || r.Head.Version != version {
			return errJournal
		}
		j.header = *r.Head
	case r.Name != nil:
		if !j.holds(string(r.Name.Path)) {
			return errJournal
		}
		if j.names[string(r.Name.Path)] == nil {
			if r.Name.Was != nil {
				r.Name.then = *r.Name.Was
			}
			j.names[string(r.Name.Path)] = r.Name
		}
	case r.Kept != nil:
		if !j.holds(string(r.Kept.Path)) || strings.Contains(r.Kept.Blob, "/") {
			return errJournal
		}
		j.keep(r.Kept)
	case r.Left != nil:
		j.left[string(r.Left.Path)] = &r.Left.print
	case r.Again != nil:
		j.again = append(j.again, *r.Again)
	case r.Done:
		j.done = true
	case r.Back:
		j.back = true
	case r.End != nil:
		j.ended = r.End
	default:
		return errJournal
	}
	return nil
}

// keep takes over what a later record has more than an earlier about the same file: the contents.
func (j *journal) keep(k *kept) {
	have := j.files[k.ID]
	if have == nil {
		k.then = k.print
		j.files[k.ID] = k
		return
	}
	if k.Blob != "" && (have.Blob == "" || have.Linked) {
		have.Blob, have.Linked = k.Blob, k.Linked
	}
	if k.Path != have.Path {
		have.also = append(have.also, string(k.Path))
	}
}

// holds reports whether a path is in, or is, a place of the run.
func (j *journal) holds(p string) bool {
	if !path.IsAbs(p) || path.Clean(p) != p {
		return false
	}
	for _, at := range j.Places {
		if within(p, string(at)) {
			return true
		}
	}
	return false
}

// within reports whether a path is another or below it.
func within(p, at string) bool {
	return p == at || strings.HasPrefix(p, strings.TrimSuffix(at, "/")+"/")
}
