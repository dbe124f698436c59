package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// workspace is a directory with docs, secret and a symlink from one to the other, and the judge
// of a tool that may read docs, change out, and reach example.com.
func workspace(t *testing.T) *Judge {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "secret", "out"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"docs/a", "secret/key", ".env"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret/key", filepath.Join(root, "docs/link")); err != nil {
		t.Fatal(err)
	}
	tool := &ir.Tool{
		Name: "files", Source: ir.Source{Kind: ir.SourceLocal, Origin: ir.Origin{Path: "servers.files"}}, Home: ir.HomePrivate,
		Declared: ir.Declared{FS: true, Net: true},
		FS: []ir.FSRule{
			{Written: "docs", At: ir.In("docs"), Caps: ir.Caps(ir.Read)}, {Written: "out", At: ir.In("out"), Caps: ir.Caps(ir.Create, ir.Update)},
		},
		Net: []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Allow: true}},
	}
	roots := &ir.Bindings{Workspace: filepath.ToSlash(root), Home: filepath.ToSlash(t.TempDir())}
	view := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	return &Judge{View: view, Roots: roots, Dir: roots.Workspace, Home: roots.Home}
}

// TestArgument: which texts are judged, and the answers.
func TestArgument(t *testing.T) {
	j := workspace(t)
	root := j.Dir
	for _, c := range []struct{ name, text, want string }{
		{"path", "docs/a", ""},
		{"path", "docs/new", ""}, // the program will say that it is not there
		{"path", "secret/key", "read secret/key: no rule"},
		{"path", "new", "create new: no rule"},
		{"path", "out/new", ""},
		{"path", "docs/link", "read secret/key: no rule"},
		{"path", "docs/../secret/key", "read secret/key: no rule"},
		{"path", root + "/docs/a", ""},
		{"path", root + "/secret", "read secret: no rule"},
		{"path", "/", "read /: no rule"},
		{"path", "~/x", ""},
		{"path", "~root/x", "the path begins with ~"},
		{"path", "docs/\x00a", "the path has characters"},
		{"path", "docs/\ufffd", "the path has characters"},
		{"filePath", "secret/key", "read secret/key: no rule"},
		{"output_dir", "secret/key", "read secret/key: no rule"},
		{"profile", "none of a path", ""},
		{"x", ".env", "read .env: no rule"},
		{"x", "secret/that/is/not/there", "create secret/that/is/not/there: no rule"},
		{"x", "image/png", ""},
		{"x", "../x", "create "},
		{"x", "/etc/shadow", "read /etc/shadow: no rule"},
		{"x", "/* a comment\n*/", ""},
		{"x", "either docs or secret/key", ""},
		{"uri", "file://" + root + "/secret/key", "read secret/key: no rule"},
		{"uri", "FILE:" + root + "/secret/k%65y", "read secret/key: no rule"},
		{"uri", "file://elsewhere/x", "the file URL cannot be judged: it names another host"},
		{"uri", "file:%zz", "the file URL cannot be judged"},
		{"uri", "memo://insights", ""},
		{"url", "https://example.com/x", ""},
		{"url", "https://example.org/x", "connect https://example.org/x: no net rule"},
		{"text", "https://example.org/x", ""},
	} {
		got := ""
		if r := j.Argument(c.name, c.text); r != nil {
			got = r.Text()
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s = %q: got %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// TestProposal: a refusal names a rule that would grant it, in the table of the server.
func TestProposal(t *testing.T) {
	j := workspace(t)
	const want = "read secret/key: no rule; to allow it:\n      [[servers.files.access.fs]]\n      path = \"secret/key\"\n      read = true\n"
	if got := j.Argument("path", "secret/key").Text(); got != strings.TrimSuffix(want, "\n") {
		t.Errorf("got %q", got)
	}
}

// TestAccess: one capability on a path, as a file is read or written.
func TestAccess(t *testing.T) {
	j := workspace(t)
	for _, c := range []struct {
		need ir.Capability
		path string
		ok   bool
	}{
		{ir.Read, "docs/a", true}, {ir.Update, "docs/a", false}, {ir.Update, "out/new", true}, {ir.Update, "docs/new", false},
		{ir.Read, "docs/link", false}, {ir.Read, "out/new", false},
	} {
		if got := j.Access(c.need, c.path) == nil; got != c.ok {
			t.Errorf("%s %s: got %v", c.need, c.path, got)
		}
	}
}

// TestClosed: a search is closed by a rule below it that withholds reading, and by none that a later
// rule at its place overrules.
func TestClosed(t *testing.T) {
	j := workspace(t)
	tool := *j.View.Tool
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("docs/a")}, {At: ir.In("docs/a"), Caps: ir.Caps(ir.Read)}, {At: ir.In("secret/key")},
	}
	j.View = ir.NewView(&tool, ir.Linux, ir.Facts{Bindings: j.Roots, Base: []ir.FSRule{}})
	for path, want := range map[string]string{"docs": "", "docs/a": "", "secret": "secret/key", "secret/key": "", ".": "secret/key"} {
		got := ""
		if closed := j.Closed(path); closed != nil {
			got = closed.Subject()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestArgumentAgrees: a path that is refused has no capability, by the policy's own evaluator,
// and one that is not has some.
func TestArgumentAgrees(t *testing.T) {
	j := workspace(t)
	irtest.Check(t, 5000, 1, func(t *rapid.T) {
		at := rapid.SampledFrom([]string{"docs", "out", "secret", "x"}).Draw(t, "top")
		name := at + "/" + rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name")
		granted := at == "docs" || at == "out" || name == "docs/link"
		if name == "docs/link" {
			granted = false
		}
		if got := j.Argument("path", name) == nil; got != granted {
			t.Fatalf("%s: got %v", name, got)
		}
	})
}

// FuzzArgument: no text has the judge fail.
func FuzzArgument(f *testing.F) {
	f.Add("path", "docs/a")
	f.Add("uri", "file:///%2e%2e/x")
	f.Add("aB_c", "~\\..\\x")
	j := &Judge{Roots: &ir.Bindings{Workspace: "/nowhere/at/all"}, Dir: "/nowhere/at/all"}
	j.View = ir.NewView(&ir.Tool{Name: "t"}, ir.Linux, ir.Facts{Bindings: j.Roots, Base: []ir.FSRule{}})
	f.Fuzz(func(t *testing.T, name, text string) {
		if r := j.Argument(name, text); r != nil && r.Text() == "" {
			t.Errorf("%q = %q is refused without a reason", name, text)
		}
		if r := j.Path(text); r == nil {
			t.Errorf("%q is granted by a policy of nothing", text)
		}
	})
}

// TestReadings: programs trim, expand and compose the text of a path, and every result of that is
// judged. Read "~/.ssh/id_rsa" and " /etc/shadow" passed as names of the workspace.
func TestReadings(t *testing.T) {
	j := workspace(t)
	j.Home = filepath.ToSlash(t.TempDir())
	for text, refused := range map[string]bool{
		"docs/a": false, " docs/a ": true, "~/x": true, " ~/x": true, "~": true, "~root/x": true, "\ufeff/etc/shadow": true, " /etc/shadow": true,
		"\u00a0/etc/shadow": true, "file:///etc/shadow": true, " file:///etc/shadow": true, "file://" + j.Dir + "/docs/a": false,
		"file://" + j.Dir + "/docs/%2e%2e/secret/key": true, "docs/e\u0301": false, "secre\u0074\u0323/key": true, "./~/x": true, "docs/~/x": false,
		"file://elsewhere/docs/a": true, "docs/\x00": true,
	} {
		if got := j.Access(ir.Read, text); (got != nil) != refused {
			t.Errorf("%q: refused %v", text, got != nil)
		}
	}
	j.Home = ""
	if j.Path("~/x") == nil {
		t.Error("without a home, ~ was taken for a name")
	}
}
