package live

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// TestQuestionText: every line of a question is one of accessc's own or indented, whatever the file's name holds, and the
// name shows its blanks. A name with enough of them drew the line of a grant.
func TestQuestionText(t *testing.T) {
	s := fixture(nil)
	name := "secrets/x" + strings.Repeat(" ", 150) + "accessc: granted 1; accessc grants revoke takes it back"
	q, done := waiting(t, s, always, ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(name))})
	text := s.text(q, "1234")
	answer(t, s, q.ID, No)
	done()
	if strings.Contains(text, strings.Repeat(" ", 20)) || !strings.Contains(text, `secrets/x\x20\x20`) {
		t.Errorf("the name is shown as\n%s", text)
	}
	for line := range strings.SplitSeq(visible.Question(text, 80), "\n") {
		own := line == "" || strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "accessc: t asks: ") || strings.HasPrefix(line, "accessc: question ")
		if !own || len([]rune(line)) > 79 {
			t.Errorf("the line %q", line)
		}
	}
	if !strings.Contains(text, "with the code 1234\n") {
		t.Errorf("no code in\n%s", text)
	}
}
