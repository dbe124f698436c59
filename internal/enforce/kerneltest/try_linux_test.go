package kerneltest_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/kerneltest"
)

// TestTry has operations done and refused by the system outside of any sandbox, where each answer
// is known. The start of a program takes all address space from its process, and is left to the
// scripts of the command test.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"dir", "empty"} {
		if err := os.Mkdir(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"file", "other", "gone", "moved", "taken"} {
		if err := os.WriteFile(at(f), []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tcp, port := listen(t, "127.0.0.1:0")
	defer tcp.Close()
	t.Setenv("KERNELTEST", "value")
	for _, c := range []struct{ op, a, b, want string }{
		{"read", at("file"), "", ""},
		{"read", at("dir"), "", ""},
		{"read", at("none"), "", "ENOENT"},
		{"create", at("made"), "", ""},
		{"create", at("file"), "", "EEXIST"},
		{"update", at("file"), "", ""},
		{"update", at("dir"), "", ""},
		{"update", at("none"), "", "ENOENT"},
		{"delete", at("gone"), "", ""},
		{"delete", at("empty"), "", ""},
		{"delete", at("none"), "", "ENOENT"},
		{"copy", at("file"), at("copied"), ""},
		{"copy", at("none"), at("copied"), "ENOENT"},
		{"rename", at("moved"), at("renamed"), ""},
		{"rename", at("none"), at("renamed"), "ENOENT"},
		{"exchange", at("file"), at("other"), ""},
		{"exchange", at("file"), at("none"), "ENOENT"},
		{"link", at("file"), at("linked"), ""},
		{"link", at("file"), at("taken"), "EEXIST"},
		{"dial", at("socket"), "", ""},
		{"dial", at("file"), "", "ECONNREFUSED"},
		{"connect", "127.0.0.1", port, "EINPROGRESS"},
		{"connect", strings.Repeat("x", 300), port, "insufficient data for calculated length type"},
		{"connect", "127.0.0.1", "http", `strconv.Atoi: parsing "http": invalid syntax`},
		{"listen", "127.0.0.1", "0", ""},
		{"listen", "127.0.0.1", port, "EADDRINUSE"},
		{"listen", "nowhere", "0", `ParseAddr("nowhere"): unable to parse IP`},
		{"env", "KERNELTEST", "value", ""},
		{"env", "KERNELTEST", "other", "EACCES"},
		{"env", "KERNELTEST_NONE", "", "EACCES"},
		{"paint", "", "", "ENOSYS"},
	} {
		request, err := json.Marshal(kerneltest.Attempt{Op: c.op, A: c.a, B: c.b})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := kerneltest.Try(string(request), &out); err != nil {
			t.Error(err)
		}
		if _, got, _ := strings.Cut(out.String(), "trial:"); strings.TrimSpace(got) != c.want {
			t.Errorf("%s %s %s: got %q, want %q", c.op, c.a, c.b, got, c.want)
		}
	}
}

func listen(t *testing.T, addr string) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return l, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// TestRequests refuses requests that no trial writes.
func TestRequests(t *testing.T) {
	if err := kerneltest.Try("{", new(strings.Builder)); err == nil {
		t.Error("half a request is tried")
	}
	file := filepath.Join(t.TempDir(), "start.json")
	if err := kerneltest.Load(file); err == nil {
		t.Error("a missing file is loaded")
	}
	for _, text := range []string{"{", "{}", `{"Spec": {}}`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := kerneltest.Load(file); err == nil {
			t.Errorf("%s is started", text)
		}
	}
}
