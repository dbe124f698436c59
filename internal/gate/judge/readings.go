package judge

import (
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Readings are the paths that programs may take a text for: as it is, without the blanks around it,
// in the composed form of Unicode, and as the path of a file URL. A text that programs read in
// further ways is an error.
// See decision D137.
func Readings(text string) ([]string, error) {
	if strings.ContainsRune(text, 0) || strings.ContainsRune(text, utf8.RuneError) {
		return nil, errors.New("the path has characters that programs read in different ways")
	}
	plain := trimmed(text)
	if schemeOf(plain) == "file" {
		return filePath(plain)
	}
	out := []string{text}
	add := func(path string) {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	add(plain)
	add(norm.NFC.String(plain))
	if strings.HasPrefix(plain, "~") && plain != "~" && !strings.HasPrefix(plain, "~/") {
		return nil, errors.New("the path begins with ~, which programs read in different ways; ./ before it makes it a name")
	}
	return out, nil
}

// trimmed is a text without the characters around it that programs take for blanks.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// filePath is the path of a file URL, before and after its escapes are taken for characters.
func filePath(text string) ([]string, error) {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		err = errors.New("it names another host")
	}
	if err == nil && u.Path == "" {
		err = errors.New("it has no path")
	}
	if err != nil {
		return nil, errors.New("the file URL cannot be judged: " + err.Error())
	}
	if strings.ContainsRune(u.Path, 0) {
		return nil, errors.New("the path has characters that programs read in different ways")
	}
	out := []string{path.Clean(u.Path)}
	if raw := path.Clean(u.EscapedPath()); raw != out[0] {
		out = append(out, raw)
	}
	return out, nil
}
