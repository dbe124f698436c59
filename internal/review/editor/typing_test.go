package editor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/review/checked"
	"github.com/accessc/accessc/test/irtest"
)

// units are a text as an editor has it that counts in UTF-16.
func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// pieces are what somebody types or deletes.
var pieces = []string{
	"\n", "\r\n", "\r", "[", "]", "{ ", "}", "\"", "'", "=", ".", ",", "# é\n", "𝄞", "é", "read", "raed = true\n", " ", "\t",
	"path = \"𝄞\"\n", "[tools.x]\n", "[[tools.x.access.fs]]\n", "source = \"locl\"\n", "\"preset:rsut\"", "'''", "\u2028", "\ufeff", "x",
}

// whole are lines that leave a text TOML.
var whole = []string{
	"\n", "# é𝄞\r\n", "[tools.tN]\r\nsource = \"𝄞locl\"\n", "[tools.tN]\n'é' = 1\n", "[[tools.tN.access.fs]]\npath = \"𝄞/..\"\nN = 1\n",
	"[tools.tN.access]\nextends = [\"𝄞\", \"preset:rsut\"]\n",
}

// position is the editor's own reading of the protocol: where an offset lies in units of UTF-16 or UTF-8.
func position(text []uint16, offset int, inBytes bool) at {
	p, start := at{}, 0
	for i := 0; i < offset; i++ {
		if text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			p.Line, start = p.Line+1, i+1
		}
	}
	if p.Character = offset - start; inBytes {
		p.Character = len(string(utf16.Decode(text[start:offset])))
	}
	return p
}

// boundary moves an offset out of a character and out of an end of line, where no editor has one.
func boundary(text []uint16, i int) int {
	for i > 0 && i < len(text) && (text[i] >= 0xdc00 && text[i] < 0xe000 || text[i-1] == '\r' && text[i] == '\n') {
		i++
	}
	return i
}

// TestTyping: after any edits the server has the editor's text, and what it shows is what check says of the same text
// on the disk: the same findings, at the same characters.
func TestTyping(t *testing.T) {
	dir := workspace(t, map[string]string{"accessc.toml": policy, "more/a.toml": more})
	file, disk := filepath.Join(dir, "accessc.toml"), workspace(t, map[string]string{"more/a.toml": more})
	clients := map[bool]*client{false: start(t, false, dir), true: start(t, true, dir)}
	for _, c := range clients {
		c.open(file, policy)
	}
	seen := map[string]int{}
	versions := map[bool]int{}
	irtest.Check(t, 1000, 10, func(t *rapid.T) { // ten edits each
		bytes := rapid.Bool().Draw(t, "utf-8")
		c := clients[bytes]
		text := units(policy)
		versions[bytes]++
		c.replace(file, versions[bytes], policy)
		lines := rapid.Bool().Draw(t, "lines")
		for i := range 10 {
			from := boundary(text, rapid.IntRange(0, len(text)).Draw(t, "from"))
			to := boundary(text, min(len(text), from+rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 40}).Draw(t, "length")))
			put := rapid.SampledFrom(pieces).Draw(t, "put")
			if lines {
				for from > 0 && text[from-1] != '\n' {
					from--
				}
				to, put = from, strings.ReplaceAll(rapid.SampledFrom(whole).Draw(t, "line"), "N", strconv.Itoa(i))
			}
			versions[bytes]++
			c.note("textDocument/didChange", map[string]any{
				"textDocument": map[string]any{"uri": uri(file), "version": versions[bytes]},
				"contentChanges": []any{map[string]any{
					"range": extent{position(text, from, bytes), position(text, to, bytes)}, "text": put,
				}},
			})
			text = slices.Concat(text[:from], units(put), text[to:])
		}
		now := string(utf16.Decode(text))
		got := c.settled(file)
		if got.Version != versions[bytes] {
			t.Fatalf("the findings are of version %d, not %d", got.Version, versions[bytes])
		}
		var all []string
		for _, d := range got.Diagnostics {
			all = append(all, d.Code+" "+marked(t, text, d.Range, bytes))
		}
		want := check(t, disk, now)
		slices.Sort(all)
		if !slices.Equal(all, want) {
			t.Fatalf("of\n%q\nthe editor is shown %q, check says %q", now, all, want)
		}
		for _, w := range want {
			seen[w[:6]]++
		}
	})
	irtest.Happened(t, seen, "ACC001", "ACC014")
}

// marked is the place of a range, from the beginning of the text, and its text. It must lie in the document.
func marked(t *rapid.T, text []uint16, r extent, inBytes bool) string {
	find := func(p at) int {
		for i := 0; i <= len(text); i++ {
			if position(text, i, inBytes) == p {
				return i
			}
		}
		t.Fatalf("%+v is nowhere in %q", p, string(utf16.Decode(text)))
		return 0
	}
	from, to := find(r.Start), find(r.End)
	return place(string(utf16.Decode(text[:from])), string(utf16.Decode(text[from:to])))
}

// place is a text with some of what stands before it, and how many lines.
func place(before, marked string) string {
	return strconv.Itoa(strings.Count(before, "\n")) + " " + before[max(0, len(before)-6):] + "|" + marked
}

// check is what accessc check says of a text on the disk, by its JSON: line, column and span.
func check(t *rapid.T, dir, text string) (out []string) {
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts, err := config.Flags{Dir: dir, Tested: true}.Options(false)
	if err != nil {
		t.Fatal(err)
	}
	res, findings, err := checked.Compile(opts)
	if err != nil {
		t.Fatal(err)
	}
	var shown diag.List
	for _, d := range findings {
		if d.At.File == "accessc.toml" {
			shown.Add(d)
		}
	}
	shown.Sort()
	for _, d := range shown {
		before, rest := "", ""
		if d.At.Line > 0 {
			file := string(res.Files["accessc.toml"].Data)
			lead := text[:len(text)-len(file)]
			lines := strings.SplitAfter(file, "\n")
			before = strings.Join(lines[:d.At.Line-1], "")
			line := []rune(strings.TrimSuffix(strings.TrimSuffix(lines[d.At.Line-1], "\n"), "\r"))
			col := min(d.At.Col-1, len(line))
			before, rest = lead+before+string(line[:col]), string(line[col:])
			n := min(d.Span, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++ // an editor marks whole characters
			}
			rest = rest[:n]
		}
		out = append(out, string(d.Code)+" "+place(before, rest))
	}
	slices.Sort(out)
	return out
}
