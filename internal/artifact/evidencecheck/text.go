package evidencecheck

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// Text is the report as a person reads it: the runs, what is wrong and what could not be found out. names are those of
// the files.
func (r *Report) Text(names []string) string {
	var b strings.Builder
	for _, x := range r.Runs {
		end := x.Ended
		if end == "" {
			end = "no end"
		}
		fmt.Fprintf(&b, "run %s of %s, %s to %s: %d allowed, %d denied", short(x.Run), visible.Text(x.Tool), x.Begun,
			end, x.Allowed, x.Denied)
		if x.Signed != "" {
			fmt.Fprintf(&b, ", signed by %.12s", x.Signed)
		}
		fmt.Fprintf(&b, "\n  judged: %s; the kernel alone decided: %s\n", words(x.Seen), words(x.Unseen))
	}
	for _, p := range r.Problems {
		at := names[p.File-1]
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, p.Line)
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", visible.Text(at), p.Kind, visible.Line(p.Text))
	}
	if r.Further > 0 {
		fmt.Fprintf(&b, "and %s more\n", plural.Count(r.Further, "problem"))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func words(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}
