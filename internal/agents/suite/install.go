package suite

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// Update has tests write their expectations.
var Update = flag.Bool("update", false, "write the archives")

// own is the entry of the archives.
var own = settings.Entry{Program: "/opt/acc essc/accessc", Args: []string{"--tool", "coder"}}

// installation: testdata/install.txtar has settings before and after an installation. A name that ends in .in is a file
// before, in .out after, in .error the reason why it stays. A second installation changes nothing, and the removal of
// the hook restores every byte.
func installation(t *testing.T, a *settings.Agent) {
	if runtime.GOOS == "windows" {
		t.Skip("the archives have paths of other systems")
	}
	path := filepath.Join("testdata", "install.txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{{Name: "new", Data: a.New(own)}}}
	for _, f := range archive.Files {
		name, in := strings.CutSuffix(f.Name, ".in")
		if !in {
			continue
		}
		out.Files = append(out.Files, f)
		now, err := installed(t, a, f.Data)
		if err != nil {
			out.Files = append(out.Files, txtar.File{Name: name + ".error", Data: []byte(err.Error() + "\n")})
			continue
		}
		out.Files = append(out.Files, txtar.File{Name: name + ".out", Data: now})
	}
	text := txtar.Format(out)
	if *Update {
		err = os.WriteFile(path, text, 0o644)
	} else if !bytes.Equal(text, txtar.Format(archive)) {
		t.Errorf("got\n%s", text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// installed is the text that an installation makes of a document.
func installed(t *testing.T, a *settings.Agent, doc []byte) ([]byte, error) {
	t.Helper()
	path := write(t, "settings", doc)
	first, err := a.Install(path, own)
	now, wrong := os.ReadFile(path)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if err != nil {
		if !bytes.Equal(now, doc) {
			t.Errorf("%s was not installed into, and became %s", doc, now)
		}
		return nil, err
	}
	if again, err := a.Install(path, own); err != nil || again.Changed {
		t.Errorf("the second time %s changed, %v", now, err)
	}
	if !first.Changed {
		return now, nil
	}
	if r, err := a.Uninstall(path); err != nil || !r.Changed {
		t.Errorf("the removal from %s: %+v, %v", now, r, err)
	}
	if back, err := os.ReadFile(path); !had(a, doc) && (err != nil || !bytes.Equal(back, doc)) {
		t.Errorf("%s is not restored, but %s, %v", doc, back, err)
	}
	return now, nil
}

// had reports whether a document has an entry of an earlier installation, which its removal takes as well.
func had(a *settings.Agent, doc []byte) bool {
	return bytes.Contains(doc, []byte(" "+a.Name)) || bytes.Contains(doc, []byte(`"`+a.Name+`"`))
}
