package format_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/format"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/irtest"
)

// laid lays a text out that is TOML.
func laid(t *testing.T, text string) string {
	t.Helper()
	out, finding, err := format.Text("x.toml", []byte(text))
	if err != nil || finding != nil {
		t.Fatalf("%q: %v %v", text, err, finding)
	}
	return string(out)
}

// TestText: what is laid out how, each case once more in its own result.
func TestText(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", " \n\n\t\n", "\n"},
		{"spaces", "a=1\n  b  =  [1,2 , 3]\n c . d={e=1,f={}}", "a = 1\nb = [1, 2, 3]\nc.d = { e = 1, f = {} }\n"},
		{"headers", "[a . b ]# x\n[[ c.\"d e\" ]]\nx=1", "[a.b]   # x\n[[c.\"d e\"]]\nx = 1\n"},
		{"no room", "[a.b]# x\nx=1#y\n", "[a.b]  # x\nx = 1  #y\n"},
		{"blank lines between", "\n\n# a\n\n\n\nb=1\n\n", "# a\n\nb = 1\n"},
		{
			"lists", "a=[\n\n{ path='.',read=true},\n        # why\n\n\n  {path=\"x\"}  ,   \n\n]\n",
			"a = [\n  { path = '.', read = true },\n  # why\n\n  { path = \"x\" },\n]\n",
		},
		{"lists in lists", "a=[[\n1,[2,\n3]],[\n4\n]]", "a = [[\n  1, [2,\n    3]], [\n    4\n]]\n"},
		{"comments", "a=1#x\nbcd=2 # y\n\ne=3    # z\n", "a = 1    #x\nbcd = 2  # y\n\ne = 3  # z\n"},
		{"comments in one column", "a=1     # x\nbcd=2   # y\n", "a = 1   # x\nbcd = 2 # y\n"},
		{"values as they are", "a='''\n # no [ \t\n'''  # c\nb=\"\\u00e9 ]\"\nd=1979-05-27 07:32:00Z\ne=+1_0\n", "a = '''\n # no [ \t\n'''  # c\nb = \"\\u00e9 ]\"\nd = 1979-05-27 07:32:00Z\ne = +1_0\n"},
		{"line ends", "a=1\r\nb=2\n", "a = 1\r\nb = 2\r\n"},
		{"a mark before the text", "\xef\xbb\xbfa=1", "\xef\xbb\xbfa = 1\n"},
		{"dotted keys of strings", "'a.b' . \"c\" = 1", "'a.b'.\"c\" = 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := laid(t, tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if again := laid(t, got); again != got {
				t.Errorf("laid out again it is\n%s", cmp.Diff(got, again))
			}
		})
	}
}

// TestMistakes: a text that is no TOML has a finding with its place, and no result.
func TestMistakes(t *testing.T) {
	for text, line := range map[string]int{"a = 1\nb =": 2, "a = 1\na = 2": 2, "\n\x00": 2, "a = [\n": 1, "é\xff": 1} {
		out, finding, err := format.Text("x.toml", []byte(text))
		if out != nil || err != nil || finding == nil || finding.At.Line != line || finding.At.File != "x.toml" {
			t.Errorf("%q: %q %v %v", text, out, finding, err)
		}
	}
}

// TestOwnFiles: the files that accessc ships are laid out so.
func TestOwnFiles(t *testing.T) {
	for _, pattern := range []string{"../presets/*.toml", "../../accessc.toml", "../../cmd/accessc/starter.toml", "../../examples/*/accessc.toml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), laid(t, string(text))); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
		}
	}
}

// TestAnyText: laying out changes no key, value or comment, nor their order, nothing when it is done again, and not the
// policy.
func TestAnyText(t *testing.T) {
	seen := map[string]int{}
	root := t.TempDir()
	irtest.Check(t, 100_000, 1, func(t *rapid.T) {
		d := draw{T: t}
		text := d.document()
		out, finding, err := format.Text("accessc.toml", []byte(text))
		if finding != nil || err != nil {
			t.Fatalf("%v %v\n%s", finding, err, text)
		}
		same(t, []byte(text), out)
		again, _, err := format.Text("accessc.toml", out)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("%v: %s", err, cmp.Diff(string(out), string(again)))
		}
		rest := string(out)
		for _, c := range d.comments {
			_, after, found := strings.Cut(rest, c)
			if !found {
				t.Fatalf("%s is lost or elsewhere:\n%s\n%s", c, text, out)
			}
			rest = after
		}
		if strings.Count(string(out), mark) != len(d.comments) {
			t.Fatalf("there are more comments:\n%s\n%s", text, out)
		}
		was, is := compile(t, root, []byte(text)), compile(t, root, out)
		if len(was.Findings) != len(is.Findings) || (was.Program == nil) != (is.Program == nil) {
			t.Fatalf("%v becomes %v", was.Findings, is.Findings)
		}
		for i, f := range was.Findings {
			if g := is.Findings[i]; f.Code != g.Code || f.Path != g.Path {
				t.Fatalf("%v becomes %v", f, g)
			}
			seen["a finding"]++
		}
		if was.Program == nil {
			return
		}
		seen["a policy"]++
		if len(was.Program.Tools) != len(is.Program.Tools) {
			t.Fatalf("%d tools become %d", len(was.Program.Tools), len(is.Program.Tools))
		}
		for i, tool := range was.Program.Tools {
			if !compare.Same(tool, is.Program.Tools[i]) {
				t.Fatalf("%s has another policy:\n%s\n%s", tool.Name, text, out)
			}
		}
		if len(d.comments) > 0 && string(out) != text {
			seen["another text"]++
		}
	})
	irtest.Happened(t, seen, "a finding", "a policy", "another text")
}

func compile(t *rapid.T, root string, text []byte) *compiler.Result {
	file := filepath.Join(root, "accessc.toml")
	res, err := compiler.Compile(compiler.Options{
		Root: root, Tree: nothing{}, Layers: source.Request{Edited: map[string][]byte{file: text}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// nothing is an empty workspace.
type nothing struct{ fstest.MapFS }

func (nothing) ReadLink(string) (string, error)   { return "", fs.ErrNotExist }
func (nothing) Lstat(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// mark is in every comment, and nowhere else.
const mark = "¶"

// draw makes policies in any layout.
type draw struct {
	*rapid.T
	comments []string
}

func (d *draw) one(of ...string) string { return rapid.SampledFrom(of).Draw(d.T, "word") }

func (d *draw) times(most int) int { return rapid.IntRange(0, most).Draw(d.T, "times") }

func (d *draw) blanks() string { return d.one("", "", "", " ", "  ", "\t") }

func (d *draw) comment() string {
	c := "#" + d.one("", " ", "# ") + mark + strconv.Itoa(len(d.comments)) +
		d.one(".", "]", " = [\"", " '''", " é, {", ` \ #`)
	d.comments = append(d.comments, c)
	return c + d.one("", "", " \t")
}

// end ends a line.
func (d *draw) end() string {
	out := d.blanks()
	if d.times(2) == 0 {
		out += d.comment()
	}
	for range 1 + d.times(2) {
		out += d.one("\n", "\n", "\r\n") + d.blanks()
	}
	return out
}

// between is what may stand between the parts of a list.
func (d *draw) between() string {
	if d.times(2) > 0 {
		return d.blanks()
	}
	return d.end()
}

func (d *draw) key(words ...string) string {
	var out []string
	for _, w := range words {
		switch d.times(5) {
		case 0:
			w = `"` + w + `"`
		case 1:
			w = "'" + w + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, d.blanks()+"."+d.blanks())
}

func (d *draw) list(open, end string, items ...func() string) string {
	out := open + d.between()
	for i, item := range items {
		out += item() + d.between()
		if i < len(items)-1 || d.times(1) == 0 {
			out += "," + d.between()
		}
	}
	return out + end
}

func (d *draw) pair(key, value string) string {
	return d.key(key) + d.blanks() + "=" + d.blanks() + value
}

// rule are the fields of a rule on a file.
func (d *draw) rule() (out []func() string) {
	text := d.one("src", "a b", "é", "x#y", "], [", ".", "deep/er", "src")
	path := d.one(`"`+text+`"`, "'"+text+"'", `"""`+text+`"""`, `"""\`+"\n   "+text+`"""`)
	out = append(out, func() string { return d.pair("path", path) })
	for _, c := range []string{"read", "write", "execute"} {
		if d.times(1) == 0 {
			out = append(out, func() string { return d.pair(c, d.one("true", "true", "true", "false", "1_0")) })
		}
	}
	return out
}

func (d *draw) document() string {
	out := d.one("", "", "\n", " \n\n\n")
	for i := range d.times(4) {
		tool := "t" + strconv.Itoa(i)
		out += "[" + d.blanks() + d.key("tools", tool) + d.blanks() + "]" + d.end()
		out += d.blanks() + d.pair("source", d.one(`"local"`, "'local'")) + d.end()
		out += d.pair("command",
			d.one(`"ls -la"`, "'x # y'", "'''\na\n  b # '''", "{ program = 'ls', shell = true }")) + d.end()
		if d.times(1) == 0 {
			for range d.times(3) {
				out += "[[" + d.blanks() + d.key("tools", tool, "access", "fs") + d.blanks() + "]]" + d.end()
				for _, f := range d.rule() {
					out += d.blanks() + f() + d.end()
				}
			}
			continue
		}
		var rules []func() string
		for range d.times(3) {
			rules = append(rules, func() string { return d.list("{", "}", d.rule()...) })
		}
		out += "[" + d.key("tools", tool, "access") + "]" + d.end()
		out += d.key("fs") + d.blanks() + "=" + d.list("[", "]", rules...) + d.end()
	}
	return out
}

func same(t interface{ Fatalf(string, ...any) }, text, out []byte) {
	was, finding := source.Parse("", text)
	is, after := source.Parse("", out)
	if finding != nil || after != nil {
		t.Fatalf("%v %v\n%s", finding, after, out)
	}
	a, b := source.Value{Kind: source.TableKind, Table: was}, source.Value{Kind: source.TableKind, Table: is}
	if a.Key() != b.Key() {
		t.Fatalf("the content of\n%s\nbecomes\n%s", text, out)
	}
}

// FuzzText: no text has a result with another content, or one that changes when it is laid out again.
func FuzzText(f *testing.F) {
	f.Add([]byte("a=[1, # x\n]\n[b . c]\nd={e=1}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, finding, err := format.Text("", text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if finding != nil {
			return
		}
		same(t, text, out)
		again, _, err := format.Text("", out)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("%v: %s", err, cmp.Diff(string(out), string(again)))
		}
	})
}
