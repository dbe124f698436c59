package diag_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestSourceFillsNoLine: whatever a quoted line holds, none of it stands at the left edge of the terminal. Blanks of
// the file, or characters of two columns, filled the line of the terminal, so that the rest looked like accessc's own.
func TestSourceFillsNoLine(t *testing.T) {
	const forged, columns = "accessc: approved, nothing new is granted", 80
	fillers := []string{" ", "-", "漢", "é", "\t", "🙂", "\u3000", " a", ". "}
	irtest.Many(t, 30_000, func(r *rand.Rand) error {
		line := "path = "
		for range 1 + r.IntN(3) {
			line += strings.Repeat(fillers[r.IntN(len(fillers))], r.IntN(120))
		}
		line += forged + strings.Repeat("x", r.IntN(40))
		d := diag.New(diag.BadRule, ir.Pos{File: "f", Line: 1, Col: 1 + r.IntN(len(line))}, 1+r.IntN(len(line)))
		d.Label = "found it"
		var b strings.Builder
		if err := (diag.Text{Lines: lines{"f": {line}}, Width: columns}).Write(&b, diag.List{d}); err != nil {
			return err
		}
		for shown := range strings.SplitSeq(b.String(), "\n") {
			used := 0
			for _, c := range shown {
				used += visible.Columns(c)
			}
			if strings.HasPrefix(shown, "1 | ") && (used > columns || strings.Contains(shown, strings.Repeat(" ", 61))) {
				return fmt.Errorf("the line has %d columns in\n%s", used, b.String())
			}
		}
		return nil
	})
}

// TestLongRuns: long runs of blanks are counted, and short runs stay as they are.
func TestLongRuns(t *testing.T) {
	short := strings.Repeat(" ", 12) + "a = 1" + strings.Repeat(" ", 20) + "# b"
	for line, want := range map[string]string{
		short: short, "a" + strings.Repeat(" ", 70) + "b": "a…(70 blanks)…b",
		"a" + strings.Repeat("\t", 30) + "b": "a…(30 blanks)…b",
	} {
		var b strings.Builder
		d := diag.New(diag.BadRule, ir.Pos{File: "f", Line: 1, Col: 1}, 1)
		err := diag.Text{Lines: lines{"f": {line}}}.Write(&b, diag.List{d})
		if err != nil || !strings.Contains(b.String(), "1 | "+want+"\n") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}
