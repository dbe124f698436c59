package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
)

// TestPlaceholders: what real commands hold, and what they must not.
func TestPlaceholders(t *testing.T) {
	r := &Request{
		Spec:      &landlock.Spec{Tool: "git_diff", Context: "{\n  \"root\": \"/w\"\n}\n"},
		Arguments: json.RawMessage(`{"nnn":"076","n":3,"list":["a","b c"]}`),
	}
	for in, want := range map[string]string{
		"plain": "plain", "{{context}}": `{"root":"/w"}`, "{{ tool.name }}": "git_diff", "{{tool.arguments.nnn}}": "076",
		"{{tool.arguments.n}}": "3", "{{tool.arguments.list}}": `["a","b c"]`, "a{{tool.arguments.nnn}}b{{tool.name}}c": "a076bgit_diffc",
		"{{tool.arguments.mmm | default('')}}": "", `{{tool.arguments.mmm|default("x")}}`: "x", "{{tool.arguments.nnn | default('x')}}": "076",
		"{{tool}}": `{"name":"git_diff","arguments":{"nnn":"076","n":3,"list":["a","b c"]}}`, "}}": "}}",
	} {
		if got, err := r.fill(in); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"{{", "{{x}}", "{{tool.arguments.mmm}}", "{{tool.arguments.mmm | upper}}", "{{tool.arguments.mmm | default('}}", "{{}}"} {
		if got, err := r.fill(in); err == nil {
			t.Errorf("%s became %q", in, got)
		}
	}
	r.Arguments = json.RawMessage(`[1]`)
	if _, err := r.fill("{{tool.arguments.nnn}}"); err == nil {
		t.Error("arguments that are no object were accepted")
	}
}

// TestShellCommand: text for a shell gets the further words as its arguments, never
// as its text.
func TestShellCommand(t *testing.T) {
	r := &Request{Spec: &landlock.Spec{Command: &landlock.Command{Program: "a | b", Shell: true}}}
	if got, err := r.argv(); err != nil || !slices.Equal(got, []string{"/bin/sh", "-c", "a | b", "a | b"}) {
		t.Errorf("got %q, %v", got, err)
	}
	r.Args = []string{"; rm -rf /", "x"}
	want := []string{"/bin/sh", "-c", `a | b "$@"`, "a | b", "; rm -rf /", "x"}
	if got, err := r.argv(); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// TestEnviron: only what the policy forwards, the private directories in the place
// of the user's.
func TestEnviron(t *testing.T) {
	s := &landlock.Spec{Home: "/state/home", Environment: []landlock.Variable{{Name: "PATH", Read: true}, {Name: "LC_", Prefix: true, Read: true}, {Name: "TEMP"}}}
	host := []string{"PATH=/bin", "LC_ALL=C", "SECRET=1", "HOME=/home/me", "LD_PRELOAD=x", "TMPDIR=/tmp", "=odd", "noequals", "XDG_CACHE_HOME=/home/me/.cache"}
	got := environ(s, host, "/run/tmp", "/run/tmp/context.json")
	want := []string{
		"ACCESSC_CONTEXT=/run/tmp/context.json", "HOME=/state/home", "LC_ALL=C", "PATH=/bin", "TMP=/run/tmp", "TMPDIR=/run/tmp",
		"XDG_CACHE_HOME=/state/home/.cache", "XDG_CONFIG_HOME=/state/home/.config", "XDG_DATA_HOME=/state/home/.local/share",
		"XDG_RUNTIME_DIR=/run/tmp", "XDG_STATE_HOME=/state/home/.local/state",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s.Home = ""
	s.Environment = append(s.Environment, landlock.Variable{Name: "HOME", Read: true})
	if got := environ(s, host, "/t", "/t/c"); !slices.Contains(got, "HOME=/home/me") || slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, "XDG_") }) {
		t.Errorf("with the real home: got %q", got)
	}
}

// TestSettle: unmet cells stop the start unless each is accepted by its name.
func TestSettle(t *testing.T) {
	spec := &landlock.Spec{Needs: []landlock.Need{
		{Cell: "fs.metadata", From: 1, To: landlock.MaxABI, Why: "a"}, {Cell: "process.signal", From: 1, To: 5, Why: "b"},
		{Cell: "fs.metadata", From: 1, To: landlock.MaxABI, Why: "c"}, {Cell: "limits.memory", From: 1, To: landlock.MaxABI, Why: "d"},
	}, Accept: []string{"limits.memory"}}
	tests := []struct {
		abi    int
		accept []string
		unmet  []string
	}{
		{7, nil, []string{"fs.metadata"}}, {5, nil, []string{"fs.metadata", "process.signal"}}, {5, []string{"fs.metadata"}, []string{"process.signal"}},
		{7, []string{"fs.metadata"}, nil}, {99, nil, []string{"fs.metadata"}}, {7, []string{"fs"}, []string{"fs.metadata"}},
	}
	for _, tt := range tests {
		var said strings.Builder
		accepted, err := settle(&Request{Spec: spec, Accept: tt.accept, Messages: &said}, Host{ABI: tt.abi})
		var e *Error
		var got []string
		if errors.As(err, &e) {
			for _, n := range e.Unmet {
				got = append(got, n.Cell)
			}
		}
		if !slices.Equal(got, tt.unmet) || (err == nil) != strings.Contains(said.String(), "limits.memory") {
			t.Errorf("%+v: got %v, accepted %v, said %q", tt, got, accepted, said.String())
		}
	}
	_, err := settle(&Request{Spec: spec, Messages: io.Discard}, Host{ABI: 7})
	if err == nil || !strings.Contains(err.Error(), "--accept fs.metadata") || !strings.Contains(err.Error(), "a; c") {
		t.Errorf("got %v", err)
	}
}

// TestLoad: an artifact must be vouched for, be the right tool's, and be understood.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x", "landlock.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, "", "x"); err == nil || !strings.Contains(err.Error(), "no manifest vouches") {
		t.Errorf("without a manifest: %v", err)
	}
	if _, err := Load(file, "sha256:00", "x"); err == nil || !strings.Contains(err.Error(), "has the hash") {
		t.Errorf("with another hash: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"x":"sha256:00"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, "", "x"); err == nil || !strings.Contains(err.Error(), "is not what") {
		t.Errorf("with a manifest that does not vouch: %v", err)
	}
	sum := "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if _, err := Load(file, sum, "x"); err == nil || !errors.Is(err, landlock.ErrSpec) {
		t.Errorf("what is no specification: %v", err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), dir} {
		if _, err := Load(bad, sum, "x"); err == nil {
			t.Errorf("%s was loaded", bad)
		}
	}
}

// TestSweepOnlyItsOwn: the sweeper removes directories of runs and nothing else.
func TestSweepOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := Sweep(dir); err == nil {
		t.Error("a directory that is none of a run was removed")
	}
	mine := filepath.Join(dir, runPrefix+"123")
	if err := os.MkdirAll(filepath.Join(mine, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(mine); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("the directory of a run is still there")
	}
}
