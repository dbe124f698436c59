// Package jsonc edits JSON in which comments and last commas may stand, and keeps all of it that it does
// not edit as it is.
package jsonc

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// ErrJSON is the error about a text that is no document.
var ErrJSON = errors.New("the file is not JSON, also without comments and last commas")

// Plain is a document in which blanks stand for comments and for last commas, so that every value
// keeps its place.
func Plain(doc []byte) ([]byte, error) {
	out, err := bare(doc)
	if err != nil {
		return nil, err
	}
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			i += text(out[i:]) - 1
			comma = -1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case !isBlank(c):
			comma = -1
		}
	}
	if _, err := strictjson.Parse(string(out)); err != nil || !utf8.Valid(out) {
		return nil, ErrJSON
	}
	return out, nil
}

// bare is a document in which blanks stand for comments.
func bare(doc []byte) ([]byte, error) {
	out := bytes.Clone(doc)
	if bom := []byte("\ufeff"); bytes.HasPrefix(out, bom) {
		blank(out[:len(bom)])
	}
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			i += text(out[i:]) - 1
		case bytes.HasPrefix(out[i:], []byte("//")):
			end := bytes.IndexByte(out[i:], '\n')
			if end < 0 {
				end = len(out) - i
			}
			blank(out[i : i+end])
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end := bytes.Index(out[i+2:], []byte("*/"))
			if end < 0 {
				return nil, ErrJSON
			}
			blank(out[i : i+end+4])
		}
	}
	return out, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// text is the length of the string at the beginning of a document.
func text(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// blank overwrites a part of a document, except for the ends of lines.
func blank(part []byte) {
	for i, c := range part {
		if c != '\n' && c != '\r' {
			part[i] = ' '
		}
	}
}
