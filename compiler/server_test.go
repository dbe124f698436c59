package compiler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// compiled compiles one file.
func compiled(t *testing.T, text string) *compiler.Result {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestServers: a server is a local tool without a written source, with the defaults of a tool.
func TestServers(t *testing.T) {
	res := compiled(t, `
servers.empty = {}

[servers.files]
source = "ignored: a server is started by accessc"
command = "mcp-files ."
[[servers.files.access.fs]]
path = "docs"
read = true

[tools.read]
source = "mcp.files.read_file"
`)
	if res.Program == nil {
		t.Fatal(res.Findings)
	}
	files, _ := res.Program.Tool("files")
	if !files.Server() || files.Source.Kind != ir.SourceLocal || files.Command.Program != "mcp-files" || len(files.FS) != 1 {
		t.Errorf("got %+v", files)
	}
	if empty, ok := res.Program.Tool("empty"); !ok || !empty.Server() || empty.Declared.FS || len(empty.FS) != 1 {
		t.Errorf("got %+v, %v", empty, ok)
	}
	if read, ok := res.Program.Tool("read"); !ok || read.Server() {
		t.Errorf("got %+v, %v", read, ok)
	}
}

// TestServersFindings: mistakes in a server are found as those in a tool, and a server has a
// name of its own.
func TestServersFindings(t *testing.T) {
	for _, c := range []struct {
		text, path string
		code       diag.Code
	}{
		{"servers = 1", "servers", diag.WrongType},
		{"servers.x = 1", "servers.x", diag.WrongType},
		{"servers.x.access.fz = []", "servers.x.access", diag.UnknownKey},
		{"servers.'a b'.access = {}", "servers.\"a b\"", diag.BadToolName},
		{"servers.'*' = {}", "servers.\"*\"", diag.BadToolName},
		{"servers.x = {}\n[tools.x]\nsource = 'local'", "tools.x", diag.BadToolName},
	} {
		res := compiled(t, c.text)
		if len(res.Findings) != 1 || res.Findings[0].Code != c.code || res.Findings[0].Path != c.path {
			t.Errorf("%s: got %+v", c.text, res.Findings)
		}
	}
}

// TestServersApart: a mistake in a server stops only that server.
func TestServersApart(t *testing.T) {
	root := t.TempDir()
	text := "servers.bad.access.fz = []\nservers.good = {}\n"
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root, Apart: true})
	if err != nil || res.Program == nil || !res.Wrong("bad") || res.Wrong("good") {
		t.Fatalf("got %+v, %v", res, err)
	}
	if _, ok := res.Program.Tool("good"); !ok {
		t.Error("good is gone")
	}
}

// TestServersNarrow: an untrusted layer may take tools of a server away, and let none be called.
func TestServersNarrow(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("accessc.toml", `
[servers.s]
access.fs = [{ path = "docs", read = true }]
[tools.a]
source = "mcp.s.a"
enable = false
[tools.b]
source = "mcp.s.b"
constraints = { max_invocations = 2 }
`)
	for text, narrows := range map[string]bool{
		"tools.b.enable = false":                                    true,
		"tools.b.constraints = { max_invocations = 1 }":             true,
		"servers.s.access.fs = [{ path = 'docs/x' }]":               true,
		"tools.a.enable = true":                                     false,
		"tools.b.constraints = { max_invocations = 3 }":             false,
		"tools.c.source = 'mcp.s.c'":                                false,
		"servers.t = {}":                                            false,
		"servers.s.access.fs = [{ path = 'docs/x', write = true }]": false,
		"servers.s.command = 'other'":                               false,
	} {
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root, Layers: source.Request{Untrusted: []string{write("untrusted.toml", text)}}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Findings.Failed() == narrows {
			t.Errorf("%s: got %+v", text, res.Findings)
		}
	}
}

// TestOnlyAfter: the names in only_after are names of tools and servers, or of other tools of the same server.
func TestOnlyAfter(t *testing.T) {
	const tools = `
servers.files = {}

[tools.edit]
source = "mcp.files.edit_file"
constraints = { only_after = ["%s"] }

[tools.read]
source = "mcp.files.read_file"

[tools.elsewhere]
source = "mcp.other.search"

[tools.build]
source = "local"
command = "make"
`
	for name, want := range map[string]bool{"read": true, "read_file": true, "files": true, "build": true, "elsewhere": true, "search": false, "raed": false, "": false} {
		res := compiled(t, fmt.Sprintf(tools, name))
		found := slices.ContainsFunc(res.Findings, func(d diag.Diagnostic) bool {
			return d.Code == diag.BadConstraint && d.Path == "tools.edit.constraints.only_after[0]"
		})
		if found == want {
			t.Errorf("%q: got %v", name, res.Findings)
		}
	}
}

// TestWrongToolOfServer: without an entry all tools of a server may be called, so a mistake in an entry must not remove
// it.
func TestWrongToolOfServer(t *testing.T) {
	for _, mistake := range []string{"acces = 1", `access.fs = [{ path = "a" }]`, "constraints = { max_invocations = -1 }"} {
		res := compiledApart(t, "accessc.toml", "servers.s = {}\n[tools.e]\nsource = \"mcp.s.edit\"\n"+mistake+"\n")
		if e := ir.Served(res.Program.Tools, "s")["edit"]; !res.Wrong("e") || e == nil || !e.Disabled {
			t.Errorf("%s: got %+v, %v", mistake, e, res.Findings)
		}
	}
}
