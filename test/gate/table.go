package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// addSoak adds a soak to the document, a line for the packages of each room and user.
func addSoak(p *place, rows []row) error {
	var lines strings.Builder
	for _, w := range rooms(rows) {
		fmt.Fprintf(&lines, "%s %s, %s |\n", w.markdown(), today(), p.commit)
	}
	return insert(p, "soak", lines.String())
}

// rooms adds up the rows of each room and user: "internal/gate" has those of "./internal/gate/mcp".
func rooms(rows []row) []row {
	var sums soak
	for i := range rows {
		parts := strings.Split(strings.TrimPrefix(rows[i].what, "./"), "/")
		depth := 1
		if parts[0] == "internal" {
			depth = 2
		}
		sums.row(strings.Join(parts[:min(depth, len(parts))], "/"), rows[i].user).sum(&rows[i])
	}
	slices.SortStableFunc(sums.rows, func(a, b row) int { return strings.Compare(a.what, b.what) })
	return sums.rows
}

// sum adds the counts of another row.
func (w *row) sum(other *row) {
	w.runs += other.runs
	w.tests += other.tests
	w.cases += other.cases
	w.seeds += other.seeds
	w.met += other.met
	w.inconclusive += other.inconclusive
	w.failures += other.failures
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
