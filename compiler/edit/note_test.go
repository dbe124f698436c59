package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotes: comments stand above the rules that they are about, in every form of a list.
func TestNotes(t *testing.T) {
	for _, tt := range []struct{ name, from, to string }{
		{"nothing", "", "# n\n# m\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n"},
		{
			"blocks", "[[tools.x.access.fs]]\npath = '.' # all\n\n[tools.y]\n",
			"[[tools.x.access.fs]]\npath = '.' # all\n\n# n\n# m\n[[tools.x.access.fs]]\npath = \"fork\"\nread = true\n\n[tools.y]\n",
		},
		{
			"one line", "  tools.x.access.fs = [{path='.'}] # c\n",
			"  tools.x.access.fs = [{path='.'},\n    # n\n    # m\n    { path = \"fork\", read = true }] # c\n",
		},
		{
			"lines", "tools.x.access.fs = [\n\t{ path = '.' }, # all\n]\n",
			"tools.x.access.fs = [\n\t{ path = '.' }, # all\n\t# n\n\t# m\n\t{ path = \"fork\", read = true },\n]\n",
		},
		{
			"empty", "tools.x.access.fs = []\n", "tools.x.access.fs = [\n  # n\n  # m\n  { path = \"fork\", read = true }\n]\n",
		},
		{
			"inside of braces", "[tools.x]\r\naccess = { net = [] } # c\r\n",
			"[tools.x]\r\naccess = { net = [], fs = [\r\n  # n\r\n  # m\r\n  { path = \"fork\", read = true }\r\n] } # c\r\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Append([]byte(tt.from), fs, fork, "n", "m")
			if d := cmp.Diff(tt.to, string(got)); err != nil || d != "" {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

// TestNotesChangeNothing: a text with any note says the same as the text without.
func TestNotesChangeNothing(t *testing.T) {
	for _, tt := range cases {
		for _, note := range []string{"n", "]\n[evil]\r\nx = 1", "\"\"\"", "\x00\xff\u2028 }", ""} {
			plain, err := Append([]byte(tt.without), fs, fork)
			noted, err1 := Append([]byte(tt.without), fs, fork, note)
			if err != nil || err1 != nil {
				t.Fatalf("%s: %v, %v", tt.name, err, err1)
			}
			if d := cmp.Diff(decode(t, plain), decode(t, noted)); d != "" {
				t.Errorf("%s: %s", tt.name, d)
			}
			if !strings.Contains(string(noted), "# ") {
				t.Errorf("%s: no note in\n%s", tt.name, noted)
			}
		}
	}
}

// TestNotesAreSeen: a note with the name of a file that a tool made reordered the line for its reader, since
// only control characters were replaced.
func TestNotesAreSeen(t *testing.T) {
	got, err := Append(nil, fs, fork, "a\u202eb\tc\x00\ufe0f")
	if line, _, _ := strings.Cut(string(got), "\n"); err != nil || line != `# a\u202eb\tc\x00\ufe0f` {
		t.Errorf("the note became %q, %v", line, err)
	}
}

// TestNotesOnOthers: further fields and keys have their notes above them.
func TestNotesOnOthers(t *testing.T) {
	more := Item{Bool("write", true)}
	for _, tt := range []struct{ from, to string }{
		{"[[tools.x.access.fs]]\npath = '.'\n", "# n\n[[tools.x.access.fs]]\npath = '.'\nwrite = true\n"},
		{"tools.x.access.fs = [{path='.'}]\n", "# n\ntools.x.access.fs = [{path='.', write = true}]\n"},
		{"tools.x.access.fs = [\n  {path='.'},\n]\n", "tools.x.access.fs = [\n  # n\n  {path='.', write = true},\n]\n"},
	} {
		got, err := Extend([]byte(tt.from), fs, 0, more, "n")
		if d := cmp.Diff(tt.to, string(got)); err != nil || d != "" {
			t.Errorf("%v (-want +got)\n%s", err, d)
		}
	}
	for _, tt := range []struct{ from, to string }{
		{"", "# n\n[t]\ngit = {}\n"},
		{"t = { a = {} }\n", "# n\nt = { a = {}, git = {} }\n"},
		{"[t]\na = {}\n", "[t]\na = {}\n# n\ngit = {}\n"},
	} {
		got, err := Set([]byte(tt.from), []string{"t"}, Field{"git", "{}"}, "n")
		if d := cmp.Diff(tt.to, string(got)); err != nil || d != "" {
			t.Errorf("%v (-want +got)\n%s", err, d)
		}
	}
}
