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

	"github.com/accessc/accessc/internal/text/jsonc"
)

// client starts accessc by its name, in a workspace that a file calls /ws.
var client = Client{
	Program:   "accessc",
	Own:       func(command string) bool { return command == "accessc" || command == "/bin/accessc" },
	Workspace: func(dir string) bool { return dir == "/ws" },
}

// TestWrap: the commands change and nothing else does.
func TestWrap(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"arguments", `{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}`,
			`{"mcpServers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "npx", "-y","x"]}}}`},
		{"none", `{"mcpServers":{"a":{"command":"x"}}}`,
			`{"mcpServers":{"a":{"command":"accessc", "args": ["mcp", "--server", "a", "--", "x"]}}}`},
		{"arguments first", `{"mcpServers":{"a":{"args":["<&>"],"command":"x"}}}`,
			`{"mcpServers":{"a":{"args":["mcp", "--server", "a", "--", "x", "<&>"],"command":"accessc"}}}`},
		{"comments", "// a\n{ \"servers\": { /* \"b\": { */\n\t\"c d\": {\n\t\t\"type\": \"stdio\", // kept\n\t\t\"command\": \"x\", // \"q\"\n\t\t\"args\": [\n\t\t\t\"y\", // kept\n\t\t],\n\t},\n}, }\n",
			"// a\n{ \"servers\": { /* \"b\": { */\n\t\"c d\": {\n\t\t\"type\": \"stdio\", // kept\n\t\t\"command\": \"accessc\", // \"q\"\n\t\t\"args\": [\"mcp\", \"--server\", \"c_d\", \"--\", \"x\",\n\t\t\t\"y\", // kept\n\t\t],\n\t},\n}, }\n"},
		{"settings", `{"x":1,"mcp":{"servers":{"a":{"command":"x","args":[]}}}}`,
			`{"x":1,"mcp":{"servers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "x"]}}}}`},
		{"two", `{"mcpServers":{"a":{"command":"x","args":[]},"b":{"url":"https://x"},"c":{"command":"y","args":[]}}}`,
			`{"mcpServers":{"a":{"command":"accessc","args":["mcp", "--server", "a", "--", "x"]},"b":{"url":"https://x"},"c":{"command":"accessc","args":["mcp", "--server", "c", "--", "y"]}}}`},
	} {
		got, _, err := Wrap("x.json", []byte(c.in), client)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
		again, _, err := Wrap("x.json", got, client)
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: the second time it became %s, %v", c.name, again, err)
		}
	}
}

// TestUnchanged: a server that accessc cannot start stays, with the reason.
func TestUnchanged(t *testing.T) {
	for value, why := range map[string]string{
		`{"url":"https://x"}`:                     "has no command",
		`{"command":7}`:                           "a command that is no text",
		`{"command":"x","args":"y"}`:              "arguments that are no list",
		`{"command":"x","args":[1]}`:              "an argument that is no text",
		`{"command":"x","command":"y"}`:           `found "command" twice`,
		`{"command":"x","Args":["y"]}`:            `take for "args"`,
		`{"transport":{"command":"x"}}`:           "has its command in transport",
		`{"command":"x","args":["\ud800"]}`:       "half of a character",
		`{"command":"\uDFFFx"}`:                   "half of a character",
		`{"command":"x","env":["PATH=."]}`:        "an env that is no table",
		`{"command":"x","env":{"A":"1","A":"2"}}`: `found "A" twice`,
		`{"command":"x","Env":{"PATH":"."}}`:      `take for "env"`,
		`7`:                                       "is no table",
	} {
		in := `{"mcpServers":{"a":` + value + `}}`
		got, servers, err := Wrap("x.json", []byte(in), client)
		if err != nil || string(got) != in || !strings.Contains(servers[0].Why, why) {
			t.Errorf("%s: got %s, %+v, %v", value, got, servers, err)
		}
	}
	for in, want := range map[string]error{
		``: jsonc.ErrJSON, `{`: jsonc.ErrJSON, `{} /*`: jsonc.ErrJSON, `{"a":"` + "\xff" + `"}`: jsonc.ErrJSON, `{}`: ErrServers, `[]`: ErrServers, `{"mcpServers":[]}`: ErrServers,
	} {
		if _, _, err := Wrap("x.json", []byte(in), client); !errors.Is(err, want) {
			t.Errorf("%q: got %v", in, err)
		}
	}
	if _, _, err := Wrap("x.json", []byte(`{"mcpServers":{"a":{},"a":{}}}`), client); err == nil {
		t.Error("two servers of one name are rewritten")
	}
}

// TestEnv: the variables of a server are named. A null has none: once it was one without a name.
func TestEnv(t *testing.T) {
	for env, want := range map[string][]string{`{"A":"1","B":"2"}`: {"A", "B"}, `{}`: nil, `null`: nil} {
		_, servers, err := Wrap("x.json", []byte(`{"mcpServers":{"a":{"command":"x","env":`+env+`}}}`), client)
		if err != nil || !reflect.DeepEqual(servers[0].Env, want) {
			t.Errorf("%s: got %+v, %v", env, servers, err)
		}
	}
}

// TestMoves: an entry cannot have accessc obey other configuration than the user's. Its environment
// and its directory reach accessc first, and so chose the user's layer, the approvals, the program
// that a bare accessc names, and the workspace. A file's https_proxy led the egress proxy to a host
// of its choice, and TMPDIR=x as a name was not taken for TMPDIR.
func TestMoves(t *testing.T) {
	for value, why := range map[string]string{
		`"env":{"XDG_CONFIG_HOME":"${PWD}/xc"}`:    "sets XDG_CONFIG_HOME",
		`"env":{"XDG_STATE_HOME":"x"}`:             "sets XDG_STATE_HOME",
		`"env":{"A":"1","HOME":"x"}`:               "sets HOME",
		`"env":{"PATH":"./bin:/usr/bin"}`:          "sets PATH",
		`"env":{"Path":"bin"}`:                     "sets Path",
		`"env":{"LD_PRELOAD":"./x.so"}`:            "sets LD_PRELOAD",
		`"env":{"ACCESSC_X":"1"}`:                  "sets ACCESSC_X",
		`"env":{"TMPDIR":"."}`:                     "sets TMPDIR",
		`"env":{"TMPDIR=/proc/self/cwd/x":""}`:     "sets TMPDIR,",
		`"env":{"https_proxy":"http://127.0.0.1"}`: "sets https_proxy",
		`"env":{"ALL_PROXY":"socks5://x"}`:         "sets ALL_PROXY",
		`"env":{"LOCALDOMAIN":"x"}`:                "sets LOCALDOMAIN",
		`"envFile":"${workspaceFolder}/.env"`:      "takes variables from a file",
		`"cwd":"/home/u/.ssh"`:                     "(cwd)",
		`"cwd":"sub"`:                              "(cwd)",
		`"cwd":7`:                                  "(cwd)",
		`"cwd":"/ws"`:                              "",
		`"cwd":null,"env":null,"envFile":null`:     "",
		`"env":{"XDG":"1","PATHS":"2","XPATH":""}`: "",
	} {
		for _, command := range []string{`"command":"x"`, `"command":"accessc","args":["mcp","--server","a","--","x"]`} {
			_, servers, err := Wrap("x.json", []byte(`{"mcpServers":{"a":{`+command+`,`+value+`}}}`), client)
			if err != nil || why != "" && (servers[0].Changed || !strings.Contains(servers[0].Why, why)) || why == "" && !servers[0].Changed && !strings.Contains(servers[0].Why, "already") {
				t.Errorf("%s, %s: got %+v, %v", command, value, servers, err)
			}
		}
	}
}

// TestDone: only the words that Wrap writes are those of an adopted server. Any program called
// accessc, with any flags, counted as one.
func TestDone(t *testing.T) {
	for value, why := range map[string]string{
		`"accessc","args":["mcp","--server","a","--","x"]`:                             "already",
		`"/bin/accessc","args":["mcp","--server","a","--","x"]`:                        "already",
		`"./accessc","args":["mcp","--server","a","--","x"]`:                           "another accessc",
		`"/tmp/x/accessc","args":["mcp","--server","a","--","x"]`:                      "another accessc",
		`"C:\\x\\ACCESSC.EXE","args":["mcp","--","x"]`:                                 "another accessc",
		`"accessc","args":["mcp","--accept","net.default","--server","a","--","x"]`:    "flags of its own",
		`"accessc","args":["mcp","--server","a","--config","/tmp/evil.toml","--","x"]`: "flags of its own",
		`"accessc","args":["mcp","--server","b","--","x"]`:                             "flags of its own",
		`"accessc","args":["exec","x"]`:                                                "flags of its own",
		`"accessc"`:                                                                    "flags of its own",
	} {
		in := `{"mcpServers":{"a":{"command":` + value + `}}}`
		got, servers, err := Wrap("x.json", []byte(in), client)
		if err != nil || string(got) != in || !strings.Contains(servers[0].Why, why) {
			t.Errorf("%s: got %s, %+v, %v", value, got, servers, err)
		}
	}
}

// TestUndoOwn: an entry that starts through accessc with other words than Wrap writes is the user's,
// and stays confined. It started directly after --undo, although adopt had left it alone.
func TestUndoOwn(t *testing.T) {
	const own = `"b":{"command":"/bin/accessc","args":["mcp","--server","b","--ruleset","dev","--","y"]},"c":{"command":"accessc","args":["mcp","--","z"]}`
	in := `{"mcpServers":{"a":{"command":"x"},` + own + `}}`
	path := write(t, in)
	if _, err := Apply(path, client); err != nil {
		t.Fatal(err)
	}
	servers, err := Undo(path, client)
	if got, _ := os.ReadFile(path); err != nil || string(got) != in || !servers[0].Changed || servers[1].Changed || !strings.Contains(servers[1].Why, "flags of its own") {
		t.Errorf("with the copy: got %s, %+v, %v", got, servers, err)
	}
	got, servers, err := Unwrap("x.json", []byte(`{"mcpServers":{`+own+`}}`), client)
	if err != nil || string(got) != `{"mcpServers":{`+own+`}}` || servers[0].Changed || servers[1].Changed {
		t.Errorf("without a copy: got %s, %+v, %v", got, servers, err)
	}
}

// TestTables: every table of servers that a client may read is rewritten or named. Only the first
// one was, so that an entry in another table started unconfined.
func TestTables(t *testing.T) {
	const entry = `{"x":{"command":"x"}}`
	for in, want := range map[string]int{
		`{"mcpServers":` + entry + `,"servers":` + entry + `}`:                               2,
		`{"servers":` + entry + `,"mcp":{"servers":` + entry + `}}`:                          2,
		`{"mcpServers":` + entry + `,"McpServers":` + entry + `}`:                            2,
		`{"MCPSERVERS":` + entry + `}`:                                                       1,
		`{"projects":{"/a":{"mcpServers":` + entry + `},"/b":{"mcpServers":` + entry + `}}}`: 2,
	} {
		got, servers, err := Wrap("x.json", []byte(in), client)
		if err != nil || len(servers) != want || strings.Count(string(got), `"accessc"`) != want {
			t.Errorf("%s: got %s, %+v, %v", in, got, servers, err)
		}
		if back, _, err := Unwrap("x.json", got, client); err != nil || strings.Count(string(back), `"command":"x"`) != want {
			t.Errorf("%s: and back %s, %v", in, back, err)
		}
	}
	for _, in := range []string{
		`{"amp.mcpServers":` + entry + `}`, `{"context_servers":` + entry + `}`, `{"a":[{"mcpServers":` + entry + `}]}`,
	} {
		got, servers, err := Wrap("x.json", []byte(in), client)
		if err != nil || string(got) != in || len(servers) != 1 || !strings.Contains(servers[0].Why, "does not know") {
			t.Errorf("%s: got %s, %+v, %v", in, got, servers, err)
		}
	}
	if _, _, err := Wrap("x.json", []byte(`{"mcpServers":`+entry+`,"mcpServers":`+entry+`}`), client); err == nil {
		t.Error("two tables of one name are rewritten")
	}
}

// TestShared: two servers whose names become one are told, since one policy holds for both.
func TestShared(t *testing.T) {
	in := []byte(`{"mcpServers":{"a b":{"command":"x"},"c":{"command":"x"},"a_b":{"command":"x"}}}`)
	_, servers, err := Wrap("x.json", in, client)
	if err != nil || servers[0].Shares != "" || servers[1].Shares != "" || servers[2].Shares != "a b" {
		t.Errorf("got %+v, %v", servers, err)
	}
}

// TestComments: comments and line breaks among the arguments stay in both directions. They went
// with the list that was written anew.
func TestComments(t *testing.T) {
	for _, args := range []string{
		`["1" /*c*/, "2"]`, "[\n  // one, and\n  \"1\",\n  \"2\", // two\n]", `[/* a, b */ "1"]`, `[]`, `[ /* none */ ]`, `["1",]`,
	} {
		in := `{"mcpServers":{"a":{"command":"x","args":` + args + `}}}`
		now, _, err := Wrap("x.json", []byte(in), client)
		if err != nil || strings.Count(string(now), "*/")+strings.Count(string(now), "//") != strings.Count(in, "*/")+strings.Count(in, "//") {
			t.Errorf("%s: got %s, %v", args, now, err)
		}
		if back, _, err := Unwrap("x.json", now, client); err != nil || string(back) != in {
			t.Errorf("%s: and back %s, %v", args, back, err)
		}
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
		wrapped, servers, err := Wrap("x.json", bytes.Clone(doc), client)
		if err != nil {
			return
		}
		for _, s := range servers {
			if !s.Changed && s.Why == "" {
				t.Fatalf("%q: %+v", doc, s)
			}
			if !s.Changed && strings.Contains(s.Why, "starts through") {
				return // unwrapping undoes more than wrapping did
			}
		}
		back, _, err := Unwrap("x.json", bytes.Clone(wrapped), client)
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
	if _, err := Apply(link, client); err != nil {
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
	if _, err := Undo(link, client); err != nil {
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
	if _, err := Apply(path, client); err != nil {
		t.Fatal(err)
	}
	now, _ := os.ReadFile(path)
	edited := strings.Replace(string(now), `}}}`, `},"b":{"command":"y"}}}`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo(path, client); err != nil {
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

// TestBackupOfAnother: where a file has the name of the backup, the text before is kept in another, with the
// permissions of the original, and comes back. It was kept nowhere.
func TestBackupOfAnother(t *testing.T) {
	const text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}} // mine\n"
	path := write(t, text)
	if err := os.WriteFile(path+BackupSuffix, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+AgainSuffix, []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(path, client); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path + AgainSuffix)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := Undo(path, client); err != nil {
		t.Fatal(err)
	}
	now, _ := os.ReadFile(path)
	theirs, _ := os.ReadFile(path + BackupSuffix)
	if _, err := os.Stat(path + AgainSuffix); string(now) != text || string(theirs) != "theirs" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %s, %s, %v", now, theirs, err)
	}
}

// TestFileRefused: a file that cannot be rewritten stays as it is, without a backup.
func TestFileRefused(t *testing.T) {
	path := write(t, `{"mcpServers":`)
	if _, err := Apply(path, client); !errors.Is(err, jsonc.ErrJSON) {
		t.Errorf("got %v", err)
	}
	if _, err := Apply(filepath.Dir(path), client); err == nil {
		t.Error("a directory was rewritten")
	}
	if _, err := Apply(path+".none", client); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("got %v", left)
	}
}

// TestUndoCopy: a copy that starts through accessc itself is not put back. A tool may write the
// copy, and undo said that the server starts directly while it did not.
func TestUndoCopy(t *testing.T) {
	path := write(t, `{"mcpServers":{"a":{"command":"x","args":["1"]}}}`)
	if _, err := Apply(path, client); err != nil {
		t.Fatal(err)
	}
	now, _ := os.ReadFile(path)
	if err := os.WriteFile(path+BackupSuffix, now, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo(path, client); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if want := `{"mcpServers":{"a":{"command":"x","args":["1"]}}}`; string(got) != want {
		t.Errorf("got %s", got)
	}
}

// TestChangedMeanwhile: a change of another program between reading and replacing is kept. It
// was lost.
func TestChangedMeanwhile(t *testing.T) {
	const in, other = `{"mcpServers":{"a":{"command":"x"}}}`, `{"mcpServers":{}}`
	path := write(t, in)
	late := client
	late.Workspace = func(string) bool { // asked while the file is rewritten
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Error(err)
		}
		return true
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"a":{"command":"x","cwd":"."}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(path, late); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != other {
		t.Errorf("got %s", got)
	}
}

// TestSymlinkOut: a symlink of a workspace does not name a file outside of it.
func TestSymlinkOut(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const in = `{"mcpServers":{"a":{"command":"x"}}}`
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, d := range []string{"ws/.git", "ws/in", "user"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"user/mcp.json", "ws/in/mcp.json"} {
		if err := os.WriteFile(at(name), []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"ws/file": at("user/mcp.json"), "ws/dir": "../user", "ws/own": "in", "link": "ws"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"ws/file", "ws/dir/mcp.json", "link/dir/mcp.json"} {
		if _, err := Apply(at(name), client); !errors.Is(err, ErrOutside) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got, _ := os.ReadFile(at("user/mcp.json")); string(got) != in {
		t.Errorf("got %s", got)
	}
	if servers, err := Apply(at("link/own/mcp.json"), client); err != nil || !servers[0].Changed {
		t.Errorf("got %+v, %v", servers, err)
	}
}

// TestNothingHalf: a file that cannot be written takes back what was written first, and keeps no backup.
//
// Cause: the file was rewritten first, and stayed so when the layer of its servers could not be written.
func TestNothingHalf(t *testing.T) {
	const text = `{"mcpServers": {"a": {"command": "x"}}}`
	failed := errors.New("no layer")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{{"the layer", failed, text}, {"the file", nil, text + " "}} {
		path, taken := write(t, text), 0
		client := client
		client.First = func(servers []Server) (func() error, error) {
			if c.err == nil { // another program writes the file meanwhile
				if err := os.WriteFile(path, []byte(c.want), 0o640); err != nil {
					t.Fatal(err)
				}
				taken--
			}
			return func() error { taken++; return nil }, c.err
		}
		_, err := Apply(path, client)
		got, _ := os.ReadFile(path)
		if left, _ := filepath.Glob(path + "*"); err == nil || string(got) != c.want || taken != 0 || len(left) != 1 {
			t.Errorf("%s: %v, %q, %d, %q", c.name, err, got, taken, left)
		}
	}
}
