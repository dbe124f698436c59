package learn

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// drawn is the text of a page without its marks.
func drawn(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(b.String(), "<main>")
	if strings.Contains(strings.ToLower(b.String()), "<script") || regexp.MustCompile(`(src|href)=`).MatchString(b.String()) {
		t.Error("the page has a script, or needs something else")
	}
	return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "), " ")
}

// TestPage: a wide grant shows as one line for each directory that nothing touched, a refusal at its
// place, and names are only text.
func TestPage(t *testing.T) {
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src/a.c", "src/b.c", "src/c.c", "src/d.c", "src/e.c", "vendor/x/1", "vendor/x/2", "vendor/y", "closed/z", "<script>alert(1)"} {
		file := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	op := func(refused int, words ...string) Operation {
		return Operation{Entry: denial.Entry{Times: 2, Question: words}, Runs: 1, Refused: refused}
	}
	text := drawn(t, Page{
		Tool: "t", Workspace: ws,
		Joined: Joined{Runs: 3, Operations: []Operation{
			op(0, "read", ws+"/src/a.c"), op(2, "update", ws+"/src/a.c"), op(2, "create", ws+"/dist/"), op(2, "read", "/srv/x\x1b[2J"),
			op(2, "connect", "https://example.com"), op(0, "read", ws+"/<script>alert(1)"), op(0, "rename", ws+"/src/b.c", ws+"/src/z.c"),
		}},
		Granted: func(abs string) ir.CapSet {
			if strings.Contains(abs, "closed") {
				return 0
			}
			return ir.Caps(ir.Read)
		},
	})
	for _, want := range []string{
		" t, 3 runs ", " a.c used read refused update ", " dist/ refused create ", " vendor/ 3 files: read, never touched ",
		" c.c, d.c, e.c 3 files: read, never touched ", " b.c used delete ", " z.c used create ", " connect https://example.com refused ×2 ",
		" &lt;script&gt;alert(1) used read ", `x\x1b[2J refused read`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	idle := drawn(t, Page{Tool: "t", Workspace: ws, Granted: func(string) ir.CapSet { return ir.Write }})
	if !strings.Contains(idle, "10 files: create update delete, never touched ") {
		t.Errorf("nothing used it:\n%s", idle)
	}
	if strings.Contains(text, "closed") {
		t.Errorf("what is not granted is told:\n%s", text)
	}
}

// TestPageSecret: a sensitive file that a run has read looks like no other, and a refused or untouched one does not.
func TestPageSecret(t *testing.T) {
	ws := t.TempDir()
	op := func(refused int, name string) Operation {
		e := denial.Entry{Times: 1, Question: []string{"read", ws + "/" + name}}
		return Operation{Entry: e, Runs: 1, Refused: refused}
	}
	var page strings.Builder
	err := Page{
		Tool: "t", Workspace: ws,
		Joined:    Joined{Runs: 1, Operations: []Operation{op(0, "a/.env"), op(1, "b/.env"), op(0, "c")}},
		Granted:   func(string) ir.CapSet { return ir.All },
		Sensitive: func(abs string) bool { return filepath.Base(abs) == ".env" },
	}.Write(&page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`<div class="row">(.*) <span class="tag (\w+)">(.*)</span>`)
	var rows []string
	for _, m := range row.FindAllStringSubmatch(page.String(), -1) {
		rows = append(rows, strings.Join(m[1:], " "))
	}
	want := []string{".env secret used read, sensitive", ".env refused refused read", "c used used read"}
	if !slices.Equal(rows, want) {
		t.Errorf("%q, not %q", rows, want)
	}
}

// TestPageHalf: kept evidence with a rename of one path made the page panic.
func TestPageHalf(t *testing.T) {
	for _, verb := range []string{"rename", "link"} {
		o := Operation{Entry: denial.Entry{Times: 1, Question: []string{verb, "/srv/x"}}}
		text := drawn(t, Page{Tool: "t", Workspace: t.TempDir(), Joined: Joined{Operations: []Operation{o}}, Granted: func(string) ir.CapSet { return 0 }})
		if want := " " + verb + " /srv/x used ×1 "; !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestPageMany: many directories that nothing touched are one line.
func TestPageMany(t *testing.T) {
	top := &place{name: "w", dir: true, below: map[string]*place{}}
	for _, name := range strings.Split("abcdefghij", "") {
		top.at(name + "/x")
	}
	top.at("k").used = ir.Caps(ir.Read)
	row, _ := top.row(func(string) ir.CapSet { return ir.Caps(ir.Read) })
	if len(row.Children) != 2 || row.Children[1].Text != "a/, b/, c/ and 7 more" || row.Children[1].Idle != "10 files: read, never touched" {
		t.Errorf("%+v", row)
	}
}

// TestPageLarge: of a large tree a part is looked at, and the page says so.
func TestPageLarge(t *testing.T) {
	if left := 2; (&place{name: "w", abs: t.TempDir(), below: map[string]*place{}}).fill(&left) == false {
		t.Error("an empty directory is too large")
	}
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if left := 2; (&place{name: "w", abs: dir, below: map[string]*place{}}).fill(&left) {
		t.Error("all of a large directory was looked at")
	}
}
