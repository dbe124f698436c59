package jsonrpc

import (
	"encoding/json"
	"unicode/utf8"
)

// maxID is the longest id that an outline has, in bytes.
const maxID = 256

// Outline is the part of a message that an answer to it needs. It is read byte by byte in
// constant memory, from text that need not be valid.
type Outline struct {
	depth             int
	quoted, escaped   bool
	token, key        []byte
	id, method        []byte
	truncated, nested bool
}

// Sketch is the outline of a line that need not be a message.
func Sketch(line []byte) *Outline {
	o := &Outline{}
	o.read(line)
	return o
}

// ID is the message's id as it was written, empty where it has none that can be repeated.
func (o *Outline) ID() string {
	if !utf8.Valid(o.id) || !json.Valid(o.id) { // json.Valid takes any bytes within a text
		return ""
	}
	return string(o.id)
}

// Request reports whether the message asks for an answer.
func (o *Outline) Request() bool { return o.method != nil && o.ID() != "" }

func (o *Outline) read(text []byte) {
	for _, c := range text {
		if o.quoted {
			o.take(c)
			switch {
			case o.escaped:
				o.escaped = false
			case c == '\\':
				o.escaped = true
			case c == '"':
				o.quoted = false
			}
			continue
		}
		o.punctuation(c)
	}
}

// punctuation reads a character outside of strings.
func (o *Outline) punctuation(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
	case '{', '[':
		o.nested = o.depth > 0
		o.depth++
	case '}', ']':
		if o.depth == 1 {
			o.member()
		}
		o.depth--
	case ':':
		if o.depth == 1 {
			o.key, o.token = append(o.key[:0], o.token...), o.token[:0]
		}
	case ',':
		if o.depth == 1 {
			o.member()
		}
	default:
		o.quoted = c == '"'
		o.take(c)
	}
}

// take keeps a byte of a key or a value of the message itself.
func (o *Outline) take(c byte) {
	switch {
	case o.depth != 1:
	case len(o.token) == maxID:
		o.truncated = true
	default:
		o.token = append(o.token, c)
	}
}

// member ends a member of the message.
func (o *Outline) member() {
	if !o.truncated && !o.nested {
		switch string(o.key) {
		case `"id"`:
			o.id = append([]byte{}, o.token...)
		case `"method"`:
			o.method = append([]byte{}, o.token...)
		}
	}
	o.key, o.token = o.key[:0], o.token[:0]
	o.truncated, o.nested = false, false
}
