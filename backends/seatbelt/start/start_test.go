package start

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
)

func artifact(t *testing.T, form backends.Form) (string, Spec) {
	t.Helper()
	s := Spec{
		Launch: backends.Launch{
			Tool: "t", Workspace: "/w", Home: "/h", Environment: []backends.Variable{}, Needs: []backends.Row{},
			Context: "{\n\u2028}\n", Command: &backends.Command{Program: "a\n(allow default)", Args: []string{";!", heading}},
		},
		Directories: []string{"/w/a", "/w/a/b"},
	}
	data, err := Append([]byte(Header(form)+"\n(version 1)\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Form, s.Profile = form.String(), string(data)
	return string(data), s
}

// TestParse: written artifacts are read, and every line added is a comment.
func TestParse(t *testing.T) {
	for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
		text, want := artifact(t, form)
		got, err := Parse([]byte(text))
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		_, tail, _ := strings.Cut(text, "(version 1)\n")
		for line := range strings.Lines(tail) {
			if line != "\n" && !strings.HasPrefix(line, ";") {
				t.Errorf("the system would read %q", line)
			}
		}
	}
}

// TestParseRefuses: text behind the rules that is not part of the document is refused.
func TestParseRefuses(t *testing.T) {
	text, _ := artifact(t, backends.Resolved)
	for name, bad := range map[string]string{
		"empty":            "",
		"no document":      Header(backends.Resolved) + "\n(version 1)\n",
		"no heading":       strings.Replace(text, heading, "", 1),
		"a rule behind it": text + "(allow default)\n",
		"a rule within it": strings.Replace(text, heading, heading+"(allow default)\n", 1),
		"another document": text + ";! {}\n",
		"an unknown field": strings.Replace(text, `;!   "tool"`, `;!   "tols": 1,`+"\n"+`;!   "tool"`, 1),
		"another version":  strings.Replace(text, "seatbelt 2", "seatbelt 1", 1),
		"another form":     strings.Replace(text, "resolved", "settled", 1),
		"a relative path":  strings.Replace(text, "/w/a/b", "w/a/b", 1),
		"another program":  strings.Replace(text, `;!   "tool"`, `;!   "starts": "/bin/sh",`+"\n"+`;!   "tool"`, 1),
		"a path with dots": strings.Replace(text, "/w/a/b", "/w/../b", 1),
		"cut off":          text[:len(text)-4],
		"an open document": strings.TrimSuffix(text, ";! }\n"),
	} {
		if s, err := Parse([]byte(bad)); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
	}
}

// FuzzParse: no text makes the reader panic, and accepted text is of a known form.
func FuzzParse(f *testing.F) {
	f.Add("; accessc/seatbelt 1 resolved\n\n" + heading + ";! {}\n")
	f.Add("\n" + heading)
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse([]byte(in))
		if err == nil && (s.Form == "" || s.Profile != in) {
			t.Fatalf("%q: %+v", in, s)
		}
		if err != nil && !errors.Is(err, ErrSpec) {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
