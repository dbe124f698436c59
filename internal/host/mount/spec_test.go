package mount

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Spec
	}{
		{"fork=~/code/forks/serde-yaml", Spec{Name: "fork", Path: "~/code/forks/serde-yaml"}},
		{"fork=~/code/forks/serde-yaml:ro", Spec{Name: "fork", Path: "~/code/forks/serde-yaml"}},
		{"fs_modify_file:fork=~/code/forks/x:rw", Spec{"fs_modify_file", "fork", "~/code/forks/x", true, false}},
		{"a=/p1", Spec{Name: "a", Path: "/p1"}},
		{"b=/p2:ro", Spec{Name: "b", Path: "/p2"}},
		{`fs_read_file:fork=C:\code\forks\x:ro`, Spec{Tool: "fs_read_file", Name: "fork", Path: `C:\code\forks\x`}},
		{`fork=C:\x`, Spec{Name: "fork", Path: `C:\x`}},
		{"_t0:a/b=c", Spec{Tool: "_t0", Name: "a/b", Path: "c"}},
		{"a=b=c", Spec{Name: "a", Path: "b=c"}},
		{"a=b:ro:ro", Spec{Name: "a", Path: "b:ro"}},
		{"t:a=b:rx", Spec{"t", "a", "b", false, true}},
		{"a=b:rx", Spec{"", "a", "b", false, true}},
		{"t:a=C:\\b:rwx", Spec{"t", "a", "C:\\b", true, true}},
		{"t:a=b:xr", Spec{"t", "a", "b:xr", false, false}},
		{"t:a=b:rwx:ro", Spec{"t", "a", "b:rwx", false, false}},
		{"t:a=b:ro:rw", Spec{"t", "a", "b:ro", true, false}},
		{"a=x:y=z", Spec{Name: "a", Path: "x:y=z"}},
		{"../qux/baz=~/x", Spec{Name: "../qux/baz", Path: "~/x"}},
	} {
		if got, err := Parse(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
	}
	for text, why := range map[string]string{
		"":              "found no =",
		"fork":          "found no =",
		"t:fork":        "found no =",
		"=x":            "found no name",
		"t:=x":          "found no name",
		"fork=":         "found no path",
		"fork=:ro":      "found no path",
		"t:fork=:rw":    "found no path",
		"fork=x:rwx":    "a mode with w needs the tool that may write: TOOL:fork=x:rwx",
		"fork=x:rw":     "a mode with w needs the tool that may write: TOOL:fork=x:rw",
		"T:fork=x":      `found "T"`,
		"0t:fork=x":     `found "0t"`,
		"my-tool:a=x":   `found "my-tool"`,
		":fork=x":       `found ""`,
		`C:\fork=x`:     `found "C"`,
		"t:C:x=y":       `a second ":"`,
		"t t:fork=x:rw": `found "t t"`,
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, why)
		}
	}
}

// FuzzParse: every accepted spec reads the same when it is written out in full.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"fork=~/x", "t:fork=C:\\x:rw", "a=b=c", "t:a=b:rwx", "a=b:rx", "=", ":=:", "a=b:ro:ro"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		full := s.Name + "=" + s.Path + map[Spec]string{
			{}: ":ro", {Write: true}: ":rw", {Execute: true}: ":rx", {Write: true, Execute: true}: ":rwx",
		}[Spec{Write: s.Write, Execute: s.Execute}]
		if s.Tool != "" {
			full = s.Tool + ":" + full
		}
		if again, err := Parse(full); err != nil || again != s {
			t.Errorf("%q is %+v, %q is %+v (%v)", text, s, full, again, err)
		}
	})
}

// TestRuleName covers the paths of names as given in directories of the workspace.
func TestRuleName(t *testing.T) {
	for _, tt := range []struct{ dir, name, want string }{
		{".", "foo/bar/baz", "foo/bar/baz"},
		{"foo", "baz", "foo/baz"},
		{"foo", "../qux/baz", "qux/baz"},
		{"foo", "../baz", "baz"},
		{"foo", "./x//y/", "foo/x/y"},
		{"..", "ws/x", "!"}, // from above: the name of the workspace means nothing
		{".", "../baz", "!leaves"},
		{"foo", "../../baz", "!leaves"},
		{"../elsewhere", "baz", "!leaves"},
		{".", "/baz", "!absolute"},
		{".", `C:\baz`, "!absolute"},
		{".", ".", "!itself"},
		{"foo", "..", "!itself"},
		{".", ".git/hooks/x", "!.git"},
		{".", "sub/.git/x", "!.git"},
		{".", ".GIT", "!.GIT"},
		{".", ".jp/x", "!.jp"},
		{".jp", "x", "!.jp"},
		{".", ".accessc/local.toml", "!.accessc"},
		{"foo", "../.accessc/x", "!.accessc"},
		{".", ".gitignore", ".gitignore"},
		{".", "a\"b", "!double quote"},
		{".", "a\nb", "!control"},
		{".", "a\\b", "!backslash"},
		{".", strings.Repeat("x/", 500), "!bytes"},
	} {
		got, err := ruleName(tt.dir, tt.name)
		why, refused := strings.CutPrefix(tt.want, "!")
		switch {
		case tt.name == "a\\b" && err == nil && got == "a/b": // a separator on Windows
		case refused && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s in %s: %q, %v; want %q", tt.name, tt.dir, got, err, tt.want)
		case !refused && (err != nil || got != tt.want):
			t.Errorf("%s in %s: %q, %v; want %q", tt.name, tt.dir, got, err, tt.want)
		}
	}
}
