package fleet

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir/irjson"
)

// A record has the facts of manifests and their policies, one frame for each manifest. Its first line names the format
// and the program that the facts are from; another program may find others. A frame is the lengths of its two parts,
// the hash of the manifest's bytes, a hash of both parts, the facts as JSON and the policies as compressed JSON. The
// last frame is empty; without it the record is not whole.
//
// A record is the user's own, below the state directory or where a snapshot was asked for. The hashes of frames are
// against damage, not against forgery.
const recordFormat = "accessc/fleet 1 "

// Bounds of a record, in bytes.
const (
	maxFacts    = 64 << 20
	maxPolicies = 64 << 20
	maxRecord   = 4 << 30
	// maxInflated bounds the policies of one manifest as JSON.
	maxInflated = 256 << 20
)

var errRecord = errors.New("not a snapshot of accessc fleet")

const headSize = 4 + 4 + 2*sha256.Size

// frame is a manifest in a record.
type frame struct {
	key             [sha256.Size]byte // of the manifest's bytes
	facts, policies []byte
}

// kept is the facts in a frame.
type kept struct {
	// Place is the place of the manifest in a snapshot: the number of the directory, and the path
	// below it.
	Place    string   `json:"place,omitempty"`
	Manifest Manifest `json:"manifest"`
	Needs    []string `json:"needs"` // of each tool
	Listed   []listed `json:"listed"`
}

// listed is the artifacts that a manifest lists of a tool.
type listed struct {
	Name      string            `json:"name"`
	Artifacts map[string]string `json:"artifacts"`
}

func (k *kept) entries() []build.Entry {
	out := make([]build.Entry, len(k.Listed))
	for i, l := range k.Listed {
		out[i] = build.Entry{Name: l.Name, Artifacts: l.Artifacts}
	}
	return out
}

// marshal writes the facts.
func (k *kept) marshal() ([]byte, error) {
	k.Needs = nil
	for _, t := range k.Manifest.Tools {
		k.Needs = append(k.Needs, t.needs)
	}
	return json.Marshal(k)
}

func unmarshalKept(data []byte) (*kept, error) {
	k := &kept{}
	if err := strictjson.Unmarshal(data, k); err != nil {
		return nil, err
	}
	if len(k.Needs) != len(k.Manifest.Tools) {
		return nil, errRecord
	}
	for i := range k.Manifest.Tools {
		k.Manifest.Tools[i].needs = k.Needs[i]
	}
	return k, nil
}

// deflate compresses the policies of a manifest.
func deflate(policies []*irjson.ToolDoc) ([]byte, error) {
	var buf bytes.Buffer
	z, err := flate.NewWriter(&buf, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	err = errors.Join(json.NewEncoder(z).Encode(policies), z.Close())
	return buf.Bytes(), err
}

// inflate is the inverse of deflate.
func inflate(data []byte) ([]*irjson.ToolDoc, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxInflated))
	if err != nil {
		return nil, err
	}
	var out []*irjson.ToolDoc
	return out, strictjson.Unmarshal(text, &out)
}

// writer writes a record.
type writer struct {
	to   *bufio.Writer
	size int64
}

func newWriter(w io.Writer, program string) *writer {
	out := &writer{to: bufio.NewWriterSize(w, 1<<20)}
	n, _ := out.to.WriteString(recordFormat + program + "\n") // Flush has the error
	out.size = int64(n)
	return out
}

func (w *writer) add(f *frame) {
	var head [headSize]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(f.facts)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(f.policies)))
	copy(head[8:], f.key[:])
	sum := f.sum()
	copy(head[8+sha256.Size:], sum[:])
	for _, part := range [][]byte{head[:], f.facts, f.policies} {
		n, _ := w.to.Write(part)
		w.size += int64(n)
	}
}

func (w *writer) end() error {
	w.add(&frame{})
	if w.size > maxRecord {
		return fmt.Errorf("larger than %d bytes", int64(maxRecord))
	}
	return w.to.Flush()
}

func (f *frame) sum() (out [sha256.Size]byte) {
	h := sha256.New()
	h.Write(f.facts)
	h.Write(f.policies)
	h.Sum(out[:0])
	return out
}

// reader reads a record from its beginning to its end.
type reader struct {
	from    *bufio.Reader
	program string
	offset  int64 // of the next frame
}

func newReader(r io.Reader) (*reader, error) {
	out := &reader{from: bufio.NewReaderSize(r, 1<<20)}
	line, err := out.from.ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(line, []byte(recordFormat)) {
		return nil, errRecord
	}
	out.program, out.offset = string(bytes.TrimSpace(line[len(recordFormat):])), int64(len(line))
	return out, nil
}

// head reads the head of the next frame: the lengths of its parts, the key, and the hash of the parts.
func (r *reader) head() (facts, policies uint32, key, sum [sha256.Size]byte, err error) {
	var head [headSize]byte
	if _, err = io.ReadFull(r.from, head[:]); err != nil {
		return 0, 0, key, sum, errRecord
	}
	facts, policies = binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if facts > maxFacts || policies > maxPolicies {
		return 0, 0, key, sum, errRecord
	}
	copy(key[:], head[8:])
	copy(sum[:], head[8+sha256.Size:])
	return facts, policies, key, sum, nil
}

// pass passes over the next frame without looking at its parts.
func (r *reader) pass() (key [sha256.Size]byte, err error) {
	nf, np, key, _, err := r.head()
	if err != nil {
		return key, err
	}
	if _, err := r.from.Discard(int(nf + np)); err != nil {
		return key, errRecord
	}
	r.offset += headSize + int64(nf) + int64(np)
	return key, nil
}

// next returns the next frame, nil at the end.
func (r *reader) next() (*frame, error) {
	nf, np, key, want, err := r.head()
	if err != nil {
		return nil, err
	}
	f := &frame{key: key}
	if f.facts, err = r.part(nf); err == nil {
		f.policies, err = r.part(np)
	}
	if err != nil || f.sum() != want {
		return nil, errRecord
	}
	r.offset += headSize + int64(nf) + int64(np)
	if nf == 0 && np == 0 {
		return nil, nil
	}
	return f, nil
}

// part reads n bytes, without room for more than there are.
func (r *reader) part(n uint32) ([]byte, error) {
	if n <= 1<<20 {
		out := make([]byte, n)
		_, err := io.ReadFull(r.from, out)
		return out, err
	}
	out, err := io.ReadAll(io.LimitReader(r.from, int64(n)))
	if err == nil && len(out) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return out, err
}

// openRecord opens a file that may be a record.
func openRecord(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errKind
	case info.Size() > maxRecord:
		return nil, errRecord
	}
	return os.Open(name)
}

// place is where a frame of a record begins.
type place struct {
	offset int64
	size   int
}

// record is the record of an earlier run, which frames are read from as they are needed.
type record struct {
	file   *os.File
	frames map[[sha256.Size]byte]place
}

// open reads where the frames of a record are; whether they are whole shows when they are used. A record that is
// missing, damaged, or of another program is empty: then every manifest is read anew.
func open(name, program string) *record {
	out := &record{frames: map[[sha256.Size]byte]place{}}
	file, err := openRecord(name)
	if err != nil {
		return out
	}
	r, err := newReader(file)
	if err != nil || r.program != program || program == "" {
		_ = file.Close()
		return out
	}
	out.file = file
	for {
		at := r.offset
		key, err := r.pass()
		if err != nil || r.offset-at == headSize {
			return out
		}
		out.frames[key] = place{at, int(r.offset - at)}
	}
}

func (r *record) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// get returns the frame of a manifest, nil where there is none.
func (r *record) get(key [sha256.Size]byte) *frame {
	p, ok := r.frames[key]
	if !ok {
		return nil
	}
	data := make([]byte, p.size)
	if _, err := r.file.ReadAt(data, p.offset); err != nil {
		return nil
	}
	f, err := (&reader{from: bufio.NewReaderSize(bytes.NewReader(data), 16)}).next()
	if err != nil || f == nil || f.key != key {
		return nil
	}
	return f
}

// maxRecords is how many records are kept: a record for each list of directories that is looked
// at.
const maxRecords = 8

// prune removes the records that were written longest ago, and files that killed runs have left.
func prune(dir string) {
	entries, _ := os.ReadDir(dir) // without them nothing is removed
	type aged struct {
		name string
		at   time.Time
	}
	var all []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, aged{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return b.at.Compare(a.at) })
	for i, f := range all {
		if unfinished := strings.HasPrefix(f.name, unfinishedPrefix); !unfinished && i >= maxRecords ||
			unfinished && time.Since(f.at) > time.Hour {
			_ = os.Remove(filepath.Join(dir, f.name))
		}
	}
}

// unfinishedPrefix begins the names of files that are being written.
const unfinishedPrefix = ".accessc-fleet-"

// replacing is a file that takes the place of another when it is complete.
type replacing struct {
	*os.File
	name string
}

func replace(name string) (*replacing, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), unfinishedPrefix)
	return &replacing{f, name}, err
}

// done gives the file its name if there was no error, and removes it otherwise.
func (r *replacing) done(err error) error {
	if err = errors.Join(err, r.Close()); err == nil {
		err = os.Rename(r.File.Name(), r.name)
	}
	if err != nil {
		_ = os.Remove(r.File.Name())
	}
	return err
}
