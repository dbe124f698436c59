package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// document is the store's JSON. Other members of the file are kept as they are: other programs,
// and later versions of this program, may share it.
type document struct {
	members []member
	mounts  []entry
	answers []Answer
}

// member is a key of the top-level object. Members that this package reads have no value
// here.
type member struct {
	key   string
	value json.RawMessage
}

// entry is a binding and, if it was read, its object in the file.
type entry struct {
	Mount
	raw json.RawMessage
}

const (
	mountsKey  = "mounts"
	answersKey = "sensitive"
)

// mountJSON is the written form of a binding. A nil pointer is a missing member.
type mountJSON struct {
	RulePath        *string `json:"rule_path"`
	CanonicalTarget *string `json:"canonical_target"`
	ApprovedAt      string  `json:"approved_at,omitempty"`
	ApprovedBy      string  `json:"approved_by,omitempty"`
}

// malformedError is the error for text that is no store.
type malformedError struct{ err error }

// Error implements error.
func (e *malformedError) Error() string { return "malformed: " + e.err.Error() }

// Unwrap returns the problem of the text.
func (e *malformedError) Unwrap() error { return e.err }

// parse reads a store. The error is a *malformedError.
func parse(data []byte) (document, error) {
	var d document
	if !utf8.Valid(data) {
		return d, &malformedError{errors.New("not UTF-8")}
	}
	if err := d.read(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return document{}, &malformedError{err}
	}
	return d, nil
}

func (d *document) read(dec *json.Decoder) error {
	if t, err := dec.Token(); err != nil {
		return ended(err)
	} else if t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return ended(err)
		}
		m := member{key: t.(string)} // a key: the decoder accepts nothing else here
		if err := dec.Decode(&m.value); err != nil {
			return ended(err)
		}
		if err := d.understand(&m); err != nil {
			return err
		}
		d.members = append(d.members, m)
	}
	if _, err := dec.Token(); err != nil {
		return ended(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("found data after the JSON object")
	}
	return nil
}

// understand reads the keys that this package knows.
func (d *document) understand(m *member) (err error) {
	if m.key != mountsKey && m.key != answersKey {
		return nil
	}
	if d.has(m.key) {
		return fmt.Errorf("found %q twice", m.key)
	}
	if m.key == mountsKey {
		d.mounts, err = readMounts(m.value)
	} else if err = json.Unmarshal(m.value, &d.answers); err != nil {
		err = fmt.Errorf("%q: %w", m.key, err)
	}
	m.value = nil
	return err
}

// ended says in words that the text stops too early.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return err
}

// readMounts reads the bindings. A binding that lacks a path or a target makes the whole store
// malformed: guessing its meaning would be deciding for the user.
func readMounts(raw json.RawMessage) ([]entry, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("%q: %w", mountsKey, err)
	}
	out := make([]entry, 0, len(items))
	for i, item := range items {
		var m mountJSON
		if err := json.Unmarshal(item, &m); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", mountsKey, i, err)
		}
		if m.RulePath == nil || m.CanonicalTarget == nil {
			return nil, fmt.Errorf("%s[%d]: rule_path or canonical_target is missing", mountsKey, i)
		}
		at, err := time.Parse(time.RFC3339, m.ApprovedAt)
		if err != nil {
			at = time.Time{}
		}
		out = append(out, entry{Mount{*m.RulePath, *m.CanonicalTarget, at, m.ApprovedBy}, item})
	}
	return out, nil
}

// text writes the store: keys in the order in which they were read, two spaces of
// indentation, a final newline.
func (d document) text() ([]byte, error) {
	members := d.members
	if !d.has(mountsKey) {
		members = append([]member{{key: mountsKey}}, members...)
	}
	if !d.has(answersKey) && len(d.answers) > 0 {
		members = append(slices.Clone(members), member{key: answersKey})
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := d.member(&b, m); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (d document) has(key string) bool {
	for _, m := range d.members {
		if m.key == key {
			return true
		}
	}
	return false
}

func (d document) member(b *bytes.Buffer, m member) error {
	if err := appendJSON(b, m.key); err != nil {
		return err
	}
	b.WriteByte(':')
	switch m.key {
	case mountsKey:
		return d.writeMounts(b)
	case answersKey:
		return appendJSON(b, append([]Answer{}, d.answers...))
	default:
		b.Write(m.value)
		return nil
	}
}

func (d document) writeMounts(b *bytes.Buffer) error {
	b.WriteByte('[')
	for i, e := range d.mounts {
		if i > 0 {
			b.WriteByte(',')
		}
		if e.raw != nil {
			b.Write(e.raw)
			continue
		}
		at := e.ApprovedAt.Format(time.RFC3339)
		if err := appendJSON(b, mountJSON{&e.RulePath, &e.CanonicalTarget, at, e.ApprovedBy}); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// appendJSON writes a value without the escapes that only HTML needs.
func appendJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
