package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/files/bounded"
)

// Mentions reports whether the text of a store that could not be loaded names a directory that a path lies in, or
// breaks off in a name that may become one: what was approved by it cannot be told otherwise. A store without a
// text approves nothing. known is false where the error may pass, such as a lack of descriptors, which a tool can
// bring about.
// See decision D453.
func Mentions(store, path string, err error) (mentions, known bool) {
	if !lasting(err) {
		return false, false
	}
	data, err := readBy(store, func(*os.File, os.FileInfo) error { return nil })
	if err != nil {
		return false, lasting(err)
	}
	for _, quoted := range quotes(data) {
		var text string
		whole := json.Unmarshal(quoted, &text) == nil
		if !whole {
			text = strings.ReplaceAll(strings.Trim(string(quoted), `"`), `\\`, `\`)
		}
		text = filepath.FromSlash(text)
		switch rel, err := filepath.Rel(text, path); {
		case !filepath.IsAbs(text):
		case err == nil && filepath.IsLocal(rel), !whole && strings.HasPrefix(path, text):
			return true, true
		}
	}
	return false, true
}

// lasting reports whether an error is about the store itself: its text, its kind, its owner and mode, or its size.
func lasting(err error) bool {
	var malformed *malformedError
	var unfit *unfitError
	var large bounded.TooLarge
	return errors.As(err, &malformed) || errors.As(err, &unfit) || errors.As(err, &large) ||
		errors.Is(err, fs.ErrPermission)
}

// quotes are the parts of a text from a quotation mark to the next, or to the end: a mark that is missing may have
// turned the inside of strings into the outside.
func quotes(data []byte) [][]byte {
	var out [][]byte
	for i := bytes.IndexByte(data, '"'); i >= 0; {
		end := i + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(data) {
			return append(out, data[i:])
		}
		out = append(out, data[i:end+1])
		i = end
	}
	return out
}
