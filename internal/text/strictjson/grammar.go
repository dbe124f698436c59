package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The grammar of JSON (RFC 8259, sections 2 to 7). Each function begins at the place of the decoder and leaves it behind the
// text that it read.
// See decision D103.

// next is the first byte after blanks, 0 at the end.
func (d *decoder) next() byte {
	at := d.at
	for at < len(d.data) && (d.data[at] == ' ' || d.data[at] == '\n' || d.data[at] == '\t' || d.data[at] == '\r') {
		at++
	}
	d.at = at
	if at == len(d.data) {
		return 0
	}
	return d.data[at]
}

// raw passes the next value by, and returns its text.
func (d *decoder) raw() string {
	d.next()
	from := d.at
	d.pass()
	return d.data[from:d.at]
}

// pass passes the next value by.
func (d *decoder) pass() {
	switch d.next() {
	case '"':
		d.quoted()
	case '{':
		d.each(func() { d.name(); d.pass() })
	case '[':
		d.each(d.pass)
	case 't':
		d.word("true")
	case 'f':
		d.word("false")
	case 'n':
		d.word("null")
	default:
		d.numeral()
	}
}

// each passes a list or object by, whose bracket comes next, and calls read at each of its members until a mistake.
func (d *decoder) each(read func()) {
	last, from := d.data[d.at]+2, d.at // last is the bracket that ends it, in ASCII
	if d.deep++; d.deep > d.deepest {
		d.refuse("more than %d lists and objects in each other", d.deepest)
		return
	}
	d.at++
	if d.next() != last {
		read()
		for d.err == nil && d.next() == ',' {
			d.at++
			read()
		}
		if d.next() != last {
			d.malformed()
			return
		}
	}
	d.at++
	d.deep--
	if d.weight += d.at - from; d.heaviest > 0 && d.weight > d.heaviest {
		d.refuse("lists and objects in each other that are too long to be read")
	}
}

// members calls read at the value of each member of an object, whose bracket comes next, with its name.
func (d *decoder) members(read func(name string)) {
	d.each(func() {
		if name := d.name(); d.err == nil {
			read(name)
		}
	})
}

// name reads the name of a member, and the colon behind it.
func (d *decoder) name() string { return d.key().Str }

func (d *decoder) key() Value {
	if d.next() != '"' {
		d.malformed()
		return Value{}
	}
	key := d.here()
	if d.next() != ':' {
		d.malformed()
		return Value{}
	}
	d.at++
	return key
}

// quoted reads a string, whose quote comes next. It returns the text between the quotes, and whether that has escapes.
func (d *decoder) quoted() (text string, escapes bool) {
	from := d.at + 1
	for at := from; ; {
		for at < len(d.data) && d.data[at] >= ' ' && d.data[at] != '"' && d.data[at] != '\\' {
			at++
		}
		if at < len(d.data) && d.data[at] == '"' {
			d.at = at + 1
			return d.data[from:at], escapes
		}
		n := escape(d.data[at:])
		if n == 0 {
			d.malformed()
			return "", false
		}
		at, escapes = at+n, true
	}
}

// text reads the next value, a string, and returns its text.
func (d *decoder) text() string {
	text, escapes := d.quoted()
	if !escapes {
		return text
	}
	out := make([]byte, 0, len(text))
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '\\')
		if i < 0 {
			i = len(text) - at
		}
		out, at = append(out, text[at:at+i]...), at+i
		if at < len(text) {
			r, n := character(text[at:])
			out, at = utf8.AppendRune(out, r), at+n
		}
	}
	return string(out)
}

// character is the character of the escape that a text begins with, and the length of that: of two escapes where they
// are a pair of surrogates (RFC 8259, section 7). A lone surrogate is none, and U+FFFD stands for it.
func character(text string) (rune, int) {
	if text[1] != 'u' {
		return rune("\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, text[1])]), 2
	}
	unit := func(escape string) rune {
		n, _ := strconv.ParseUint(escape[2:6], 16, 16)
		return rune(n)
	}
	r := unit(text)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if strings.HasPrefix(text[6:], `\u`) {
		if pair := utf16.DecodeRune(r, unit(text[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// escape is the length of the escape that a text begins with, 0 if it begins with none.
func escape(text string) int {
	switch {
	case len(text) < 2 || text[0] != '\\':
		return 0
	case text[1] != 'u':
		return 2 * min(1, strings.Count(`"\/bfnrt`, text[1:2]))
	case len(text) < 6 || strings.Trim(text[2:6], "0123456789abcdefABCDEF") != "":
		return 0
	}
	return 6
}

func (d *decoder) word(word string) {
	if !strings.HasPrefix(d.data[d.at:], word) {
		d.malformed()
		return
	}
	d.at += len(word)
}

func (d *decoder) numeral() {
	d.one("-")
	whole := d.one("0") || d.digits()
	if d.one(".") {
		whole = d.digits() && whole
	}
	if d.one("eE") {
		d.one("+-")
		whole = d.digits() && whole
	}
	if !whole {
		d.malformed()
	}
}

// one passes one of some characters by, and reports whether there was any.
func (d *decoder) one(of string) bool {
	if d.at == len(d.data) || strings.IndexByte(of, d.data[d.at]) < 0 {
		return false
	}
	d.at++
	return true
}

// digits passes digits by, and reports whether there was any.
func (d *decoder) digits() bool {
	from := d.at
	for d.at < len(d.data) && '0' <= d.data[d.at] && d.data[d.at] <= '9' {
		d.at++
	}
	return d.at > from
}
