package diag_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// lines is a file for the renderers.
type lines map[string][]string

func (l lines) Line(file string, n int) (string, bool) {
	if n < 1 || n > len(l[file]) {
		return "", false
	}
	return l[file][n-1], true
}

func sample() (diag.List, lines) {
	d := diag.New(diag.UnknownKey, ir.Pos{File: "a.toml", Line: 2, Col: 1}, 4)
	d.Path, d.Label, d.Hint = "tools.x.access.fs[0]", `found "wrte", expected write`, `did you mean "write"?`
	d.Related = []diag.Related{{At: ir.Pos{File: "b.toml", Line: 7, Col: 3}, Note: "set here"}}
	w := diag.New(diag.GlobInPath, ir.Pos{File: "a.toml", Line: 1, Col: 8}, 3)
	w.Label = "this names one file"
	l := diag.List{d, w, d}
	l.Sort()
	return l, lines{"a.toml": {`path = "*"`, "wrte = true"}}
}

// TestText: sorted by place, repetitions dropped, carets below the offending text.
func TestText(t *testing.T) {
	l, src := sample()
	var b strings.Builder
	if err := (diag.Text{Lines: src}).Write(&b, l); err != nil {
		t.Fatal(err)
	}
	want := `warning[ACC040]: globs have no meaning in a rule's path
 --> a.toml:1:8
  |
1 | path = "*"
  |        ^^^ this names one file

error[ACC014]: unknown key
 --> a.toml:2:1
  |
2 | wrte = true
  | ^^^^ found "wrte", expected write
  |
 ::: b.toml:7:3   set here
  = at tools.x.access.fs[0]
  = hint: did you mean "write"?
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := diag.Summary(l); got != "1 error, 1 warning in 1 file" {
		t.Errorf("got %q", got)
	}
}

// TestColor: colours wrap words and change nothing else.
func TestColor(t *testing.T) {
	l, src := sample()
	var plain, color strings.Builder
	_ = diag.Text{Lines: src}.Write(&plain, l)
	_ = diag.Text{Lines: src, Color: true}.Write(&color, l)
	stripped := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(color.String(), "")
	if stripped != plain.String() || stripped == color.String() {
		t.Errorf("coloured text is not the plain text with colours:\n%q", color.String())
	}
}

// TestHostileText: the content of a configuration cannot drive a terminal, shift the caret, or
// make a line endless.
func TestHostileText(t *testing.T) {
	nasty := "path = \"\x1b[2J\u202e\t" + strings.Repeat("ü", 5000) + "\xff\""
	d := diag.New(diag.BadPath, ir.Pos{File: "x\x1b[31m.toml", Line: 1, Col: 8}, len(nasty)-7)
	d.Label, d.Path, d.Hint = "found \x07", "tools.\"\x1b\"", "a\x00b"
	var b strings.Builder
	_ = diag.Text{Lines: lines{d.At.File: {nasty}}}.Write(&b, diag.List{d})
	for _, line := range strings.Split(b.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 200 {
			t.Errorf("a line of %d characters", n)
		}
		for _, r := range line {
			if !unicode.IsPrint(r) {
				t.Errorf("the output holds %U: %q", r, line)
			}
		}
	}
}

// TestCaretStaysBelow: in long lines the shown part includes the offending text.
func TestCaretStaysBelow(t *testing.T) {
	for _, col := range []int{1, 50, 119, 121, 500, 998} {
		line := strings.Repeat("a", col-1) + "XY" + strings.Repeat("b", 1000-col)
		d := diag.New(diag.BadPath, ir.Pos{File: "f", Line: 1, Col: col}, 2)
		var b strings.Builder
		_ = diag.Text{Lines: lines{"f": {line}}}.Write(&b, diag.List{d})
		rows := strings.Split(b.String(), "\n")
		at := strings.Index(rows[4], "^^")
		if at < 0 || len([]rune(rows[3])) < at+2 || string([]rune(rows[3])[at:at+2]) != "XY" {
			t.Errorf("column %d: the caret is not below XY:\n%s\n%s", col, rows[3], rows[4])
		}
	}
}

func TestJSON(t *testing.T) {
	l, src := sample()
	var b bytes.Buffer
	if err := diag.WriteJSON(&b, l, src); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version     int `json:"format_version"`
		Diagnostics []struct {
			Code, Severity, Message, Path, File, Source, Detail, Hint string
			Line, Column, Span                                        int
		}
		Errors, Warnings int
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	d := got.Diagnostics[1]
	if got.Version != 1 || got.Errors != 1 || got.Warnings != 1 || d.Code != "ACC014" || d.Line != 2 || d.Column != 1 || d.Span != 4 ||
		d.Source != "wrte = true" || d.Path != "tools.x.access.fs[0]" || d.Hint == "" || d.Detail == "" {
		t.Errorf("got %+v", got)
	}
}

func asNamed(file string) (string, bool) { return file, !strings.HasPrefix(file, "--") }

// TestNoFile: a key that was set is in no file. As the URI of a file it makes a SARIF log
// invalid, so the message names it.
func TestNoFile(t *testing.T) {
	d := diag.New(diag.BadSet, ir.Pos{File: "--set[0]", Line: 1, Col: 2}, 1)
	e := diag.New(diag.BadTOML, ir.Pos{File: "a b/c:d%.toml", Line: 1, Col: 2}, 1)
	e.Related = []diag.Related{{At: d.At, Note: "set here"}}
	var sarif, github strings.Builder
	_ = diag.WriteSARIF(&sarif, diag.List{d, e}, asNamed)
	_ = diag.WriteGitHub(&github, diag.List{d}, asNamed)
	for _, want := range []string{`"text": "--set takes KEY=VALUE (--set[0]:1:2)"`, `"uri": "a%20b/c:d%25.toml"`} {
		if !strings.Contains(sarif.String(), want) {
			t.Errorf("%s is missing:\n%s", want, sarif.String())
		}
	}
	if n := strings.Count(sarif.String(), `"uri"`); n != 1 {
		t.Errorf("%d places, expected 1:\n%s", n, sarif.String())
	}
	if want := "::error title=ACC009::--set takes KEY=VALUE (--set[0]:1:2)\n"; github.String() != want {
		t.Errorf("found %q, expected %q", github.String(), want)
	}
}

// TestSARIF: the log names its version and the rules that occur, and each result's rule is one
// of them.
func TestSARIF(t *testing.T) {
	l, _ := sample()
	var b bytes.Buffer
	if err := diag.WriteSARIF(&b, l, asNamed); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, r := range got.Runs[0].Tool.Driver.Rules {
		rules[r.ID] = true
	}
	if got.Version != "2.1.0" || len(rules) != 2 || len(got.Runs[0].Results) != 2 {
		t.Fatalf("got version %s, %d rules, %d results", got.Version, len(rules), len(got.Runs[0].Results))
	}
	r := got.Runs[0].Results[1]
	at := r.Locations[0].PhysicalLocation
	if !rules[r.RuleID] || r.Level != "error" || at.ArtifactLocation.URI != "a.toml" || at.Region.StartLine != 2 {
		t.Errorf("got %+v", r)
	}
}

// TestGitHub: nothing in a finding can start a command of its own or leave its
// property.
func TestGitHub(t *testing.T) {
	d := diag.New(diag.BadPath, ir.Pos{File: "a,b:c%.toml", Line: 3, Col: 9}, 1)
	d.Label = "x\n::error file=evil::y"
	var b strings.Builder
	if err := diag.WriteGitHub(&b, diag.List{d}, asNamed); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac%25.toml,line=3,col=9,title=ACC037::a path that cannot be written for every target: x%0A::error file=evil::y\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

// TestCodes: every code has a title and a severity, and titles are messages as
// messages are written here.
func TestCodes(t *testing.T) {
	for _, c := range diag.Codes() {
		title := c.Title()
		if title == "" || strings.HasSuffix(title, ".") || unicode.IsUpper([]rune(title)[0]) && !strings.HasPrefix(title, "TOML") {
			t.Errorf("%s: %q", c, title)
		}
		if !regexp.MustCompile(`^ACC\d{3}$`).MatchString(string(c)) {
			t.Errorf("%q is no code", c)
		}
	}
}

// TestSpanIsCharacters: columns count characters, so the caret stands below what was found
// behind others that are more than a byte, and JSON counts the same.
func TestSpanIsCharacters(t *testing.T) {
	d := diag.New(diag.BadPath, ir.Pos{File: "f", Line: 1, Col: 4}, len("bü"))
	src := lines{"f": {"éé=bü"}}
	var text, data strings.Builder
	_ = diag.Text{Lines: src}.Write(&text, diag.List{d})
	if !strings.Contains(text.String(), "| éé=bü\n  |    ^^\n") {
		t.Errorf("the caret is elsewhere:\n%s", text.String())
	}
	if err := diag.WriteJSON(&data, diag.List{d}, src); err != nil || !strings.Contains(data.String(), `"span": 2`) {
		t.Errorf("%v: %s", err, data.String())
	}
}

// TestTextFits: on a terminal what is said stands below the mark where it does not fit
// beside it, broken between words, and the marked part of a long line is shown.
func TestTextFits(t *testing.T) {
	for _, col := range []int{1, 30, 70, 300} {
		d := diag.New(diag.UnknownKey, ir.Pos{File: "a.toml", Line: 1, Col: col}, 4)
		d.Label = "found \"wrte\", expected one of path, external, read, write, create, update, delete, execute, mount"
		d.Hint = "a sentence that says what to write, and where, so long that it takes more than one line\n  key = \"value\""
		src := lines{"a.toml": {strings.Repeat("x", col-1) + "wrte = true" + strings.Repeat(" ", 300)}}
		var b strings.Builder
		_ = diag.Text{Lines: src, Width: 80}.Write(&b, diag.List{d})
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("column %d: %d wide: %s", col, n, line)
			}
		}
		for _, want := range []string{"wrte", "\n      key = \"value\"\n", "^^^^\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("column %d: %q is missing:\n%s", col, want, b.String())
			}
		}
	}
}

// counted is a file of one line that counts how often it is asked for.
type counted struct {
	line  string
	asked int
}

func (c *counted) Line(string, int) (string, bool) { c.asked++; return c.line, true }

// TestOneLongLine: a file of one line with many findings was looked at, and written, whole for each of them.
func TestOneLongLine(t *testing.T) {
	src := &counted{line: strings.Repeat("äb ", 50_000)}
	var l diag.List
	for i := range 2000 {
		l = append(l, diag.New(diag.NothingThere, ir.Pos{File: "a.toml", Line: 1, Col: 1 + 51*i}, 3))
	}
	var text, machine strings.Builder
	if err := (diag.Text{Lines: src}).Write(&text, l); err != nil {
		t.Fatal(err)
	}
	if err := diag.WriteJSON(&machine, l, src); err != nil {
		t.Fatal(err)
	}
	if src.asked != 2 || text.Len() > 2000*len(l) || machine.Len() > 2000*len(l) {
		t.Errorf("the line was asked for %d times, and %d and %d bytes were written", src.asked, text.Len(), machine.Len())
	}
	if n := strings.Count(machine.String(), `"span": 2`); n != len(l) {
		t.Errorf("%d spans are of two characters, expected %d", n, len(l))
	}
}
