package explain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestFit: a table that is fitted into a terminal loses no word and cuts none, and is
// as wide as the terminal at most, unless its words alone are wider.
func TestFit(t *testing.T) {
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		word := rapid.StringMatching(`[a-zé/]{1,9}`)
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Map(rapid.SliceOfN(word, 1, 8), func(w []string) string {
			return strings.Join(w, " ")
		}), 3, 3), 1, 5).Draw(rt, "rows")
		s := Style{Width: rapid.IntRange(1, 120).Draw(rt, "width")}
		wrapped, head := s.fit(rows, 0)
		if head < 1 || head > len(wrapped) {
			rt.Fatalf("a head of %d lines", head)
		}
		for i := range 3 {
			if got, want := words(wrapped, i), words(rows, i); got != want {
				rt.Fatalf("column %d: got %q, want %q", i, got, want)
			}
		}
		// Three columns of at least minColumn, and the gaps between them.
		least := max(s.Width, 3*minColumn+4)
		for _, line := range table(wrapped) {
			if n := utf8.RuneCountInString(line); n > least {
				rt.Fatalf("%d wide, not %d: %q", n, s.Width, line)
			}
		}
	})
}

func words(rows [][]string, column int) string {
	var out []string
	for _, r := range rows {
		out = append(out, strings.Fields(r[column])...)
	}
	return strings.Join(out, " ")
}

// TestWidth: a policy fits a terminal of usual width.
func TestWidth(t *testing.T) {
	tool := ir.NewTool("t")
	origin := ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 1}}
	tool.FS, tool.Declared.FS = []ir.FSRule{
		{Written: "src", At: ir.In("src"), Caps: ir.Write, Origin: origin}, {Written: "src", At: ir.In("src"), Caps: ir.All, Origin: origin},
	}, true
	for range 30 {
		tool.Env = append(tool.Env, ir.EnvRule{Name: "SOME_NAME", Read: true, Origin: origin})
	}
	tool.Command = &ir.Command{Program: "a-program-with-a-name", Args: []string{"and", "arguments", "that", "are", "long"}}
	tool.FS = append(tool.FS, ir.FSRule{Written: ".", At: ir.In(""), Caps: ir.All, Origin: ir.Origin{Pos: ir.Pos{File: ".config/tools/of/mine/that/are/deep/accessc.toml", Line: 1}}})
	p := &Policy{Tool: tool, View: ir.NewView(tool, ir.Linux, ir.Facts{})}
	for _, width := range []int{80, 90, 120} {
		for _, line := range strings.Split(newGroup(p).Text(Style{Width: width})+BaseText(p.View, Style{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d wide, not %d: %q", n, width, line)
			}
		}
	}
}

// TestHang: an answer fits the terminal, and colours take no room.
func TestHang(t *testing.T) {
	text := "no   a sentence of several words\n     \x1b[2mdimmed words of another one\x1b[0m\n"
	want := "no   a sentence of\n     several words\n     \x1b[2mdimmed words of\n     another one\x1b[0m\n"
	if got := (Style{Width: 20}).Hang(text, 5); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := (Style{}).Hang(text, 5); got != text {
		t.Errorf("wrapped without a width: %q", got)
	}
}
