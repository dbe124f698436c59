package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/enforce/start"
)

// TestHost runs a session of four calls at once.
func TestHost(t *testing.T) {
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	for name, text := range map[string]string{
		"ws/accessc.toml": `
[tools.read]
source = "local"
command = "cat"
access.fs = [{ path = ".", read = true, write = true }, { path = "secret" }]

[tools.count]
source = "local"
command = "wc -c {{tool.arguments.file}}"
access.fs = [{ path = ".", read = true }]
`,
		"ws/plain": "text\n", "ws/secret": "key\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "ws"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := `{"id":1,"tool":"read","args":["plain"]}
{"id":2,"tool":"read","args":["secret"]}
{"id":3,"tool":"count","arguments":{"file":"plain"}}
{"id":4,"tool":"absent"}
`
	var out bytes.Buffer
	if err := serve(t.Context(), filepath.Join(dir, "ws"), time.Minute, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	got := map[int]answer{}
	for d := json.NewDecoder(&out); d.More(); {
		var a answer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		got[a.ID] = a
	}
	want := map[int]answer{
		1: {ID: 1, Output: "text\n"},
		2: {ID: 2, Status: 1, Output: "cat: secret: Permission denied\n", Refused: []string{"read secret: rule"}},
		3: {ID: 3, Output: "5 plain\n"},
		4: {ID: 4, Status: -1, Error: `there is no tool "absent"`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
