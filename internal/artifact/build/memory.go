package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/accessc/accessc/backends"
)

// memory is the record of the last build of a directory. It is kept in the user's state, where no
// tool writes: a manifest that named its own inputs could vouch for artifacts that somebody else
// has changed together with it.
// See decision D223.
type memory struct {
	// Tools are the tools of the build.
	Tools map[string]remembered `json:"tools"`
	// Ledgers are the texts behind this, in their order.
	Ledgers []block `json:"ledgers"`

	texts map[string]*text // of the ledgers, by hash
}

// remembered is a tool that was built.
type remembered struct {
	Input  string `json:"input"` // the hash of all that its artifacts depend on
	Entry  Entry  `json:"entry"`
	Ledger string `json:"ledger,omitempty"` // the hash of its text
}

// block is a text by its hash.
type block struct {
	Hash string `json:"sha256"`
	Size int    `json:"size"`
}

// maxMemory bounds the record of a build, in bytes.
const maxMemory = 256 << 20

// recollect reads a record. A record that is missing, damaged or of another form is empty: then
// every tool is compiled.
func recollect(file string) (*memory, []byte) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return &memory{}, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return &memory{}, nil
	}
	m, err := parseMemory(data)
	if err != nil {
		return &memory{}, nil
	}
	return m, data
}

var errMemory = errors.New("not a record of a build")

// parseMemory reads the hash of the rest, a line of JSON and the ledgers.
func parseMemory(data []byte) (*memory, error) {
	sum, rest, _ := bytes.Cut(data, []byte("\n"))
	if Hash(rest) != string(sum) {
		return nil, errMemory
	}
	line, rest, _ := bytes.Cut(rest, []byte("\n"))
	m := &memory{texts: map[string]*text{}}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, err
	}
	for _, b := range m.Ledgers {
		if b.Size < 0 || b.Size > len(rest) || Hash(rest[:b.Size]) != b.Hash {
			return nil, errMemory
		}
		m.texts[b.Hash], rest = &text{json: rest[:b.Size], hash: b.Hash}, rest[b.Size:]
	}
	return m, nil
}

func (m *memory) marshal() ([]byte, error) {
	m.Ledgers = nil
	var texts bytes.Buffer
	for _, hash := range slices.Sorted(maps.Keys(m.texts)) {
		m.Ledgers = append(m.Ledgers, block{hash, len(m.texts[hash].json)})
		texts.Write(m.texts[hash].json)
	}
	line, err := backends.Compact(m)
	rest := slices.Concat(line, []byte("\n"), texts.Bytes())
	return slices.Concat([]byte(Hash(rest)), []byte("\n"), rest), err
}

// keep records a build for the next: the tools of a whole build, or the tools of a partial
// build beside the tools that it left as they are. No error is reported: without a record the
// next build compiles every tool.
func (m *memory) keep(file string, x *Index, before []byte) {
	next := &memory{Tools: map[string]remembered{}, texts: map[string]*text{}}
	if x.partial {
		maps.Copy(next.Tools, m.Tools)
	}
	texts := maps.Clone(m.texts)
	if texts == nil {
		texts = map[string]*text{}
	}
	for _, p := range x.parts {
		r := remembered{Input: p.input, Entry: p.entry}
		if p.ledger != nil {
			r.Ledger = p.ledger.hash
			texts[r.Ledger] = p.ledger
		}
		if p.input != "" {
			next.Tools[p.entry.Name] = r
		}
	}
	for _, r := range next.Tools {
		if r.Ledger != "" {
			next.texts[r.Ledger] = texts[r.Ledger]
		}
	}
	if data, err := next.marshal(); err == nil && !bytes.Equal(data, before) {
		_ = replace(file, data)
	}
}

// replace gives a name to a new file that only the user reads. It need not survive a crash: a
// file that does not have its hash is no record.
func replace(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".building-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// input is the hash of all that the artifacts of a tool depend on in a portable build: the policy
// with its origins, the form, the backends, and the program that compiles it. It is empty where
// nothing is remembered: a resolved build depends on the host besides, and one with backends of others on them.
func (req *Request) input(p *part) (string, error) {
	if req.Memory == "" || req.Form != backends.Portable || len(req.External) > 0 {
		return "", nil
	}
	program, err := programHash()
	if err != nil {
		return "", nil // without it nothing is remembered
	}
	id, err := backends.Compact(p.identity)
	if err != nil {
		return "", err
	}
	var names []string
	for _, b := range req.Backends {
		names = append(names, b.Name())
	}
	h := sha256.New()
	for _, s := range []string{program, req.Form.String(), strings.Join(names, " "), string(id), p.policy.hash} {
		h.Write([]byte(s + "\n"))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Program is the hash of the running program: two programs of the same version may differ.
func Program() (string, error) { return programHash() }

// programHash is the hash of the running program. Linux knows its file also after another file
// has taken its name.
var programHash = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "linux" {
		name = "/proc/self/exe"
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
})

// recall completes the part of a tool that an earlier build has written from the same input, if
// all its files are still there as they were written.
func (o *output) recall(p *part) (bool, error) {
	r, known := o.memory.Tools[p.identity.Name]
	ledger := o.memory.texts[r.Ledger]
	if !known || r.Input != p.input || r.Ledger != "" && ledger == nil {
		return false, nil
	}
	names := slices.Sorted(maps.Keys(r.Entry.Artifacts))
	for _, name := range names {
		data, err := readIn(o.root, r.Entry.Name+"/"+name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (data == nil || Hash(data) != r.Entry.Artifacts[name]) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		o.made[r.Entry.Name+"/"+name] = true
	}
	p.entry, p.ledger = r.Entry, ledger
	return true, nil
}
