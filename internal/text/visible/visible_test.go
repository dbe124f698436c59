package visible

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain é → –": "plain é → –", "a\tb": `a\tb`, "a\nb\r": `a\nb\r`, "\x1b[31m": `\x1b[31m`, "\u202eabc": `\u202eabc`,
		"\xff\xfe": `\xff\xfe`, "\uFFFD": "\uFFFD", "\u200b\u2066\ufeff": `\u200b\u2066\ufeff`, "\u009b2J": `\u009b2J`, "\U000e0041": `\U000e0041`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\tc\n": "a\nb\tc\n", "\x1b[31mred\x1b[0m": `\u001b[31mred\u001b[0m`, "\r\x7f\u202e": `\u000d\u007f\u202e`,
		"\U000e0041": `\udb40\udc41`, "\xff\xe2\x80": `\xff\xe2\x80`,
	} {
		if got := Lines(in); got != want {
			t.Errorf("Lines(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMessage(t *testing.T) {
	for in, want := range map[string]string{
		"one": "one", "not started:\n  net.host  why": "not started:\n  net.host  why", "a\n::error::x\n y": "a\n  ::error::x\n   y", "\x1b\r": `\u001b\u000d`,
	} {
		if got := Message(in); got != want {
			t.Errorf("Message(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestColor: the sequences by which the program colours pass, and no others: none that hides,
// moves, asks or titles, nor the same by one C1 character.
func TestColor(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31mred\x1b[0m": "\x1b[31mred\x1b[0m", "\x1b[1;31mx": "\x1b[1;31mx", "\x1b[8mhidden": `\u001b[8mhidden`,
		"\x1b[2J": `\u001b[2J`, "\x1b]0;t\x07": `\u001b]0;t\u0007`, "\u009b31m": `\u009b31m`, "\x1b[31;8m": `\u001b[31;8m`, "\x1b[3": `\u001b[3`, "\x1b": `\u001b`,
	} {
		var b strings.Builder
		w := NewWriter(&b, true)
		_, _ = io.WriteString(w, in)
		_ = w.Flush()
		if b.String() != want {
			t.Errorf("%q became %q, want %q", in, b.String(), want)
		}
	}
}

// TestHidden: letters, marks and symbols that are drawn as nothing were shown as they are, since
// unicode.IsPrint calls them printable, so two different names looked the same in a question.
func TestHidden(t *testing.T) {
	for _, r := range "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U0001d159\U000e0100\U000e01ef" {
		text := "a" + string(r) + "b"
		if got := Text(text); !Hidden(r) || strings.ContainsRune(got, r) {
			t.Errorf("Text shows %U as %q", r, got)
		}
		if got := Lines(text); strings.ContainsRune(got, r) {
			t.Errorf("Lines shows %U as %q", r, got)
		}
	}
	for _, r := range " e\u0301é漢한\u0950→\u2801\U0001f600\uFFFD" {
		if Hidden(r) {
			t.Errorf("%U is hidden", r)
		}
	}
}

// TestWriter: for any text in any pieces, no invisible character comes out, visible text is
// unchanged, and a JSON document keeps its value.
func TestWriter(t *testing.T) {
	irtest.Check(t, 20000, 1, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
				"\x1b", "[", "31m", "8m", "\x1b[0m", "\u202e", "\xe2", "\x80", "\xae", "\u200d", "\n", "\r", "\U000e0041", "\ufe0f", "x", `\`, `"`, "\u0085", "\xff",
			})).Draw(r, "parts"), "")
		})).Draw(r, "text")
		color := rapid.Bool().Draw(r, "color")
		var b strings.Builder
		w := NewWriter(&b, color)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "n")
			if wrote, err := w.Write([]byte(rest[:n])); wrote != n || err != nil {
				r.Fatalf("wrote %d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			r.Fatal(err)
		}
		got := b.String()
		if !color && got != Lines(text) {
			r.Fatalf("%q in pieces became %q, in one %q", text, got, Lines(text))
		}
		for _, p := range palette {
			got = strings.ReplaceAll(got, "\x1b["+p+"m", "")
		}
		if strings.ContainsFunc(got, hidden) || !utf8.ValidString(got) {
			r.Fatalf("%q became %q", text, b.String())
		}
		if Lines(got) != got {
			r.Fatalf("%q again became %q", got, Lines(got))
		}

		doc, err := json.Marshal(text)
		if err != nil {
			r.Fatal(err)
		}
		var value, want string
		if err := json.Unmarshal(Bytes(doc), &value); err != nil {
			r.Fatalf("%s became %s: %v", doc, Bytes(doc), err)
		}
		if _ = json.Unmarshal(doc, &want); value != want {
			r.Fatalf("%q became %q", want, value)
		}
	})
}

// hidden defines invisible characters independently of the package.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Variation_Selector))
}
