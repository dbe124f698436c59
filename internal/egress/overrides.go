package egress

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// overridden reports whether a request has a header, or a parameter of its query, by which some server takes another
// method or path than the request's. Reverse proxies write some of them for the servers behind them, clients none.
func overridden(r *http.Request) bool {
	for _, fields := range []http.Header{r.Header, r.Trailer} {
		for name := range fields {
			if overrides(name) {
				return true
			}
		}
	}
	for part := range strings.FieldsFuncSeq(r.URL.RawQuery, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && (strings.EqualFold(name, "_method") || overrides(name)) {
			return true
		}
	}
	return false
}

// Words of fields by which servers take another path: what kind of path, and which part of it.
var (
	kinds = []string{
		"original", "rewrite", "rewritten", "forwarded", "accel", "override", "unencoded", "replaced", "real", "request",
	}
	parts = []string{"url", "uri", "path", "pathname", "prefix", "redirect", "target"}
)

// overrides reports whether a server may take the value of a field for a method or a path. Servers that hand fields on
// as variables know no difference between a hyphen and other marks (RFC 3875, 4.1.18), so none is made here.
func overrides(name string) bool {
	name = strings.ToLower(name)
	words := strings.FieldsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	switch joined := slices.ContainsFunc(words, joined); {
	case len(words) > 1 && words[0] == "access" && words[1] == "control": // CORS asks about a later request
		return false
	case joined, name == "destination": // where a COPY or MOVE goes (RFC 4918, 10.3)
		return true
	case has("method"):
		return len(words) > 1
	}
	return has(kinds...) && has(parts...) || has("script") && has("name")
}

// joined reports whether a word is two of those words without a mark between them.
func joined(word string) bool {
	return strings.HasSuffix(word, "httpmethod") || strings.HasSuffix(word, "methodoverride") ||
		slices.ContainsFunc(kinds, func(kind string) bool {
			part, ok := strings.CutPrefix(word, kind)
			return ok && slices.Contains(parts, part)
		})
}

// lookalikes are characters that some servers read as the ones of ASCII that divide a path, by best fit or
// normalisation (Unicode, compatibility decompositions).
const lookalikes = "\u2024\u2025\u2026\u2044\u2215\u2216\u29f5\u29f8\ufe52\ufe54\ufe56\ufe5f\ufe68\ufe6a" +
	"\uff03\uff05\uff0e\uff0f\uff1b\uff1f\uff3c"

// misread reports whether a server may see other characters in a path than are in it: bytes that are no UTF-8 are
// decoded to dots and slashes by some, and Windows takes blanks and dots away from the end of a name.
func misread(path string) bool {
	text, err := url.PathUnescape(path)
	if err != nil || !utf8.ValidString(text) || strings.ContainsAny(text, lookalikes) {
		return true
	}
	for segment := range strings.SplitSeq(text, "/") {
		last, _ := utf8.DecodeLastRuneInString(segment)
		if segment != "" && (last == '.' || unicode.IsSpace(last)) {
			return true
		}
	}
	return false
}
