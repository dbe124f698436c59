package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// Mentions reports whether the text of a store that is malformed names a directory that a path lies in, or breaks off in a name
// that may become one: what was approved by it cannot be told otherwise. known is false for a store that is not malformed, or
// cannot be read again.
func Mentions(store, path string, err error) (mentions, known bool) {
	var malformed *malformedError
	if !errors.As(err, &malformed) {
		return false, false
	}
	data, err := readFile(store)
	if err != nil {
		return false, false
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

// quotes are the parts of a text from a quotation mark to the next one, or to the end: a mark that is missing may have
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
