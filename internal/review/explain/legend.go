package explain

import (
	"strings"

	"github.com/accessc/accessc/ir"
)

// term is a word of the ledger and its meaning.
type term struct{ Word, Meaning string }

// legend explains the words of the ledger. A number before a word counts cells.
var legend = []term{
	{ir.Exact.String(), "the system does what the policy says"},
	{ir.Supervised.String(), "exact too; accessc stays beside the tool and " +
		"answers the calls that the system cannot judge"},
	{ir.Stricter.String(), "the system permits less: it may refuse some of what the policy grants"},
	{ir.Weaker.String(), "the system permits more; the tool starts only if that is accepted by name"},
	{ir.Advisory.String(), "only a tool that asks the library obeys; to be accepted as well"},
	{ir.Unenforced.String(), "nothing holds it; to be accepted as well"},
	{ir.Assumed.String(), "exact as long as something outside of the sandbox stays as its reason says"},
}

// cellMeaning explains the numbers of the ledger.
const cellMeaning = "The numbers count cells. " +
	"A cell is one kind of operation on the places of one rule, such as create for fs[0]."

// Legend explains the words of the ledger, for a terminal or a help text.
func Legend(s Style) string {
	var rows [][]string
	for _, t := range legend {
		rows = append(rows, []string{t.Word, t.Meaning})
	}
	var b strings.Builder
	wrapped, _ := s.fit(rows, 2)
	for _, row := range table(wrapped) {
		b.WriteString("  " + row + "\n")
	}
	return b.String() + s.Hang("  "+cellMeaning+"\n", 2)
}
