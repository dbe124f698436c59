package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

// policy is the policy of most tests: everything is read, src is written, secrets are
// neither, and fork is a directory outside.
const policy = `{
	"root": "ROOT/ws", "action": "run", "tool": "edit",
	"access": {
		"base": {"name": "system", "version": 3},
		"fs": [
			{"lexical_path": "", "read": true},
			{"lexical_path": "src", "read": true, "create": true, "update": true, "delete": true},
			{"lexical_path": "src/generated", "read": true},
			{"lexical_path": "secret"},
			{"lexical_path": "bin", "read": true, "execute": true},
			{"lexical_path": "drop", "create": true},
			{"lexical_path": "fork", "external": true, "approved_target": "ROOT/fork", "read": true, "update": true}
		],
		"net": [{"host": "api.example.com", "scheme": "https", "allow": true}, {"host": "*.example.com"}],
		"env": [{"name": "PATH", "read": true}, {"name": "LC_*", "read": true}, {"name": "LC_SECRET"}],
		"commands": {"git": {"args": [["status", "**"], []]}, "bin/run": {}}
	}
}`

// lay makes a workspace with links of every kind and returns the directory above it.
func lay(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ws/README": "readme", "ws/src/a": "a", "ws/src/generated/g": "g", "ws/secret/key": "key", "ws/bin/run": "#!/bin/sh\n",
		"ws/drop/full": "full", "fork/lib": "lib", "outside/o": "o",
	} {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), testbuild.WriteFile(p, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"ws/fork": "fork", "fork/nested": "outside", "ws/out": "outside", "ws/alias": "ws/secret", "ws/code": "ws/src",
	} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"dangling": "src/new", "danglingout": "../outside/new", "loop": "loop", "key": "secret/key"} {
		if err := os.Symlink(to, filepath.Join(dir, "ws", name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// newPolicy returns the policy above for a fresh workspace.
func newPolicy(t testing.TB, edits ...string) (*Policy, string) {
	t.Helper()
	dir := lay(t)
	text := strings.NewReplacer(append([]string{"ROOT", filepath.ToSlash(dir)}, edits...)...).Replace(policy)
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// TestChecks covers the answer of each check, and the place that the path leads to.
func TestChecks(t *testing.T) {
	c, dir := newPolicy(t)
	checks := map[string]func(string) (string, error){
		"read": c.CheckRead, "create": c.CheckCreate, "update": c.CheckUpdate, "delete": c.CheckDelete, "execute": c.CheckExecute,
	}
	for _, tt := range []struct{ ask, leads string }{
		{"read README", "ws/README"}, {"read .", "ws"}, {"read ./src//a", "ws/src/a"}, {"read code/a", "ws/src/a"}, {"read src/../README", "ws/README"},
		{"update code/a", "ws/src/a"}, {"create dangling", "ws/src/new"}, {"delete src/a", "ws/src/a"}, {"read fork/lib", "fork/lib"},
		{"update fork/lib", "fork/lib"}, {"read fork", "fork"}, {"execute bin/run", "ws/bin/run"}, {"create drop/new/deep", "ws/drop/new/deep"},
		{"read src/generated/g", "ws/src/generated/g"}, {"read missing", "ws/missing"},
	} {
		verb, path, _ := strings.Cut(tt.ask, " ")
		got, err := checks[verb](path)
		if want := filepath.Join(dir, tt.leads); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", tt.ask, got, err, want)
		}
	}
	for _, tt := range []struct{ ask, text string }{
		{"read /etc/passwd", "/etc/passwd: absolute paths are not permitted; write it relative to the workspace"},
		{"read src/../../x", "src/../../x: the path leaves the workspace"},
		{"read ", ": the path leaves the workspace"},
		{"read a\x00b", "a\x00b: found a NUL, which no path holds"},
		{"read out/o", "out/o: a symlink leads to DIR/outside/o, outside of the workspace"},
		{"create danglingout", "danglingout: a symlink leads to DIR/outside/new, outside of the workspace"},
		{"read fork/nested/o", "fork/nested/o: a symlink leads to DIR/outside/o, outside of the workspace"},
		{"read secret/key", "read of secret/key is denied by the rule on secret; read is granted at ., src, src/generated, bin, fork"},
		{"read alias/key", "read of alias/key is denied (it leads to secret/key) by the rule on secret; read is granted at ., src, src/generated, bin, fork"},
		{"read key", "read of key is denied (it leads to secret/key) by the rule on secret; read is granted at ., src, src/generated, bin, fork"},
		{"update README", "update of README is denied by the rule on .; update is granted at src, fork"},
		{"update src/generated/g", "update of src/generated/g is denied by the rule on src/generated; update is granted at src, fork"},
		{"create fork/new", "create of fork/new is denied by the rule on fork; create is granted at src, drop"},
		{"delete .", "delete of . is denied: a directory that the policy names is neither made nor removed"},
		{"delete fork", "delete of fork is denied by the rule on fork; delete is granted at src"},
		{"execute bin/other", "running bin/other is denied: it is not listed; listed: bin/run, git"},
		{"read loop", "check loop: found a symlink loop"},
	} {
		verb, path, _ := strings.Cut(tt.ask, " ")
		got, err := checks[verb](path)
		if want := strings.ReplaceAll(tt.text, "DIR", dir); err == nil || got != "" || err.Error() != want {
			t.Errorf("%s:\n got %q, %v\nwant %s", tt.ask, got, err, want)
		}
		if !strings.Contains(tt.ask, "loop") && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v is no fs.ErrPermission", tt.ask, err)
		}
	}
}

// TestNothingGranted covers the texts of errors where nothing is granted, and where much is.
func TestNothingGranted(t *testing.T) {
	c, _ := newPolicy(t, `"fs": [`, `"fs": [], "ignored": [`, `"net": [`, `"net": [], "ignored2": [`, `"commands": {`, `"commands": {}, "ignored3": {`)
	_, err := c.CheckRead("README")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{err, "read of README is denied: no rule matches; read is granted nowhere"},
		{c.CheckConnect("https://a.com"), "connecting to https://a.com is denied: no rule matches; nothing is allowed"},
		{c.CheckRun("ls"), "running ls is denied: it is not listed; none is"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
	if got := instead(make([]string, most+3), "granted:", ""); !strings.HasSuffix(got, " and 3 more") {
		t.Errorf("got %q", got)
	}
}

// TestOthers: connections, variables and programs.
func TestOthers(t *testing.T) {
	c, _ := newPolicy(t)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{c.CheckConnect("https://api.example.com/v1"), ""},
		{c.CheckConnect("https://API.example.com./v1"), ""},
		{c.CheckConnect("http://api.example.com/"), "connecting to http://api.example.com/ is denied by the rule on *.example.com; allowed: https://api.example.com"},
		{c.CheckConnect("https://api.example.com@evil.com"), "connecting to https://api.example.com@evil.com is denied: no rule matches; allowed: https://api.example.com"},
		{c.CheckConnect("api.example.com"), "connecting to api.example.com is refused: not a URL: expected scheme://host, such as https://api.example.com"},
		{c.CheckEnv("PATH"), ""}, {c.CheckEnv("LC_ALL"), ""}, {c.CheckEnv("HOME"), ""},
		{c.CheckEnv("LC_SECRET"), "the variable LC_SECRET is denied by the rule on LC_SECRET; granted: PATH, LC_*"},
		{c.CheckEnv("AWS"), "the variable AWS is denied: no rule matches; granted: PATH, LC_*"},
		{c.CheckRun("git"), ""}, {c.CheckRun("git", "status", "-s"), ""}, {c.CheckRun("bin/run", "x"), ""},
		{c.CheckRun("git", "push"), "running git push is denied with these arguments; allowed: git status **, git"},
		{c.CheckRun("rm", "-rf"), "running rm is denied: it is not listed; listed: bin/run, git"},
		{c.CheckRun("/bin/rm"), "running /bin/rm is denied: it is not listed; listed: bin/run, git"},
	} {
		if got := text(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if tt.err != nil && !errors.Is(tt.err, fs.ErrPermission) {
			t.Errorf("%v is no fs.ErrPermission", tt.err)
		}
	}
	real, _ := newPolicy(t, `"base":`, `"home": "real", "base":`)
	if real.CheckEnv("HOME") == nil {
		t.Error("the user's HOME is granted by no rule")
	}
}

// TestRequests: requests by their method, streams, and listening.
func TestRequests(t *testing.T) {
	c, _ := newPolicy(t, `"net": [`, `"listen": [{"host": "localhost", "allow": true}, {"host": "*", "port": 9000, "allow": true}, {"host": "localhost", "port": 9090}],
		"net": [{"host": "git.test", "methods": ["GET", "HEAD"], "inspect": true, "allow": true}, {"host": "db.test", "scheme": "tcp", "port": 5432, "allow": true}], "without": [`)
	const allowed = "; allowed: GET,HEAD git.test, tcp://db.test:5432"
	const listens = "; allowed: localhost, *:9000"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{c.CheckRequest("GET", "https://git.test/a"), ""}, {c.CheckRequest("HEAD", "https://git.test"), ""},
		{c.CheckRequest("POST", "https://git.test/a"), "POST of https://git.test/a is denied: no rule matches" + allowed},
		{c.CheckRequest("get", "https://git.test/a"), `get of https://git.test/a is refused: found "get", expected a method such as GET`},
		{c.CheckRequest("GET", "git.test"), "GET of git.test is refused: not a URL: expected scheme://host, such as https://git.test"},
		{c.CheckConnect("https://git.test/a"), "connecting to https://git.test/a is denied: no rule matches" + allowed},
		{c.CheckConnect("tcp://db.test:5432"), ""}, {c.CheckConnect("https://db.test:5432"), "connecting to https://db.test:5432 is denied: no rule matches" + allowed},
		{c.CheckListen("localhost:8080"), ""}, {c.CheckListen("127.0.0.1:0"), ""}, {c.CheckListen("[::1]:1024"), ""}, {c.CheckListen(":9000"), ""}, {c.CheckListen("0.0.0.0:9000"), ""},
		{c.CheckListen("localhost:80"), "listening at localhost:80 is denied: no rule matches" + listens},
		{c.CheckListen(":8080"), "listening at :8080 is denied: no rule matches" + listens},
		{c.CheckListen("[::1]:9090"), "listening at [::1]:9090 is denied by the rule on localhost:9090" + listens},
		{c.CheckListen("localhost:http"), "listening at localhost:http is refused: found port \"http\", expected 0 to 65535"},
		{c.CheckListen("8080"), "listening at 8080 is refused: found \"8080\", expected an address and a port, such as localhost:8080"},
		{c.CheckListen("example.com:8080"), "listening at example.com:8080 is refused: found the name example.com, expected localhost, an address of this host, or *"},
	} {
		if got := text(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if tt.err != nil && !errors.Is(tt.err, fs.ErrPermission) {
			t.Errorf("%v is no fs.ErrPermission", tt.err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestUnrestricted: without a policy the workspace's borders are still checked.
func TestUnrestricted(t *testing.T) {
	dir := lay(t)
	c, err := Parse([]byte(`{"root": "` + filepath.ToSlash(dir) + `/ws", "access": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Unrestricted() || c.Root() != filepath.Join(dir, "ws") || c.CheckEnv("X") != nil || c.CheckConnect("https://a.com") != nil || c.CheckRequest("PUT", "https://a.com") != nil || c.CheckListen(":80") != nil || c.CheckRun("rm") != nil {
		t.Error("something is restricted")
	}
	if _, err := c.ReadFile("secret/key"); err != nil {
		t.Error(err)
	}
	var escape *EscapeError
	for _, p := range []string{"out/o", "fork/lib", "danglingout"} {
		if _, err := c.Open(p); !errors.As(err, &escape) || escape.Path != p {
			t.Errorf("%s: %v", p, err)
		}
	}
	var outside *OutsideError
	if _, err := c.CheckRead("../x"); !errors.As(err, &outside) {
		t.Error(err)
	}
	if err := c.CheckRun("out/o"); !errors.As(err, &escape) {
		t.Errorf("a program outside: %v", err)
	}
}

// TestBadContexts: a document that is no Context, or differs from the expected form, is refused
// before any check.
func TestBadContexts(t *testing.T) {
	dir := lay(t)
	rule := func(fs, net string) string {
		return `{"root": "` + filepath.ToSlash(dir) + `/ws", "access": {"base": {"name": "none", "version": 3}, "fs": [` + fs + `], "net": [` + net + `]}}`
	}
	if _, err := Parse([]byte(rule("", ""))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no object": "[]", "cut": `{"root": "/`, "more": rule("", "") + "{}", "portable": `{"root": "${workspace}", "access": null}`,
		"relative root": `{"root": "ws", "access": null}`, "no root": `{"access": null}`, "no directory": `{"root": "/no/such/place", "access": null}`,
		"another base": strings.Replace(rule("", ""), `"version": 3`, `"version": 99`, 1),
		"slash at end": rule(`{"lexical_path": "secret/"}`, ""), "dots": rule(`{"lexical_path": "a/../b"}`, ""), "a dot": rule(`{"lexical_path": "."}`, ""),
		"absolute": rule(`{"lexical_path": "/etc"}`, ""), "above": rule(`{"lexical_path": "../x", "external": true}`, ""),
		"relative target": rule(`{"lexical_path": "fork", "external": true, "approved_target": "x"}`, ""),
		"dotted target":   rule(`{"lexical_path": "fork", "external": true, "approved_target": "/a/../b"}`, ""),
		"no name":         rule(`{"lexical_path": "", "external": true, "approved_target": "/a"}`, ""),
		"upper-case host": rule("", `{"host": "A.com"}`), "Unicode host": rule("", `{"host": "münchen.de"}`), "no host": rule("", `{}`),
		"upper-case scheme": rule("", `{"host": "a.com", "scheme": "HTTPS"}`),
		"lower-case method": rule("", `{"host": "a.com", "methods": ["get"]}`), "empty method": rule("", `{"host": "a.com", "methods": [""]}`),
	} {
		if c, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: accepted, %+v", name, c)
		} else if !errors.Is(err, ErrContext) && name != "no directory" {
			t.Errorf("%s: %v is no ErrContext", name, err)
		}
	}
	t.Setenv(ir.ContextVariable, "")
	if _, err := Load(); !errors.Is(err, ErrNoContext) {
		t.Errorf("without a Context: %v", err)
	}
	t.Setenv(ir.ContextVariable, filepath.Join(dir, "none"))
	if _, err := Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
	file := filepath.Join(dir, "context.json")
	if err := os.WriteFile(file, []byte(rule("", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(ir.ContextVariable, file)
	if c, err := Load(); err != nil || c.Unrestricted() {
		t.Errorf("got %v", err)
	}
}

// TestUnboundTarget: an external rule without an approved target grants nothing.
func TestUnboundTarget(t *testing.T) {
	c, _ := newPolicy(t, `"approved_target": "ROOT/fork",`, "")
	var escape *EscapeError
	if _, err := c.CheckRead("fork/lib"); !errors.As(err, &escape) {
		t.Errorf("got %v", err)
	}
}

// TestFolding: where names differ only by case, another spelling evades no rule and matches no
// further grant.
func TestFolding(t *testing.T) {
	c, dir := newPolicy(t)
	c.decideBy(c.tool, true)
	for _, p := range []string{"SECRET", "Secret/key", "ſecret", "SRC/x"} {
		if err := os.MkdirAll(filepath.Join(dir, "ws", p), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CheckUpdate(p); err == nil {
			t.Errorf("update of %s is allowed", p)
		}
	}
	for p, want := range map[string]bool{"SECRET/key": false, "ſecret/key": false, "secret/KEY": false, "README": true, "readme": true, "src/A": true, "fork/lib": true} {
		if _, err := c.CheckRead(p); (err == nil) != want {
			t.Errorf("read of %s: %v", p, err)
		}
	}
	if _, err := c.CheckExecute("bin/run"); err != nil {
		t.Error(err)
	}
	if err := c.CheckRun("bin/run"); err != nil {
		t.Error(err)
	}
}

// TestCall: the host's call is the call of the Context, and no caller sees the changes of another.
func TestCall(t *testing.T) {
	c, _ := newPolicy(t, `"tool":`, `"workspace_id": "w1", "conversation_id": "c1", "arguments": {"path": "a"}, "answers": {"sure": true}, "tool":`)
	call := c.Call()
	if call.Action != ActionRun || call.WorkspaceID != "w1" || call.ConversationID != "c1" || call.Options != nil ||
		string(call.Arguments) != `{"path": "a"}` || string(call.Answers) != `{"sure": true}` {
		t.Errorf("got %+v", call)
	}
	call.Arguments[0] = 'x'
	if got := string(c.Call().Arguments); got != `{"path": "a"}` {
		t.Errorf("got %s", got)
	}
}

// TestRunFromPath: a bare name that PATH finds in the workspace is a file of the
// workspace, which its rules must let be executed.
func TestRunFromPath(t *testing.T) {
	c, dir := newPolicy(t, `"commands": {`, `"commands": null, "ignored": {`)
	if c.Tool() != "edit" || c.Action() != "run" {
		t.Errorf("got %s, %s", c.Tool(), c.Action())
	}
	for where, want := range map[string]string{"bin": "", "secret": "execute of tool is denied (it leads to secret/tool) by the rule on secret; execute is granted at bin"} {
		if err := testbuild.WriteFile(filepath.Join(dir, "ws", where, "tool"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", filepath.Join(dir, "ws", where))
		if got := text(c.CheckRun("tool")); got != want {
			t.Errorf("in %s: got %q, want %q", where, got, want)
		}
	}
	if err := c.CheckRun("no-such-program"); err != nil {
		t.Errorf("what is not found is for the system to say: %v", err)
	}
}

// TestWindowsNames: other names of a file are refused, ordinary names are not.
func TestWindowsNames(t *testing.T) {
	for _, p := range []string{"a", "a.b", "src/.env", `src\a`, "a~b", "~", "com", "COM10", "console", "nul_", "../x", "/x", ".", "a/./b", "", "x.con"} {
		if _, why := spelling(p, true); why != "" {
			t.Errorf("%q: %s", p, why)
		}
	}
	for _, p := range []string{"a.", "a ", "a./b", "SECRET~1", "secret:stream", "secret::$DATA", "NUL", "con.txt", "a/aux", "lpt1.x", "COM¹", "CONIN$", "a?", "a\x00", `x\nul`} {
		if _, why := spelling(p, true); why == "" {
			t.Errorf("%q is accepted", p)
		}
	}
	if got, _ := spelling(`a\..\..\b`, true); got != "a/../../b" {
		t.Errorf("got %s", got)
	}
	if got, why := spelling("a.:x~1", false); got != "a.:x~1" || why != "" {
		t.Errorf("elsewhere: %s, %s", got, why)
	}
}

// FuzzParse: a Context is refused or answers; nothing panics, and nothing outside is
// reached.
func FuzzParse(f *testing.F) {
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "ws"), 0o755), os.Symlink("..", filepath.Join(dir, "ws", "up"))); err != nil {
		f.Fatal(err)
	}
	_, access, _ := strings.Cut(policy, `"access":`)
	f.Add(strings.TrimSuffix(strings.TrimSpace(access), "}"), "README")
	f.Add("null", "up/x")
	f.Add(`{"base": {"name": "none", "version": 3}, "fs": [{"lexical_path": "a\u0000", "read": true}]}`, "https://a.com/..")
	f.Fuzz(func(t *testing.T, access, path string) {
		c, err := Parse([]byte(`{"root": "` + dir + `/ws", "access": ` + access + `}`))
		if err != nil || c.Root() != dir+"/ws" || len(c.bindings.External) > 0 {
			return
		}
		got, err := c.CheckRead(path)
		if err == nil && got != c.Root() && !strings.HasPrefix(got, c.Root()+"/") {
			t.Errorf("%q leads to %s", path, got)
		}
		_, _, _ = c.CheckConnect(path), c.CheckEnv(path), c.CheckRun(path)
		_, _ = c.CheckListen(path), c.CheckRequest(path, path)
		_, _ = spelling(path, true)
	})
}
