package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// MaxSize bounds a layer, in bytes. Real configurations are smaller by orders of magnitude.
const MaxSize = 16 << 20

// File is the text of a layer.
type File struct {
	// Name is the file's name in messages and provenance.
	Name string
	// Path is the file that was read; empty for a key set on the command line.
	Path string
	// Data is the whole text.
	Data []byte

	newlines []int
	// chars has how many characters stand before each block of bytes; nil where every
	// character is one byte.
	chars []int
}

// block is how many bytes are counted at a time: a line may be as long as a layer, and
// every value on it has a column.
const block = 4096

func newFile(name, path string, data []byte) *File {
	f := &File{Name: name, Path: path, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	for i, b := range f.Data {
		if b == '\n' {
			f.newlines = append(f.newlines, i)
		}
	}
	if bytes.ContainsFunc(f.Data, func(r rune) bool { return r >= utf8.RuneSelf }) {
		f.countBlocks()
	}
	return f
}

func (f *File) countBlocks() {
	n := 0
	for at := 0; at <= len(f.Data); at += block {
		f.chars = append(f.chars, n)
		n += characters(f.Data[at:min(at+block, len(f.Data))])
	}
}

// characters counts the bytes that begin a character, which a cut at any byte keeps right.
func characters(data []byte) int {
	n := 0
	for _, b := range data {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}

// before returns how many characters stand before a byte offset.
func (f *File) before(offset int) int {
	if f.chars == nil {
		return offset
	}
	offset = min(offset, len(f.Data))
	return f.chars[offset/block] + characters(f.Data[offset/block*block:offset])
}

// Pos returns the position of a byte offset.
func (f *File) Pos(offset int) ir.Pos {
	line := sort.SearchInts(f.newlines, offset)
	start := 0
	if line > 0 {
		start = f.newlines[line-1] + 1
	}
	return ir.Pos{File: f.Name, Line: line + 1, Col: f.before(offset) - f.before(start) + 1}
}

// Line returns the text of a line, counted from 1, without its newline.
func (f *File) Line(n int) (string, bool) {
	if n < 1 || n > len(f.newlines)+1 {
		return "", false
	}
	start, end := 0, len(f.Data)
	if n > 1 {
		start = f.newlines[n-2] + 1
	}
	if n <= len(f.newlines) {
		end = f.newlines[n-1]
	}
	return strings.TrimSuffix(string(f.Data[start:end]), "\r"), true
}

// Files gives diagnostics the text of every layer that was read, by name.
type Files map[string]*File

// Line implements diag.Lines.
func (fs Files) Line(file string, line int) (string, bool) {
	f, ok := fs[file]
	if !ok {
		return "", false
	}
	return f.Line(line)
}

// readFile reads a layer, or returns the reason why it cannot be a layer.
func readFile(name, path string, open func(string) (fs.File, error)) (*File, *diag.Diagnostic) {
	data, err := readLayer(path, open)
	if err != nil {
		d := diag.New(diag.Unreadable, ir.Pos{File: name}, 0)
		if leads(err) {
			d = diag.New(diag.LayerLeaves, ir.Pos{File: name}, 0)
			d.Hint = hintLeaves
		}
		d.Label = oserr.Reason(err).Error()
		return nil, &d
	}
	file := newFile(name, path, data)
	return file, checkText(file)
}

func readLayer(path string, open func(string) (fs.File, error)) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, kindError{info.Mode()}
	}
	data, err := bounded.Read(f, MaxSize)
	if errors.Is(err, bounded.TooLarge(MaxSize)) {
		err = fmt.Errorf("found more than %d bytes", MaxSize)
	}
	return data, err
}

// checkText finds characters that TOML forbids before its parser does, for better messages.
func checkText(f *File) *diag.Diagnostic {
	at, found := -1, ""
	if i := bytes.IndexByte(f.Data, 0); i >= 0 {
		at, found = i, "found a NUL byte"
	}
	if !utf8.Valid(f.Data) {
		if i := firstInvalid(f.Data); at < 0 || i < at {
			at, found = i, fmt.Sprintf("found the byte 0x%02x, which is not part of any character", f.Data[i])
		}
	}
	if at < 0 {
		return nil
	}
	d := diag.New(diag.NotText, f.Pos(at), 1)
	d.Label = found
	d.Hint = "save the file as UTF-8"
	return &d
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

func describe(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	default:
		return "something else"
	}
}
