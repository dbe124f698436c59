package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/jsonc"
)

// TestWrap: the commands change and nothing else does.
func TestWrap(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"arguments", `{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}`,
			`{"mcpServers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "npx", "-y", "x"]}}}`},
		{"none", `{"mcpServers":{"a":{"command":"x"}}}`,
			`{"mcpServers":{"a":{"command":"accessc", "args": ["mcp", "--server", "a", "--", "x"]}}}`},
		{"arguments first", `{"mcpServers":{"a":{"args":["<&>"],"command":"x"}}}`,
			`{"mcpServers":{"a":{"args":["mcp", "--server", "a", "--", "x", "<&>"],"command":"accessc"}}}`},
		{"comments", "// a\n{ \"servers\": { /* \"b\": { */\n\t\"c d\": {\n\t\t\"type\": \"stdio\", // kept\n\t\t\"command\": \"x\", // \"q\"\n\t\t\"args\": [\n\t\t\t\"y\", // gone\n\t\t],\n\t},\n}, }\n",
			"// a\n{ \"servers\": { /* \"b\": { */\n\t\"c d\": {\n\t\t\"type\": \"stdio\", // kept\n\t\t\"command\": \"accessc\", // \"q\"\n\t\t\"args\": [\"mcp\", \"--server\", \"c_d\", \"--\", \"x\", \"y\"],\n\t},\n}, }\n"},
		{"settings", `{"x":1,"mcp":{"servers":{"a":{"command":"x","args":[]}}}}`,
			`{"x":1,"mcp":{"servers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "x"]}}}}`},
		{"two", `{"mcpServers":{"a":{"command":"x","args":[]},"b":{"url":"https://x"},"c":{"command":"y","args":[]}}}`,
			`{"mcpServers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "x"]},"b":{"url":"https://x"},"c":{"command":"accessc","args":["mcp", "--server", "c", "--", "y"]}}}`},
	} {
		got, _, err := Wrap([]byte(c.in), "accessc")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
		again, _, err := Wrap(got, "accessc")
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: the second time it became %s, %v", c.name, again, err)
		}
	}
}

// TestUnchanged: a server that accessc cannot start stays, with the reason.
func TestUnchanged(t *testing.T) {
	for value, why := range map[string]string{
		`{"url":"https://x"}`:                                    "has no command",
		`{"command":7}`:                                          "a command that is no text",
		`{"command":"x","args":"y"}`:                             "arguments that are no list",
		`{"command":"x","args":[1]}`:                             "an argument that is no text",
		`{"command":"x","command":"y"}`:                          `found "command" twice`,
		`{"command":"x","Args":["y"]}`:                           `take for "args"`,
		`{"command":"/opt/accessc.exe","args":["mcp","--","x"]}`: "already",
		`7`: "is no table",
	} {
		in := `{"mcpServers":{"a":` + value + `}}`
		got, servers, err := Wrap([]byte(in), "accessc")
		if err != nil || string(got) != in || !strings.Contains(servers[0].Why, why) {
			t.Errorf("%s: got %s, %+v, %v", value, got, servers, err)
		}
	}
	for in, want := range map[string]error{
		``: jsonc.ErrJSON, `{`: jsonc.ErrJSON, `{} /*`: jsonc.ErrJSON, `{"a":"` + "\xff" + `"}`: jsonc.ErrJSON, `{}`: ErrServers, `[]`: ErrServers, `{"mcpServers":[]}`: ErrServers,
	} {
		if _, _, err := Wrap([]byte(in), "accessc"); !errors.Is(err, want) {
			t.Errorf("%q: got %v", in, err)
		}
	}
	if _, _, err := Wrap([]byte(`{"mcpServers":{"a":{},"a":{}}}`), "accessc"); err == nil {
		t.Error("two servers of one name are rewritten")
	}
}

// TestEnv: the variables of a server are named.
func TestEnv(t *testing.T) {
	_, servers, err := Wrap([]byte(`{"mcpServers":{"a":{"command":"x","env":{"A":"1","B":"2"}}}}`), "accessc")
	if err != nil || !reflect.DeepEqual(servers[0].Env, []string{"A", "B"}) {
		t.Errorf("got %+v, %v", servers, err)
	}
}

// FuzzWrap: a rewritten file is JSON, starts every server that it can through accessc, and back
// again it says what it said.
func FuzzWrap(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"npx","args":["-y","x"]},"b":{"url":"u"}}}`))
	f.Add([]byte("// c\n{\"servers\":{\"a\":{\"args\":[\"\\u0061\",],\"command\":\"x\"},},}"))
	f.Add([]byte(`{"mcp":{"servers":{"a":{"command":"accessc","args":["mcp","--","x"]}}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if text, err := jsonc.Plain(bytes.Clone(doc)); err == nil && len(text) != len(doc) {
			t.Fatalf("%q has become %q", doc, text)
		}
		wrapped, servers, err := Wrap(bytes.Clone(doc), "accessc")
		if err != nil {
			return
		}
		for _, s := range servers {
			if !s.Changed && s.Why == "" {
				t.Fatalf("%q: %+v", doc, s)
			}
			if !s.Changed && strings.Contains(s.Why, "already") {
				return // unwrapping undoes more than wrapping did
			}
		}
		back, _, err := Unwrap(bytes.Clone(wrapped))
		if err != nil {
			t.Fatalf("%q: %v", wrapped, err)
		}
		if was, is := meaning(t, doc), meaning(t, back); !reflect.DeepEqual(was, is) {
			t.Fatalf("%q: got %v, want %v", doc, is, was)
		}
	})
}

// meaning is the value of a document, without lists of arguments that are empty.
func meaning(t *testing.T, doc []byte) any {
	text, err := jsonc.Plain(doc)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		if m, ok := v.(map[string]any); ok {
			if args, ok := m["args"].([]any); ok && len(args) == 0 {
				delete(m, "args")
			}
			for _, x := range m {
				walk(x)
			}
		}
	}
	walk(v)
	return v
}

// write makes a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFile: a file is replaced whole, keeps its permissions and its symlink, and comes back.
func TestFile(t *testing.T) {
	const text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}} // mine\n"
	path := write(t, text)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := Apply(link, "accessc"); err != nil {
		t.Fatal(err)
	}
	now, _ := os.ReadFile(path)
	backup, err := os.ReadFile(path + BackupSuffix)
	if err != nil || string(backup) != text || !strings.Contains(string(now), `"accessc"`) {
		t.Fatalf("got %s and the backup %s, %v", now, backup, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if _, err := Undo(link, "accessc"); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); string(now) != text {
		t.Errorf("got %s", now)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 || len(left) != 1 {
		t.Errorf("got %v and %v, %v", info, left, err)
	}
}

// TestFileChangedSince: an undone file keeps later changes, and its backup.
func TestFileChangedSince(t *testing.T) {
	path := write(t, `{"mcpServers":{"a":{"command":"x","args":["1"]}}}`)
	if _, err := Apply(path, "accessc"); err != nil {
		t.Fatal(err)
	}
	now, _ := os.ReadFile(path)
	edited := strings.Replace(string(now), `}}}`, `},"b":{"command":"y"}}}`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo(path, "accessc"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if want := `{"mcpServers":{"a":{"command":"x","args":["1"]},"b":{"command":"y"}}}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(path + BackupSuffix); err != nil {
		t.Error(err)
	}
}

// TestFileRefused: a file that cannot be rewritten stays as it is, without a backup.
func TestFileRefused(t *testing.T) {
	path := write(t, `{"mcpServers":`)
	if _, err := Apply(path, "accessc"); !errors.Is(err, jsonc.ErrJSON) {
		t.Errorf("got %v", err)
	}
	if _, err := Apply(filepath.Dir(path), "accessc"); err == nil {
		t.Error("a directory was rewritten")
	}
	if _, err := Apply(path+".none", "accessc"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("got %v", left)
	}
}
