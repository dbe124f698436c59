package source

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostview"
)

func parseText(t *testing.T, text string) (*Table, *diag.Diagnostic) {
	t.Helper()
	return parse(newFile("f.toml", "", []byte(text)))
}

// plainValue turns a value into the form that go-toml decodes, as far as the two are
// comparable: times and floats become strings.
func plainValue(v *Value) any {
	switch v.Kind {
	case TableKind:
		m := map[string]any{}
		for _, e := range v.Table.Entries {
			m[e.Key] = plainValue(e.Value)
		}
		return m
	case ArrayKind:
		a := []any{}
		for _, item := range v.Array {
			a = append(a, plainValue(item))
		}
		return a
	case StringKind:
		return v.Text
	case IntegerKind:
		return v.Int
	case BoolKind:
		return v.Bool
	case FloatKind, TimeKind:
		return "scalar"
	default:
		return nil
	}
}

func comparable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			m[k] = comparable(x)
		}
		return m
	case []any:
		a := []any{}
		for _, x := range v {
			a = append(a, comparable(x))
		}
		return a
	case string, int64, bool:
		return v
	case float64, time.Time, toml.LocalDate, toml.LocalTime, toml.LocalDateTime:
		return "scalar"
	default:
		return fmt.Sprintf("%T", v)
	}
}

var documents = []string{
	"", "a = 1", "a.b.c = true\na.b.d = 'x'", "[a]\nb = 1\n[a.c]\nd = 2", "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3",
	"a = [1, [2, 3], [], [[]]] # [\nb = {x = 1, y.z = [{}]}", "s = \"\"\"\n[not]\"\"\"\nx = 0xff\ny = -1_000\nz = +7",
	"'a b'.\"c\\\"d\" = 1", "[a.b]\n[a]\nc = 1", "d = 1979-05-27T07:32:00Z\nt = 07:32:00\nf = 1e3\ni = inf",
	// Mistakes.
	"a = 1\na = 2", "[a]\n[a]", "a = 1\n[a]", "[a]\nb = 1\n[[a]]", "a.b = 1\na = 2", "[a]\nb.c = 1\n[a.b]", "a = {b = 1}\n[a.c]",
	"a = []\n[[a]]", "[[a]]\n[a]", "a = {b = 1, b = 2}", "[a.b.c]\nx = 1\n[a]\nb.y = 2", "a = \"", "a = 1 b = 2", "= 1", "[", "a = 08",
	"a = {\n}", "a = 1_", "a.b = 1\n[a]\nc = 2", "[a]\nb.c = 1\nb.d = 2", "a = {b.c = 1, b.d = 2}", "[[a.b]]\n[a.b.c]\n[[a.b]]\n[a.b.c]",
	"[a]\n[[a.b]]\n[a.b]", "a = {b = {c = 1}, b.d = 2}", "[[x]]\ny.z = 1\n[x.y]", "a = 99999999999999999999",
}

// TestAgainstGoTOML compares the tree with the library's own decoder: the same documents are
// accepted, with the same content.
func TestAgainstGoTOML(t *testing.T) {
	for _, doc := range documents {
		agree(t, doc)
	}
}

// agree compares with go-toml. Numbers and dates that are out of range are errors only of the decoder; the
// configuration has none.
func agree(t *testing.T, doc string) {
	t.Helper()
	var want map[string]any
	wantErr := toml.Unmarshal([]byte(doc), &want)
	if want == nil {
		want = map[string]any{}
	}
	got, err := parseText(t, doc)
	if err != nil {
		if wantErr == nil {
			t.Errorf("%q: refused (%s), go-toml accepts it", doc, err.Label)
		}
		return
	}
	if wantErr != nil {
		var into struct{}
		if toml.Unmarshal([]byte(doc), &into) != nil {
			t.Errorf("%q: accepted, go-toml says %v", doc, wantErr)
		}
		return
	}
	if d := cmp.Diff(comparable(want), plainValue(&Value{Kind: TableKind, Table: got})); d != "" {
		t.Errorf("%q (-go-toml +tree):\n%s", doc, d)
	}
}

// FuzzParse looks for documents that the tree and go-toml read differently, and for
// panics.
func FuzzParse(f *testing.F) {
	for _, doc := range documents {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if file := newFile("f", "", []byte(doc)); checkText(file) != nil || len(doc) > 1<<16 || strings.HasPrefix(doc, "\xef\xbb\xbf") {
			return
		}
		agree(t, doc)
	})
}

// TestPositions: every kind of value has the position where it was written.
func TestPositions(t *testing.T) {
	text := "a = 'x'\nb = [1, 'yy', [true]]\n[[t.u]]\nk.l = { m = 2 }\n"
	root, err := parseText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	b := root.Get("b")
	u := root.Get("t").Table.Get("u")
	m := u.Array[0].Table.Get("k").Table.Get("l").Table.Get("m")
	for _, tt := range []struct {
		name            string
		v               *Value
		line, col, span int
	}{
		{"string", root.Get("a"), 1, 5, 3}, {"array", b, 2, 5, 1}, {"item", b.Array[1], 2, 9, 4}, {"nested array", b.Array[2], 2, 15, 1},
		{"deep", b.Array[2].Array[0], 2, 16, 4}, {"table of an array", u.Array[0], 3, 5, 1}, {"inline", m, 4, 13, 1},
	} {
		if tt.v.At.Line != tt.line || tt.v.At.Col != tt.col || tt.v.Span != tt.span {
			t.Errorf("%s: got %v span %d, want %d:%d span %d", tt.name, tt.v.At, tt.v.Span, tt.line, tt.col, tt.span)
		}
	}
}

// TestKey: two values have one key exactly if they are equal.
func TestKey(t *testing.T) {
	root, err := parseText(t, "a = {x = 1, y = 'a'}\nb = {y = 'a', x = 1}\nc = {x = 1, y = 'b'}\nd = {x = '1', y = 'a'}\ne = [1, 2]\nf = [12]\ng = 1.0\nh = true")
	if err != nil {
		t.Fatal(err)
	}
	if root.Get("a").Key() != root.Get("b").Key() {
		t.Error("the order of keys matters")
	}
	seen := map[string]string{}
	for _, k := range []string{"a", "c", "d", "e", "f", "g", "h"} {
		key := root.Get(k).Key()
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have one key", k, other)
		}
		seen[key] = k
	}
}

// TestLayers: load order, extends with globs and diamonds, a file once.
func TestLayers(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"user.toml":              "extends = ['sub/u.toml']",
		"sub/u.toml":             "",
		"ws/.jp/config.toml":     "extends = ['tools/**/*.toml', 'base.toml']",
		"ws/.jp/tools/b.toml":    "extends = ['../base.toml']",
		"ws/.jp/tools/x/a.toml":  "",
		"ws/.jp/base.toml":       "",
		"ws/accessc.toml":        "extends = ['.jp/base.toml']",
		"ws/.accessc/local.toml": "",
		"extra/2.toml":           "",
		"extra/1.toml":           "",
		"extra/ignored.txt":      "not toml",
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	req := Request{Host: hostview.Now,
		Root: filepath.Join(dir, "ws"), User: filepath.Join(dir, "user.toml"), Home: dir,
		Configs: []string{filepath.Join(dir, "extra")}, Sets: []string{"a.b=1", "c = x y"},
	}
	set, findings := Load(req)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, l := range set.Layers {
		got = append(got, l.Kind.String()+" "+l.File.Name)
	}
	want := []string{
		"user ~/sub/u.toml", "user ~/user.toml", "workspace .jp/base.toml", "workspace .jp/tools/b.toml", "workspace .jp/tools/x/a.toml",
		"workspace .jp/config.toml", "workspace accessc.toml", "local .accessc/local.toml", "config ~/extra/1.toml",
		"config ~/extra/2.toml", "set --set[0]", "set --set[1]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if v := set.Layers[len(set.Layers)-1].Root.Get("c"); v == nil || v.Text != "x y" {
		t.Errorf("a value that is no TOML: got %+v, want the string", v)
	}
	req.Shared = true
	set, _ = Load(req)
	for _, l := range set.Layers {
		if l.File.Name == ".accessc/local.toml" || strings.HasPrefix(l.File.Name, "~/user") {
			t.Errorf("--shared read %s", l.File.Name)
		}
	}
}

// TestSetCannotSmuggle: a value with a line break stays one string.
func TestSetCannotSmuggle(t *testing.T) {
	set, findings := Load(Request{Host: hostview.Now, Root: t.TempDir(), Sets: []string{"a=1\nb=2"}})
	if len(findings) > 0 || len(set.Layers) != 1 {
		t.Fatalf("got %d layers, %v", len(set.Layers), findings)
	}
	if v := set.Layers[0].Root.Get("a"); v.Kind != StringKind || v.Text != "1\nb=2" {
		t.Errorf("got %+v", v)
	}
	for _, bad := range []string{"", "=", "a", "a\nb=1=2", "[x]=1", "a b=1"} {
		if _, findings := Load(Request{Host: hostview.Now, Root: t.TempDir(), Sets: []string{bad}}); !findings.Failed() {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestBOM: editors on Windows write a byte order mark.
func TestBOM(t *testing.T) {
	root, err := parse(newFile("f", "", []byte("\xef\xbb\xbfa = 1")))
	if err != nil || root.Get("a").At.Col != 5 {
		t.Errorf("got %v, %v", root, err)
	}
}

// TestHostileFiles: anything but a regular, small text file is refused, at once.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	big := write("big.toml", nil)
	if err := os.Truncate(big, 100<<20); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop.toml")
	if err := os.Symlink("loop.toml", loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		big: "found more than 16777216 bytes", loop: "found a symlink loop", os.DevNull: "found a device",
		filepath.Join(dir, "none"):                                      "no such file",
		write("nul.toml", []byte("a = 1\x00")):                          "found a NUL byte",
		write("utf8.toml", []byte("a = '\xff'")):                        "found the byte 0xff",
		write("deep.toml", []byte("a = "+strings.Repeat("[", 100_000))): "nested more than the maximum",
		// The parser bounds only arrays and inline tables, and a header of 400,000 parts was read.
		write("header.toml", []byte("[a"+strings.Repeat(".a", 400_000)+"]")):    "a key of more than 100 parts",
		write("key.toml", []byte("a = { a"+strings.Repeat(".a", 100)+" = 1 }")): "a key of more than 100 parts",
	} {
		_, findings := Load(Request{Host: hostview.Now, Root: dir, Configs: []string{path}})
		if !findings.Failed() || findings[0].At.File == "" || !strings.Contains(findings[0].Label, want) {
			t.Errorf("%s: got %+v, want %s", path, findings, want)
		}
	}
	_, _ = Load(Request{Host: hostview.Now, Root: dir, Configs: []string{dir}}) // means its *.toml, each of which has its own findings
}

// TestManyLines: finding a position does not depend on how many there are.
func TestManyLines(t *testing.T) {
	f := newFile("f", "", []byte(strings.Repeat("x\n", 1000)))
	for _, off := range []int{0, 1, 2, 999, 1999, 2000} {
		p := f.Pos(off)
		if want := off/2 + 1; p.Line != want || p.Col != off%2+1 {
			t.Errorf("offset %d: got %v, want line %d", off, p, want)
		}
	}
	if _, ok := f.Line(math.MaxInt32); ok {
		t.Error("a line that does not exist has text")
	}
}

// TestPathTree: without the right to list the workspace it is read by paths, and leads out
// no more than otherwise.
func TestPathTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ws/sub/a.toml": "a", "out.toml": "out"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "ws")
	for link, target := range map[string]string{"in.toml": "sub/a.toml", "out.toml": "../out.toml", "dir": ".."} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	w := workspace{filepath.ToSlash(root), (*hostview.View)(nil).ByPath(root)}
	for name, want := range map[string]bool{"sub/a.toml": true, "in.toml": true, "out.toml": false, "dir/out.toml": false, "../out.toml": false, "sub": false} {
		f, err := w.open(filepath.Join(root, name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
	// The file became a symlink after the check.
	for _, name := range []string{"in.toml", "out.toml", "dir/out.toml"} {
		if f, err := w.tree.Open(name); err == nil {
			t.Errorf("%s was opened", name)
			f.Close()
		}
	}
}

// TestColumnsAreCharacters: counted in bytes, an é shifts every annotation behind it. A
// long line is counted from the block that a value lies in.
func TestColumnsAreCharacters(t *testing.T) {
	for _, before := range []string{"", "é", "日本", "e\u0301", strings.Repeat("é", block), strings.Repeat("aé", block) + "😀"} {
		root, err := parseText(t, "first = 1\nx = { a = \""+before+"\", b = 2 } # é\n")
		if err != nil {
			t.Fatal(err.Label)
		}
		got := root.Entry("x").Value.Table.Entry("b").At
		if want := len(`x = { a = "", `) + len([]rune(before)) + 1; got.Line != 2 || got.Col != want {
			t.Errorf("%.10q: found %d:%d, expected 2:%d", before, got.Line, got.Col, want)
		}
	}
}
