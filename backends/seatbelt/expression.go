package seatbelt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"golang.org/x/text/unicode/norm"
)

// maxRunes bounds the characters that a set of a pattern is written out to.
const maxRunes = 128

// component writes a pattern of names as a regular expression that matches a component of a path. The system's
// engine knows bytes, and no classes by name.
func component(pattern string) string {
	var out strings.Builder
	for _, part := range ir.NameParts(pattern) {
		if part.Run() {
			out.WriteString("[^/]*")
		} else {
			out.WriteString(character(part))
		}
	}
	if out.String() == "[^/]*" {
		return "[^/][^/]*" // the path / ends in a name of no characters
	}
	return out.String()
}

// character writes a part of a pattern, in upper and lower case: volumes of the system tell them apart or not, and
// names may be stored composed or decomposed.
func character(part ir.NamePart) string {
	runes, listed := part.FoldedRunes(maxRunes)
	if !listed {
		return wide(part)
	}
	var set []byte
	var texts []string
	for _, r := range runes {
		if r < utf8.RuneSelf {
			set = append(set, byte(r))
			continue
		}
		for _, text := range []string{string(r), norm.NFC.String(string(r)), norm.NFD.String(string(r))} {
			if text[0] >= utf8.RuneSelf || len(text) > 1 {
				texts = append(texts, text)
			}
		}
	}
	slices.Sort(texts)
	return either(set, slices.Compact(texts))
}

// wide writes a part that stands for characters outside of ASCII that are not listed.
func wide(part ir.NamePart) string {
	var in, out []byte
	for c := byte(' '); c < 0x7f; c++ {
		switch {
		case c == '/':
		case part.Folded(rune(c)):
			in = append(in, c)
		default:
			out = append(out, c)
		}
	}
	if slices.ContainsFunc(out, special) {
		return either(in, nil)
	}
	return "[^/" + string(out) + "]"
}

// special reports whether a character has a meaning in a set, or may have for some reader of it.
func special(c byte) bool { return strings.IndexByte(`]^-\[:`, c) >= 0 }

// either writes a choice between characters and texts.
func either(set []byte, texts []string) string {
	var plain []byte
	for _, c := range set {
		if special(c) || len(set) == 1 {
			texts = append(texts, escape(string(c)))
		} else {
			plain = append(plain, c)
		}
	}
	if len(plain) > 0 {
		texts = append([]string{"[" + string(plain) + "]"}, texts...)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "(" + strings.Join(texts, "|") + ")"
}

// escape takes the meaning from the characters of a text.
func escape(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '{' || c == '}':
			out.WriteString("[" + string(rune(c)) + "]")
			continue
		case strings.IndexByte(`\.+*?()|[]^$`, c) >= 0:
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}

// byBytes reports whether a pattern means the same by bytes as by characters.
func byBytes(pattern string) bool {
	for _, part := range ir.NameParts(pattern) {
		runes, listed := part.FoldedRunes(maxRunes)
		if !part.Run() && (!listed || runes[0] >= utf8.RuneSelf) {
			return false
		}
	}
	return true
}

// andBelow is the end of an expression for names and all below them, and below the end for those with a number of
// directories between.
const andBelow = "(/.*)?$"

func below(n int) string { return strings.Repeat("/[^/]*", n) }

// expressions writes filters for the names below a place that patterns match, with an end. No text of a filter
// is longer than the reader takes.
func (p *profile) expressions(at ir.Location, patterns []string, end string) []string {
	const longest = maxText / 2
	var out []string
	var group []string
	size := 0
	flush := func() {
		if group == nil {
			return
		}
		names := strings.Join(group, "|")
		if len(group) > 1 {
			names = "(" + names + ")"
		}
		out, group, size = append(out, p.expression(at, "(.*/)?"+names+end)), nil, 0
	}
	for _, pattern := range patterns {
		text := component(pattern)
		if size+len(text) > longest {
			flush()
		}
		group, size = append(group, text), size+len(text)+1
	}
	flush()
	return out
}

// expression writes a filter for paths below a place whose rest an expression matches.
func (p *profile) expression(at ir.Location, rest string) string {
	where := p.place(at)
	text := strings.TrimSuffix(escape(where.text), "/") + "/" + rest
	texts := []string{start.Quote("^" + text)}
	if where.param != "" {
		texts = []string{start.Quote("^"), "(regex-quote (param " + start.Quote(where.param) + "))", start.Quote(text)}
	}
	last := len(texts) - 1
	if where.param == "" {
		text = "^" + text
	}
	if len(text) > maxText {
		texts = texts[:last]
		for _, part := range cut(text) {
			texts = append(texts, start.Quote(part))
		}
	}
	if len(texts) == 1 {
		return "(regex " + texts[0] + ")"
	}
	return "(regex (string-append " + strings.Join(texts, " ") + "))"
}

// cut takes a text apart into such as a reader takes.
func cut(text string) []string {
	var out []string
	for len(text) > maxText {
		n := maxText
		for !utf8.RuneStart(text[n]) {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return append(out, text)
}

// unspeakable is the reason why a rule's patterns cannot be written, empty if they can.
func unspeakable(r *ir.FSRule) string {
	if slices.ContainsFunc(r.Names, func(n string) bool { return strings.ContainsFunc(n, unicode.IsControl) }) {
		return "a pattern with a control character"
	}
	return ""
}
