package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// document has the tables, each before a comment that names it.
const document = "docs/testing.md"

// markdown is a row as Markdown, without the date.
func (w *row) markdown() string {
	races := "–"
	if all := w.met + w.inconclusive; all > 0 {
		races = fmt.Sprintf("%d of %d", w.met, all)
	}
	return fmt.Sprintf("| `%s` | %s | %d | %d | %d | %d | %s | %d |", strings.TrimPrefix(w.what, "./"), w.user,
		w.runs, w.tests, w.cases, w.seeds, races, w.failures)
}

// table is what a soak did.
func table(rows []row) string {
	var out strings.Builder
	out.WriteString("| tests of | as | runs | tests | cases | seeds | races met | failures |\n|---|---|---|---|---|---|---|---|\n")
	for i := range rows {
		out.WriteString(rows[i].markdown() + "\n")
	}
	return out.String()
}

// addSoak adds the rows of a soak to the document.
func addSoak(p *place, rows []row) error {
	var lines strings.Builder
	for i := range rows {
		fmt.Fprintf(&lines, "%s %s, %s |\n", rows[i].markdown(), today(), p.commit)
	}
	return insert(p, "soak", lines.String())
}

// addRun adds the i-th run under a condition to the document.
func addRun(p *place, condition string, i int, r *result) error {
	verdict := "ok"
	if !r.ok() {
		verdict = "**" + strings.Join(r.failed, ", ") + "**"
	}
	return insert(p, "runs", fmt.Sprintf("| %s %d | %.0f | %s, %.0f | %s | %s, %s |\n", condition, i+1, r.took.Seconds(),
		r.slowest, r.longest.Seconds(), verdict, today(), p.commit))
}

func today() string { return time.Now().Format(time.DateOnly) }

// insert puts lines before the comment that ends a table.
func insert(p *place, name, lines string) error {
	file := filepath.Join(p.tree, document)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	end := []byte("<!-- end of " + name + " -->")
	if bytes.Count(text, end) != 1 {
		return fmt.Errorf("%s: expected %q once", document, end)
	}
	return os.WriteFile(file, bytes.Replace(text, end, append([]byte(lines), end...), 1), 0o644)
}
