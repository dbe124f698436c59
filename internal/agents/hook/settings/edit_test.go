package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/test/irtest"
)

// own is an entry.
var own = Entry{"/opt/acc essc/accessc", []string{"--tool", "coder"}}

// foreign draws settings of a user, who may have hooks, some of them like accessc's.
func foreign(t *rapid.T, a *Agent) []byte {
	gap := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n    ", " // mine\n", "/* x */"}).Draw(t, "gap")
	}
	list := func(name string, of func() string, n int) string {
		var items []string
		for range n {
			items = append(items, gap()+of())
		}
		return `"` + name + `":` + gap() + "[" + strings.Join(items, gap()+",") + gap() + "]"
	}
	hook := func() string {
		return rapid.SampledFrom([]string{
			`{"type":"command","command":"other"}`, `{"command":"accessc mcp -- x"}`, `{"bash":"accessc hook other"}`, `{"command":"a $(b)"}`, `{"prompt":7}`,
			`{"command":["accessc"]}`, `{"command":"/opt/accessc2 hook ` + a.Name + `"}`, `{"bash":"accessc hook ` + a.Name + `"}`,
		}).Draw(t, "hook")
	}
	element := hook
	if a.Grouped {
		element = func() string {
			return `{"matcher":"X",` + list("hooks", hook, rapid.IntRange(0, 2).Draw(t, "hooks")) + gap() + "}"
		}
	}
	var members []string
	if rapid.Bool().Draw(t, "version") {
		members = append(members, `"version":`+gap()+"1")
	}
	if rapid.Bool().Draw(t, "others") {
		members = append(members, `"env":{"A":"1",}`)
	}
	if rapid.Bool().Draw(t, "hooks") {
		var events []string
		for i, name := range []string{a.Events[0].Name, "Else"} {
			if rapid.Bool().Draw(t, "event") {
				events = append(events, gap()+list(name, element, rapid.IntRange(0, 2).Draw(t, "elements")+i))
			}
		}
		members = append(members, `"hooks":{`+strings.Join(events, ",")+gap()+"}")
	}
	doc := "{"
	for i, m := range members {
		if i > 0 {
			doc += ","
		}
		doc += gap() + m + gap()
	}
	if len(members) > 0 && rapid.Bool().Draw(t, "last comma") {
		doc += ","
	}
	return []byte(doc + gap() + "}" + gap())
}

// files are the names and contents of a directory and of those in it.
func files(t *rapid.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			out[path] = "directory"
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRoundTrip: after an installation, an update and an uninstallation every file and directory is
// as before, byte for byte. Between them the settings are read as accessc's, and the user's hooks are
// all there. An addition of the user is all that is left.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	irtest.Check(t, 1000, 1, func(t *rapid.T) {
		a := rapid.SampledFrom(agents).Draw(t, "agent")
		home := filepath.Join(dir, "home")
		defer os.RemoveAll(home)
		path := Places{Home: home, Getenv: func(string) string { return "" }}.User(a)
		var doc []byte
		if a.Plugin == nil && rapid.Bool().Draw(t, "there") {
			doc = foreign(t, a)
			if err := errs(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, doc, 0o640)); err != nil {
				t.Fatal(err)
			}
		} else if err := os.MkdirAll(filepath.Join(home, rapid.SampledFrom([]string{"", a.Home}).Draw(t, "made")), 0o755); err != nil {
			t.Fatal(err)
		}
		was := files(t, home)
		entries := rapid.SliceOfN(rapid.SampledFrom([]Entry{own, {"/usr/bin/accessc", []string{}}}), 1, 3).Draw(t, "entries")
		for _, e := range entries {
			if _, err := a.Install(path, e); err != nil {
				t.Fatalf("%s: %s: %v", a.Name, doc, err)
			}
		}
		now, _ := os.ReadFile(path)
		all, exact, err := a.find(now)
		if err != nil || !exact || !same(all[0].Entry, entries[len(entries)-1]) {
			t.Fatalf("%s: %s became %s: %v %v", a.Name, doc, now, all, err)
		}
		if doc != nil {
			bare, err := a.take(now, doc)
			if err != nil || !reflect.DeepEqual(meaning(t, bare), meaning(t, doc)) {
				t.Fatalf("%s: %s became %s, without the hook %s: %v", a.Name, doc, now, bare, err)
			}
		}
		if r, err := a.Uninstall(path); err != nil || !r.Changed {
			t.Fatal(r, err)
		}
		if is := files(t, home); !reflect.DeepEqual(is, was) {
			t.Fatalf("%s: got %q, want %q", a.Name, is, was)
		}
	})
}

func errs(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func meaning(t *rapid.T, doc []byte) any {
	var v any
	n, err := jsonc.Parse(doc)
	if err == nil {
		err = n.Decode(&v)
	}
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

// FuzzAdd: every document either has the hook once after an installation, and every value as it was
// after its removal, or is refused.
func FuzzAdd(f *testing.F) {
	for _, seed := range []string{"{}", "", "{,}", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[]}]}} // x`, "\ufeff{\"version\":1,}", "{/*}*/\"hooks\"://\n{}}", "{/*/ a */}"} {
		for i := range agents {
			f.Add([]byte(seed), i)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, which int) {
		a := agents[uint(which)%uint(len(agents))]
		have, _, err := a.look(doc)
		if err != nil || len(have) > 0 || a.Plugin != nil {
			return
		}
		now, err := a.add(doc, own)
		if err != nil {
			return
		}
		all, exact, err := a.find(now)
		if err != nil || !exact || !same(all[0].Entry, own) {
			t.Fatalf("%q became %q: %v", doc, now, err)
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			return
		}
		back, err := a.take(now, doc)
		if err != nil {
			t.Fatal(err)
		}
		was, err := jsonc.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		is, err := jsonc.Parse(back)
		var x, y any
		if err != nil || was.Decode(&x) != nil || is.Decode(&y) != nil || !reflect.DeepEqual(x, y) {
			t.Fatalf("%q became %q, and then %q: %v", doc, now, back, err)
		}
	})
}
