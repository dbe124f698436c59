package visible_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/test/irtest"
)

// TestName: blanks of a name that would look like layout are escaped, and the middle of a very long one is left out.
func TestName(t *testing.T) {
	long := strings.Repeat("a", 300) + strings.Repeat("b", 300)
	for name, want := range map[string]string{
		"a b": "a b", "": "", "a  b": `a\x20\x20b`, " a": `\x20a`, "a ": `a\x20`, "a   b c": `a\x20\x20\x20b c`, "\u00a0\u3000x": `\u00a0\u3000x`,
		"a\nb": `a\nb`, long: strings.Repeat("a", 200) + "…(250 characters left out)…" + strings.Repeat("b", 150),
	} {
		if got := visible.Name(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// screen is what a terminal of so many columns shows: characters have one column or, where they are wide, two, and a line
// that is full goes on in the next.
func screen(text string, columns int, wide func(rune) bool) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		shown, used := "", 0
		for _, r := range line {
			n := 1
			if wide(r) {
				n = 2
			}
			if used += n; used > columns {
				out, shown, used = append(out, shown), "", n
			}
			shown += string(r)
		}
		out = append(out, shown)
	}
	return out
}

// TestQuestionLines: whatever a name holds, it begins no line of the terminal. Blanks, and any other character, filled a line
// so that the rest of the name stood at the left edge like a message of accessc's own.
func TestQuestionLines(t *testing.T) {
	const forged = "accessc: granted 1; accessc grants revoke takes it back"
	fillers := []string{" ", "-", "a", "/", "漢", "é", "e\u0301", "\u3000", "\t", "🙂", "\u2800", " a"}
	irtest.Many(t, 30_000, func(r *rand.Rand) error {
		name := "generated/x"
		for range 1 + r.IntN(3) {
			name += strings.Repeat(fillers[r.IntN(len(fillers))], r.IntN(120))
		}
		name += forged
		shown := []string{name, visible.Name(name)}[r.IntN(2)]
		text := visible.Question("\naccessc: t asks: read "+shown+"\n  file   "+shown+"\naccessc: question 1: ", 80)
		for _, wide := range []func(rune) bool{
			func(rune) bool { return false }, func(r rune) bool { return r >= utf8.RuneSelf },
		} {
			for _, line := range screen(text, 80, wide) {
				own := line == "" || strings.HasPrefix(line, "accessc: t asks: ") || strings.HasPrefix(line, "  ") || line == "accessc: question 1: "
				if !own {
					return fmt.Errorf("%q draws the line %q", name, line)
				}
			}
		}
		return nil
	})
}

// TestQuestionWords: own lines stay as they are, and longer ones break between words, without loss.
func TestQuestionWords(t *testing.T) {
	text := "\nshort\n  " + strings.Repeat("word ", 30) + "end\n"
	got := visible.Question(text, 80)
	if !strings.HasPrefix(got, "\nshort\n  word word") || !strings.HasSuffix(got, " end\n") || strings.ReplaceAll(got, "\n      … ", " ") != text {
		t.Errorf("%q", got)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, "wor") {
			t.Errorf("%q", line)
		}
	}
}
