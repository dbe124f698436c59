package suite

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// Given is what a program's own tests give the suite, besides the value of the program.
type Given struct {
	// Good and Bad are documents of each format, by its name: a document that is imported, and documents that the reader
	// does not understand.
	Good map[string]string
	Bad  map[string][]string
	// In is the directory of the workspace in which the documents lie, empty for a directory elsewhere.
	In string
	// Types returns a pointer to the types of the settings that the program's target is written in, nil for settings
	// that are no JSON, or whose order counts.
	Types func() any
	Hooks *Hooks
}

// Run holds a program to the suite. What a program has, its tests have to give documents and events for.
func Run(t *testing.T, a *agents.Agent, given Given) {
	for _, f := range a.Formats {
		t.Run(f.Name, func(t *testing.T) { reads(t, f, given) })
	}
	for _, b := range a.Targets {
		t.Run("written", func(t *testing.T) { written(t, a, b, given) })
	}
	if a.Hooks != nil {
		if given.Hooks == nil {
			t.Fatal("there are hooks, and no events of theirs")
		}
		t.Run("answers", func(t *testing.T) { given.Hooks.answers(t, a.Hooks.Agent) })
		t.Run("texts", func(t *testing.T) { given.Hooks.texts(t, a.Hooks.Agent) })
		t.Run("installation", func(t *testing.T) { installation(t, a.Hooks) })
	}
}

// reads: a reader takes a document, and refuses each that it does not understand with the place in it.
func reads(t *testing.T, f importer.Format, given Given) {
	w := NewWorld(t, f)
	if given.In != "" {
		w.In = filepath.Join(w.Dir, given.In)
		if err := os.Mkdir(w.In, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if res, err := w.RunAs(f.Name, "good", given.Good[f.Name], importer.Close); err != nil || res.Policy == nil {
		t.Errorf("%s: %v", given.Good[f.Name], err)
	}
	if len(given.Bad[f.Name]) == 0 {
		t.Error("no document is given that is not understood")
	}
	for _, text := range given.Bad[f.Name] {
		if res, err := w.RunAs(f.Name, "bad", text, importer.Close); err == nil || res != nil {
			t.Errorf("%s: became %+v", text, res)
		}
	}
}

// written: a target states each cell of its ledger in words. Its types lose nothing of what it writes, and a key that they
// do not know is an error to them.
func written(t *testing.T, a *agents.Agent, b backends.Backend, given Given) {
	if a.Sentences == nil || len(a.Sentences()) == 0 {
		t.Error("the causes have no sentences")
	}
	if given.Types == nil {
		return
	}
	irtest.Check(t, 200, 1, func(rt *rapid.T) {
		tool := Draw(rt)
		tool.Net = irtest.NetRules(rt, 3)
		tool.Accept = []ir.Acceptance{{Gap: ir.GapNetHost}}
		out, err := b.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		if out.Data == nil {
			rt.Skip("the target refuses the policy")
		}
		settings := given.Types()
		if err := Decode(out.Data, settings); err != nil {
			rt.Fatalf("%s: %v", out.Data, err)
		}
		again, err := backends.JSON(settings)
		if err != nil || !bytes.Equal(again, out.Data) {
			rt.Fatalf("%s became %s, %v", out.Data, again, err)
		}
		unknown := bytes.Replace(out.Data, []byte("{"), []byte(`{"zzUnknown": 1,`), 1)
		if Decode(unknown, given.Types()) == nil {
			rt.Fatalf("a key is passed over in %s", unknown)
		}
	})
}

// Decode reads settings as their types, without a key that these do not know.
func Decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// write puts a file below a new directory.
func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
