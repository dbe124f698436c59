package edit

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

var (
	fs   = []string{"tools", "x", "access", "fs"}
	fork = Item{String("path", "fork"), Bool("read", true)}
)

// cases are documents without and with an item at the end of a list. Taking it out again yields
// the first; where the text then differs, the third gives it.
var cases = []struct{ name, without, with, again string }{
	{"nothing", "", "[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n", ""},
	{
		"absent", "# mine\n[tools.x] # its table\nsource = 'local'\n",
		"# mine\n[tools.x] # its table\nsource = 'local'\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n", "",
	},
	{
		"no newline at the end", "a = 1", "a = 1\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n", "a = 1\n",
	},
	{
		"a blank line at the end", "a = 1\n\n", "a = 1\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n", "a = 1\n",
	},
	{
		"blocks, something behind", "[[tools.x.access.fs]]\npath = '.' # all\n# about all\n\n# about y\n[tools.y]\n",
		"[[tools.x.access.fs]]\npath = '.' # all\n# about all\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n\n# about y\n[tools.y]\n", "",
	},
	{
		"blocks, nothing between", "[[tools.x.access.fs]]\npath = '.'\n# about y\n[tools.y]\n",
		"[[tools.x.access.fs]]\npath = '.'\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n\n# about y\n[tools.y]\n",
		"[[tools.x.access.fs]]\npath = '.'\n\n# about y\n[tools.y]\n",
	},
	{
		"blocks in other places", "[[tools.x.access.fs]]\npath = '.'\n\n[tools.y]\na = 1\n\n[tools.x.access.fs.more]\nb = 1\n\n[z]\n",
		"[[tools.x.access.fs]]\npath = '.'\n\n[tools.y]\na = 1\n\n[tools.x.access.fs.more]\nb = 1\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n\n[z]\n", "",
	},
	{"array", "[tools.x.access]\nfs = [{path='.'}] # c\n", "[tools.x.access]\nfs = [{path='.'}, { path = \"fork\", read = true }] # c\n", ""},
	{"array with a last comma", "tools.x.access.fs = [ {path='.'}, ]", "tools.x.access.fs = [ {path='.'}, { path = \"fork\", read = true }, ]", ""},
	{"empty array", "tools.x.access.fs = []\n", "tools.x.access.fs = [{ path = \"fork\", read = true }]\n", ""},
	{
		"empty array with a comment", "tools.x.access.fs = [ # none\n]\n",
		"tools.x.access.fs = [ # none\n{ path = \"fork\", read = true }]\n", "",
	},
	{
		"lines", "[tools]\nx.access.fs = [\n\t{ path = '.' }, # all\n\t{ path = '#' } # that ]\n\t# the end\n]\n",
		"[tools]\nx.access.fs = [\n\t{ path = '.' }, # all\n\t{ path = '#' }, # that ]\n\t{ path = \"fork\", read = true }\n\t# the end\n]\n", "",
	},
	{
		"lines with a last comma", "tools.x.access.fs = [\n  { path = '.' }, # all\n]\n",
		"tools.x.access.fs = [\n  { path = '.' }, # all\n  { path = \"fork\", read = true },\n]\n", "",
	},
	{
		"lines, closed on the last", "tools.x.access.fs = [\n  { path = '.' } ]\n",
		"tools.x.access.fs = [\n  { path = '.' },\n  { path = \"fork\", read = true } ]\n", "",
	},
	{
		"inside of braces", "tools.x = { source = 'local', access = { net = [] } }\n",
		"tools.x = { source = 'local', access = { net = [], fs = [{ path = \"fork\", read = true }] } }\n",
		"tools.x = { source = 'local', access = { net = [], fs = [] } }\n",
	},
	{
		"dotted inside of braces", "tools = { x.access.net = [], y = {} }\n",
		"tools = { x.access.net = [], y = {}, x.access.fs = [{ path = \"fork\", read = true }] }\n",
		"tools = { x.access.net = [], y = {}, x.access.fs = [] }\n",
	},
	{
		// The keys of the section count as well.
		"braces in a section", "[tools.x]\naccess = { net = [] }\n",
		"[tools.x]\naccess = { net = [], fs = [{ path = \"fork\", read = true }] }\n",
		"[tools.x]\naccess = { net = [], fs = [] }\n",
	},
	{
		"CRLF", "a = 1\r\n[tools.x]\r\nsource = 'local'\r\n",
		"a = 1\r\n[tools.x]\r\nsource = 'local'\r\n\r\n[[tools.x.access.fs]]\r\npath = \"fork\"\r\nread = true\r\n", "",
	},
	{
		"CRLF lines", "tools.x.access.fs = [\r\n  {} # c\r\n]\r\n", "tools.x.access.fs = [\r\n  {}, # c\r\n  { path = \"fork\", read = true }\r\n]\r\n", "",
	},
	{"byte order mark", "\xef\xbb\xbfa = 1\n", "\xef\xbb\xbfa = 1\n\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n", ""},
	{
		"quoted keys", "['tools'.\"x\"]\n'access'.fs = [{}]\n", "['tools'.\"x\"]\n'access'.fs = [{}, { path = \"fork\", read = true }]\n", "",
	},
}

func TestEdits(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			with, err := Append([]byte(tt.without), fs, fork)
			if d := cmp.Diff(tt.with, string(with)); err != nil || d != "" {
				t.Fatalf("%v (-want +got)\n%s", err, d)
			}
			n := len(items(decode(t, with), fs))
			without, err := Remove(with, fs, n-1)
			if tt.again == "" {
				tt.again = tt.without
			}
			if d := cmp.Diff(tt.again, string(without)); err != nil || d != "" {
				t.Errorf("removed: %v (-want +got)\n%s", err, d)
			}
		})
	}
}

// TestRemoveMiddle: the text around an item stays.
func TestRemoveMiddle(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		index            int
	}{
		{"first of a line", "tools.x.access.fs = [{a=1}, {a=2}]", "tools.x.access.fs = [{a=2}]", 0},
		{"own line", "tools.x.access.fs = [\n # one\n {a=1}, # 1\n # two\n {a=2}, # 2\n]", "tools.x.access.fs = [\n # one\n # two\n {a=2}, # 2\n]", 0},
		{"comma in front", "tools.x.access.fs = [\n {a=1} # 1\n , {a=2} # 2\n]", "tools.x.access.fs = [\n {a=1} # 1\n  # 2\n]", 1},
		{"comma on the next line", "tools.x.access.fs = [\n {a=1} # 1\n , {a=2} # 2\n]", "tools.x.access.fs = [\n  {a=2} # 2\n]", 0},
		{"several lines", "tools.x.access.fs = [\n {\n  a=1, # 1\n },\n {a=2}\n]", "tools.x.access.fs = [\n {a=2}\n]", 0},
		{"first block", "# a\n[[tools.x.access.fs]]\na = 1\n# b\n\n[[tools.x.access.fs]]\na = 2\n", "# a\n# b\n\n[[tools.x.access.fs]]\na = 2\n", 0},
		{"block at the start", "[[tools.x.access.fs]]\na = 1\n\n[y]\n", "[y]\n", 0},
		{"middle block", "a=1\n\n[[tools.x.access.fs]]\na = 1\n\n[y]\n", "a=1\n\n[y]\n", 0},
		{"block in pieces", "[[tools.x.access.fs]]\n\n[tools.x.access.fs.a]\nb=1\n\n[y]\nc=1\n", "\n[y]\nc=1\n", 0},
	} {
		got, err := Remove([]byte(tt.text), fs, tt.index)
		if d := cmp.Diff(tt.want, string(got)); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got)\n%s", tt.name, err, d)
		}
	}
}

// TestRefused: paths that are no list and documents that are no TOML are errors.
func TestRefused(t *testing.T) {
	for _, text := range []string{
		"tools = 1", "tools.x.access.fs = 'y'", "tools.x.access.fs = { value = [] }", "[[tools]]", "[[tools.x]]", "a =", "a = 1\na = 2", "a = '\xff'",
		"tools.x.access = []",
	} {
		if got, err := Append([]byte(text), fs, fork); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"", "tools.x.access.fs = []", "tools.x.access.fs = 1", "tools.x.access = 1", "tools.x.access.fs = { fs = [1] }"} {
		if got, err := Remove([]byte(text), fs, 0); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got, err := Remove([]byte("tools.x.access.fs = [1]"), fs, -1); err == nil {
		t.Errorf("index -1 yields %q", got)
	}
	if got, err := Append(nil, fs, Item{{"path", "'a' \n b = 1"}}); err == nil {
		t.Errorf("a field that is no value yields %q", got)
	}
}

// TestStrings: every string is read back as written.
func TestStrings(t *testing.T) {
	for _, s := range []string{"", "a b", `a"b\c`, "a\nb\tc", "ü → \u2028", "\x00\x7f", "'''"} {
		for _, text := range []string{"", "tools.x.access.fs = []"} {
			got, err := Append([]byte(text), fs, Item{String("path", s), String(s, "v")})
			if err != nil {
				t.Errorf("%q: %v", s, err)
				continue
			}
			item := items(decode(t, got), fs)[0].(map[string]any)
			if item["path"] != s && s != "path" || item[s] != "v" {
				t.Errorf("%q became %v", s, item)
			}
		}
	}
}

func decode(t interface{ Fatalf(string, ...any) }, text []byte) map[string]any {
	m := map[string]any{}
	if err := toml.Unmarshal([]byte(strings.TrimPrefix(string(text), string(bom))), &m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// items returns the list at a path, nil if there is none.
func items(m map[string]any, path []string) []any {
	for _, k := range path[:len(path)-1] {
		m, _ = m[k].(map[string]any)
	}
	list, _ := m[path[len(path)-1]].([]any)
	return list
}

// set replaces the list at a path; nil takes it out with the tables that are empty without it.
func set(m map[string]any, path []string, list []any) {
	if len(path) == 1 {
		delete(m, path[0])
		if len(list) > 0 {
			m[path[0]] = list
		}
		return
	}
	sub, ok := m[path[0]].(map[string]any)
	if !ok {
		sub = map[string]any{}
	}
	set(sub, path[1:], list)
	delete(m, path[0])
	if len(sub) > 0 {
		m[path[0]] = sub
	}
}

// same compares the content of two documents, by a decoder that has no part in the edit.
func same(t interface{ Fatalf(string, ...any) }, got []byte, want map[string]any) {
	m := decode(t, got)
	set(m, fs, items(m, fs))
	set(want, fs, items(want, fs))
	if fmt.Sprint(m) != fmt.Sprint(want) && !reflect.DeepEqual(m, want) { // fmt for NaN
		t.Fatalf("says %v, expected %v\n%s", m, want, got)
	}
}

// added reports whether new is old with a text put in, and a comma at most.
func added(old, new string) bool {
	if once(old, new) {
		return true
	}
	for i := range len(new) {
		if new[i] == ',' && once(old, new[:i]+new[i+1:]) {
			return true
		}
	}
	return false
}

func once(old, new string) bool {
	same := 0
	for same < len(old) && same < len(new) && old[same] == new[same] {
		same++
	}
	rest := old[same:]
	return len(new)-same >= len(rest) && strings.HasSuffix(new, rest)
}

// sections are texts around the list; N is a number of their own.
var sections = []string{
	"# cN\n", "\n", "kN = \"# no comment\"\n", "kN = [ # c\n 1, [2], # ]\n]\n", "[sN]\na = '''\n[[tools.x.access.fs]]\n'''\n",
	"[tools.yN] # z\naccess.fs = [{path='.'}]\n", "[[tN]]\na = nan\n\n", "[sN.t]\n\"a b\".c = { d = 1, e = [{}] } # e\n",
	"[sN]\nm = {\n a = 1,\n # c\n}\n", "[[uN.v]]\n[uN.v.w]\nx = 1979-05-27T07:32:00Z\n",
}

// lists are ways to write the list.
var lists = []string{
	"", "[tools.x]\nsource = 'local'\n", "[[tools.x.access.fs]] # h\npath = '.' # c\n# c\n", "[[tools.x.access.fs]]\n[[tools.x.access.fs]]\n\npath = 'b'\n",
	"[tools.x.access]\nfs = [{path='.'}]\nnet = []\n", "[tools.x.access]\nfs = [\n  {path='.'}, # a\n\n  # b\n  {path='c'} # d\n]\n",
	"[tools]\nx = { source = 'local', access.fs = [ {path='.'}, ] }\n", "[tools.x.access]\nfs = [\n] # e\n", "[tools]\nx.access.fs = [{path='.'}\n, {path='[#'}\n,\n# c\n]\n",
	"[tools.x]\naccess = {\n  fs = [{\n  path = '.', # p\n  }],\n}\n", "[tools.x.access.fs.more]\na = 1\n", "[tools.'x'.\"access\"]\n'f\u0073' = []\n",
}

// TestAnyEdits: after any number of edits any document has the intended content, and every byte
// outside of the edits is unchanged.
func TestAnyEdits(t *testing.T) {
	irtest.Check(t, 20_000, 6, func(t *rapid.T) {
		text := ""
		around := func(n int) {
			for range rapid.IntRange(0, 3).Draw(t, "sections") {
				n++
				text += strings.ReplaceAll(rapid.SampledFrom(sections).Draw(t, "section"), "N", strconv.Itoa(n))
			}
		}
		around(0)
		text += rapid.SampledFrom(lists).Draw(t, "list")
		around(10)
		if rapid.Bool().Draw(t, "CRLF") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if rapid.Bool().Draw(t, "open end") {
			text = strings.TrimRight(text, "\r\n")
		}
		doc := []byte(text)
		for range 6 {
			doc = step(t, doc)
		}
	})
}

// step makes an edit and checks it.
func step(t *rapid.T, doc []byte) []byte {
	want := decode(t, doc)
	list := items(want, fs)
	if n := len(list); n > 0 && rapid.Bool().Draw(t, "remove") {
		i := rapid.IntRange(0, n-1).Draw(t, "index")
		got, err := Remove(doc, fs, i)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		set(want, fs, append(list[:i:i], list[i+1:]...))
		same(t, got, want)
		if !added(string(got), string(doc)) {
			t.Fatalf("removing item %d changed more:\n%s\n-----\n%s", i, doc, got)
		}
		return got
	}
	name := rapid.SampledFrom([]string{"a", "b c", `"`, "#"}).Draw(t, "name")
	got, err := Append(doc, fs, Item{String("path", name), Bool("mount", true)})
	if strings.Contains(string(doc), "[tools.x.access.fs.more]") && err != nil {
		return doc // a table where the list should be
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	set(want, fs, append(list[:len(list):len(list)], map[string]any{"path": name, "mount": true}))
	same(t, got, want)
	if !added(string(doc), string(got)) {
		t.Fatalf("appending changed more:\n%s\n-----\n%s", doc, got)
	}
	return got
}

// FuzzEdit looks for documents that an edit breaks, changes elsewhere or panics on.
func FuzzEdit(f *testing.F) {
	for _, tt := range cases {
		f.Add(tt.without, 0)
		f.Add(tt.with, 1)
	}
	f.Fuzz(func(t *testing.T, text string, index int) {
		if len(text) > 1<<12 {
			return
		}
		with, err := Append([]byte(text), fs, fork)
		if err != nil {
			return
		}
		if !added(text, string(with)) {
			t.Fatalf("appending changed more:\n%q\n%q", text, with)
		}
		var want map[string]any
		if toml.Unmarshal([]byte(strings.TrimPrefix(text, string(bom))), &want) != nil {
			return // a number or date out of range
		}
		if want == nil {
			want = map[string]any{}
		}
		list := items(want, fs)
		set(want, fs, append(list[:len(list):len(list)], map[string]any{"path": "fork", "read": true}))
		same(t, with, want)
		n := len(list) + 1
		index = ((index % n) + n) % n
		without, err := Remove(with, fs, index)
		if err != nil {
			t.Fatalf("%v\n%q", err, with)
		}
		list = items(want, fs)
		set(want, fs, append(list[:index:index], list[index+1:]...))
		same(t, without, want)
	})
}

var programs = []string{"tools", "x", "access", "commands"}

// TestSet: a key goes behind the others of its table, as they are written.
func TestSet(t *testing.T) {
	for _, tt := range []struct{ name, without, with string }{
		{"nothing", "", "[tools.x.access.commands]\ngo = {}\n"},
		{"table", "[tools.x.access.commands]\ngit = {} # c\n\n[y]\n", "[tools.x.access.commands]\ngit = {} # c\ngo = {}\n\n[y]\n"},
		{"empty table", "[tools.x.access.commands]\n", "[tools.x.access.commands]\n\n[tools.x.access.commands.go]\n"},
		{"dotted", "[tools.x]\n  access.commands.git = {}\nrun = 'ask'\n", "[tools.x]\n  access.commands.git = {}\n  access.commands.go = {}\nrun = 'ask'\n"},
		{"dotted, no newline", "tools.x.access.commands.git = {}", "tools.x.access.commands.git = {}\ntools.x.access.commands.go = {}\n"},
		{"braces", "[tools.x.access]\ncommands = { git = {} }\n", "[tools.x.access]\ncommands = { git = {}, go = {} }\n"},
		{"braces around", "[tools.x]\naccess = { net = [] }\n", "[tools.x]\naccess = { net = [], commands.go = {} }\n"},
		{"sections", "[tools.x.access.commands.git]\nargs = []\n", "[tools.x.access.commands.git]\nargs = []\n\n[tools.x.access.commands.go]\n"},
		{"lists beside", "[tools.x]\naccess.fs = []\n", "[tools.x]\naccess.fs = []\n\n[tools.x.access.commands]\ngo = {}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			with, err := Set([]byte(tt.without), programs, Field{"go", "{}"})
			if d := cmp.Diff(tt.with, string(with)); err != nil || d != "" {
				t.Fatalf("%v (-want +got)\n%s", err, d)
			}
			if again, err := Set(with, programs, Field{"go", "{}"}); err == nil {
				t.Errorf("twice:\n%s", again)
			}
		})
	}
}

// TestSetValue: a key with a value stands in its table, however little of that is written.
func TestSetValue(t *testing.T) {
	for _, tt := range []struct{ without, with string }{
		{"", "[tools.x.access]\nlate = \"open\"\n"},
		{"[tools.x]\n\n[[tools.x.access.fs]]\npath = 'a'\n", "[tools.x]\n\n[[tools.x.access.fs]]\npath = 'a'\n\n[tools.x.access]\nlate = \"open\"\n"},
		{"[tools.x.access] # c\n[[tools.x.access.fs]]\npath = 'a'\n", "[tools.x.access] # c\nlate = \"open\"\n[[tools.x.access.fs]]\npath = 'a'\n"},
		{"[tools.x.access]", "[tools.x.access]\nlate = \"open\"\n"},
		{"[tools.x]\naccess.fs = []\n", "[tools.x]\naccess.fs = []\naccess.late = \"open\"\n"},
	} {
		with, err := Set([]byte(tt.without), []string{"tools", "x", "access"}, String("late", "open"))
		if d := cmp.Diff(tt.with, string(with)); err != nil || d != "" {
			t.Errorf("%v (-want +got)\n%s", err, d)
		}
	}
}

// TestExtend: fields go behind the others of an item, and none is given twice.
func TestExtend(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"block", "[[tools.x.access.fs]] # c\npath = 'a' # a\n# more\n\n[y]\n",
			"[[tools.x.access.fs]] # c\npath = 'a' # a\nread = true\n# more\n\n[y]\n",
		},
		{"block at the end", "[[tools.x.access.fs]]\npath = 'a'", "[[tools.x.access.fs]]\npath = 'a'\nread = true\n"},
		{"braces", "tools.x.access.fs = [\n\t{ path = 'a' }, # a\n]\n", "tools.x.access.fs = [\n\t{ path = 'a', read = true }, # a\n]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Extend([]byte(tt.text), fs, 0, Item{Bool("read", true)})
			if d := cmp.Diff(tt.want, string(got)); err != nil || d != "" {
				t.Fatalf("%v (-want +got)\n%s", err, d)
			}
			if two, err := Extend(got, fs, 0, Item{Bool("create", true), Bool("update", true)}); err != nil || len(items(decode(t, two), fs)) != 1 {
				t.Errorf("two fields: %v\n%s", err, two)
			}
			if again, err := Extend(got, fs, 0, Item{Bool("read", false)}); err == nil {
				t.Errorf("twice:\n%s", again)
			}
			if again, err := Extend(got, fs, 1, Item{Bool("read", true)}); err == nil {
				t.Errorf("no such item:\n%s", again)
			}
		})
	}
}
