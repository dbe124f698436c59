package egress

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// overridden reports whether a request has a header, or a parameter of its query, by which some server takes another
// method or path than the request's. Reverse proxies write some of them for the servers behind them, clients none.
func overridden(r *http.Request) bool {
	for _, fields := range []http.Header{r.Header, r.Trailer} {
		for name := range fields {
			if override(name) {
				return true
			}
		}
	}
	for part := range strings.FieldsFuncSeq(r.URL.RawQuery, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		if override(unescaped(name)) {
			return true
		}
	}
	return false
}

// override reports whether some server takes a name for the name of a method or a path, in whatever way it reads
// names: PHP ends them at NUL and at a bracket, leaves out blanks before them, and has underscores for dots, blanks
// and a first bracket.
func override(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), "\x00")
	name = strings.TrimFunc(name, func(c rune) bool { return c == 0x7f || unicode.IsSpace(c) || unicode.IsControl(c) })
	if i := strings.IndexByte(name, '['); i > 0 {
		name = strings.TrimRightFunc(name[:i], unicode.IsSpace)
	}
	return strings.Trim(underscores.Replace(name), "_") == "method" && name != "method" || overrides(name)
}

var underscores = strings.NewReplacer(".", "_", " ", "_", "[", "_", "]", "_", "-", "_")

// unescaped decodes a part of a query. Percent signs that begin no escape stay, as most servers leave them.
func unescaped(s string) string {
	var out strings.Builder
	for rest := strings.ReplaceAll(s, "+", " "); ; {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		n, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if rest = after; err == nil && len(after) > 1 {
			out.WriteByte(byte(n))
			rest = after[2:]
		} else {
			out.WriteByte('%')
		}
	}
}

// Words of fields by which servers take another path: what kind of path, and which part of it.
var (
	kinds = []string{
		"original", "raw", "rewrite", "rewritten", "forwarded", "accel", "override",
		"unencoded", "replaced", "real", "request", "invoke", "matched",
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
	// where stores of objects copy from, Next.js
	case has("copy") && has("source"), has("middleware") && has("rewrite"):
		return true
	case len(words) == 2 && words[0] == "x" && has("url", "uri", "path", "pathname"):
		return true
	case has("method", "verb"), has("http") && has("action"):
		return len(words) > 1
	}
	return has(kinds...) && has(parts...) || has("script") && has("name")
}

// joined reports whether a word is two of these words without a mark between them.
func joined(word string) bool {
	return strings.HasSuffix(word, "httpmethod") || strings.HasSuffix(word, "methodoverride") ||
		slices.ContainsFunc(kinds, func(kind string) bool {
			part, ok := strings.CutPrefix(word, kind)
			return ok && slices.Contains(parts, part)
		})
}

// lookalikes are characters that some servers read as the ASCII characters that divide a path, by best fit
// or normalisation (Unicode, compatibility decompositions).
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
