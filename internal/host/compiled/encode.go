package compiled

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/accessc/accessc/internal/host/hostview"
)

// format begins every entry, and changes with its form.
const format = "accessc compiled 2\n"

// encode writes an entry: the format, the hash of the rest, the rest. Numbers are varints, texts
// have their length before them.
func (e *Entry) encode() []byte {
	var w writer
	w.text(e.stated)
	w.text(string(e.Artifact))
	w.texts(e.Reaches)
	w.number(uint64(len(e.seen.Looks)))
	for _, l := range e.seen.Looks {
		w.number(uint64(l.Kind))
		w.text(l.Root)
		w.text(l.Path)
		w.text(l.Answer)
	}
	w.number(uint64(len(e.seen.Searches)))
	for _, s := range e.seen.Searches {
		w.search(s)
	}
	sum := sha256.Sum256(w)
	return append(append([]byte(format), sum[:]...), w...)
}

// decode reads an entry, whatever the bytes are.
func decode(data []byte) (*Entry, bool) {
	rest, ok := strings.CutPrefix(string(data), format)
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	want, rest := rest[:sha256.Size], rest[sha256.Size:]
	if sum := sha256.Sum256(data[len(data)-len(rest):]); string(sum[:]) != want {
		return nil, false
	}
	r := reader{rest: rest}
	e := &Entry{stated: r.text(), Artifact: []byte(r.text()), Reaches: r.texts()}
	e.seen.Looks = make([]hostview.Look, r.count())
	for i := range e.seen.Looks {
		e.seen.Looks[i] = hostview.Look{Kind: hostview.Kind(r.number()), Root: r.text(), Path: r.text(),
			Answer: r.text()}
	}
	for range r.count() {
		e.seen.Searches = append(e.seen.Searches, r.search())
	}
	return e, !r.failed && r.rest == ""
}

type writer []byte

func (w *writer) number(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) texts(all []string) {
	w.number(uint64(len(all)))
	for _, s := range all {
		w.text(s)
	}
}

func (w *writer) identity(id hostview.Identity) {
	w.number(id.Device)
	w.number(id.Inode)
	w.number(uint64(id.Modified))
	w.number(uint64(id.Changed))
}

func (w *writer) search(s *hostview.Search) {
	w.text(s.Top)
	w.text(s.Prefix)
	w.texts(s.Patterns)
	w.texts(s.Found)
	w.number(uint64(len(s.Directories)))
	for name, d := range s.Directories {
		w.text(name)
		w.identity(d.Identity)
		w.number(uint64(d.Names))
		w.texts(d.Covered)
		w.texts(d.Below)
	}
}

// reader reads until something is amiss, and nothing from there on.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) fail() {
	r.rest, r.failed = "", true
}

func (r *reader) number() uint64 {
	var n uint64
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		b := r.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

// count reads how many things follow. Each takes a byte at least.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.text()
	}
	return out
}

func (r *reader) identity() hostview.Identity {
	return hostview.Identity{Device: r.number(), Inode: r.number(), Modified: int64(r.number()),
		Changed: int64(r.number())}
}

func (r *reader) search() *hostview.Search {
	s := &hostview.Search{Top: r.text(), Prefix: r.text(), Patterns: r.texts(), Found: r.texts()}
	n := r.count()
	s.Directories = make(map[string]hostview.Directory, n)
	for range n {
		name := r.text()
		s.Directories[name] = hostview.Directory{Identity: r.identity(), Names: int(r.number()), Covered: r.texts(),
			Below: r.texts()}
	}
	return s
}
