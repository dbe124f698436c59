package editor_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/review/editor"
	"github.com/accessc/accessc/internal/review/explain"
)

// client is an editor: it keeps its own text of each document, by its own reading of the protocol.
type client struct {
	testing.TB
	to   io.WriteCloser
	from chan []byte
	id   int
	// published are the last diagnostics of each document.
	published map[string]diagnostics
	done      chan error
}

type diagnostics struct {
	Version     int
	Diagnostics []struct {
		Range   extent
		Code    string
		Message string
	}
}

type at struct{ Line, Character int }

type extent struct{ Start, End at }

// start starts a server for the workspaces at some directories.
func start(t testing.TB, utf8 bool, dirs ...string) *client {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	schema, err := os.ReadFile("../../../cmd/accessc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{TB: t, to: to, from: make(chan []byte, 1<<16), published: map[string]diagnostics{}, done: make(chan error, 1)}
	go func() {
		_, err := editor.Serve(in, out, editor.Options{
			Config: config.Flags{}, Style: explain.Style{ABI: 6}, Schema: string(schema), Version: "test",
		})
		out.CloseWithError(io.EOF)
		in.CloseWithError(io.ErrClosedPipe)
		c.done <- err
	}()
	go receive(bufio.NewReader(from), c.from)
	t.Cleanup(func() {
		to.Close()
		if err := <-c.done; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	var folders []map[string]string
	for _, d := range dirs {
		folders = append(folders, map[string]string{"uri": uri(d), "name": "x"})
	}
	encodings := []string{"utf-16"}
	if utf8 {
		encodings = []string{"utf-32", "utf-8", "utf-16"}
	}
	var got struct {
		Capabilities struct{ PositionEncoding string }
	}
	c.call("initialize", map[string]any{"workspaceFolders": folders, "capabilities": map[string]any{
		"general": map[string]any{"positionEncodings": encodings},
	}}, &got)
	if want := map[bool]string{true: "utf-8", false: "utf-16"}[utf8]; got.Capabilities.PositionEncoding != want {
		t.Fatalf("the encoding is %q", got.Capabilities.PositionEncoding)
	}
	c.note("initialized", map[string]any{})
	return c
}

func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (c *client) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		c.Fatal(err)
	}
	c.raw(string(body))
}

func (c *client) raw(body string) {
	if _, err := fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.Fatal(err)
	}
}

func (c *client) note(method string, params any) {
	c.send(map[string]any{"method": method, "params": params})
}

// receive reads messages whether or not somebody waits for them, as editors do.
func receive(in *bufio.Reader, to chan<- []byte) {
	defer close(to)
	for {
		length := 0
		for line := " "; line != ""; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
			line = strings.TrimRight(line, "\r\n")
			if _, n, ok := strings.Cut(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(n)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		to <- body
	}
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// next reads a message, and keeps diagnostics.
func (c *client) next() message {
	c.Helper()
	body, ok := <-c.from
	if !ok {
		c.Fatal("the server has gone")
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		c.Fatalf("%v: %s", err, body)
	}
	if m.Method == "textDocument/publishDiagnostics" {
		var p struct {
			URI string
			diagnostics
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.Fatal(err)
		}
		c.published[p.URI] = p.diagnostics
	}
	return m
}

// ask sends a request and returns its answer.
func (c *client) ask(method string, params any) message {
	c.Helper()
	c.id++
	c.send(map[string]any{"id": c.id, "method": method, "params": params})
	for {
		if m := c.next(); m.Method == "" && string(m.ID) == strconv.Itoa(c.id) {
			return m
		}
	}
}

// call is ask for an answer that is no error.
func (c *client) call(method string, params, to any) {
	c.Helper()
	m := c.ask(method, params)
	if m.Error != nil {
		c.Fatalf("%s: %v", method, m.Error)
	}
	if to != nil {
		if err := json.Unmarshal(m.Result, to); err != nil {
			c.Fatalf("%s: %v", m.Result, err)
		}
	}
}

func (c *client) open(path, text string) {
	c.note("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri(path), "version": 1, "languageId": "toml", "text": text,
	}})
}

func (c *client) replace(path string, version int, text string) {
	c.note("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri(path), "version": version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

func on(path string, p at) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri(path)}, "position": p, "range": extent{p, p}}
}

// settled waits until everything is checked: an answer to a question that needs that.
func (c *client) settled(path string) diagnostics {
	c.Helper()
	c.call("textDocument/inlayHint", on(path, at{}), nil)
	return c.published[uri(path)]
}

// workspace makes a directory with files.
func workspace(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const policy = `extends = ["more/*.toml"]

[tools.edit]
source = "local"
command = "tee -- x"

[[tools.edit.access.fs]]
path = "."
read = true

[[tools.edit.access.fs]]
path = "é𝄞"
raed = true

[tools.edit.access]
extends = ["preset:rust"]
`

const more = `[tools.other]
source = "local"
command = "ls"
`

// place is the position of the n-th occurrence of a word, in UTF-16.
func find(t testing.TB, text, word string) at {
	t.Helper()
	before, _, ok := strings.Cut(text, word)
	if !ok {
		t.Fatalf("%q is not in the text", word)
	}
	line := strings.Count(before, "\n")
	last := before[strings.LastIndexByte(before, '\n')+1:]
	n := 0
	for _, r := range last {
		n++
		if r > 0xffff {
			n++
		}
	}
	return at{line, n}
}

// TestSession: an editor opens a policy with a mistake, corrects it by the action, and asks about its lines; another
// layer is changed without being saved.
func TestSession(t *testing.T) {
	dir := workspace(t, map[string]string{"accessc.toml": policy, "more/a.toml": more, "é𝄞/x": ""})
	file, other := filepath.Join(dir, "accessc.toml"), filepath.Join(dir, "more/a.toml")
	c := start(t, false, dir)
	c.open(file, policy)
	got := c.settled(file)
	wrong := find(t, policy, "raed")
	if len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != "ACC014" || got.Version != 1 ||
		got.Diagnostics[0].Range != (extent{wrong, at{wrong.Line, wrong.Character + 4}}) {
		t.Fatalf("%+v", got)
	}
	var actions []struct {
		Title string
		Edit  struct {
			Changes map[string][]struct {
				Range   extent
				NewText string
			}
		}
	}
	c.call("textDocument/codeAction", on(file, wrong), &actions)
	if len(actions) != 1 || actions[0].Title != "Change to read" || actions[0].Edit.Changes[uri(file)][0].NewText != "read" ||
		actions[0].Edit.Changes[uri(file)][0].Range != got.Diagnostics[0].Range {
		t.Fatalf("%+v", actions)
	}
	right := strings.Replace(policy, "raed", "read", 1)
	c.replace(file, 2, right)
	if got := c.settled(file); len(got.Diagnostics) != 0 || got.Version != 2 {
		t.Fatalf("%+v", got)
	}

	var hover struct{ Contents struct{ Value string } }
	for word, want := range map[string][]string{
		"path = \"é":  {"é𝄞", "read", "accessc.toml:11", "linux", "macOS", "windows"},
		"edit]":       {"edit    local", "risk", "holds", "preset:rust"},
		"preset:rust": {"Rust that rustup manages", "~/.cargo/bin"},
		"command":     {"command"},
		"read = true": {"accessc.toml:7"},
	} {
		c.call("textDocument/hover", on(file, find(t, right, word)), &hover)
		for _, w := range want {
			if !strings.Contains(hover.Contents.Value, w) {
				t.Errorf("at %q there is no %q in\n%s", word, w, hover.Contents.Value)
			}
		}
	}
	var hints []struct {
		Position at
		Label    string
	}
	c.call("textDocument/inlayHint", map[string]any{
		"textDocument": map[string]any{"uri": uri(file)}, "range": extent{at{}, at{99, 0}},
	}, &hints)
	if len(hints) != 1 || hints[0].Position != (at{2, 12}) || !strings.Contains(hints[0].Label, ". r, é𝄞 r") {
		t.Errorf("%+v", hints)
	}
	var places []struct {
		URI   string
		Range extent
	}
	c.call("textDocument/definition", on(file, find(t, right, "more/*")), &places)
	if len(places) != 1 || places[0].URI != uri(other) {
		t.Errorf("%+v", places)
	}
	c.call("textDocument/definition", on(file, find(t, right, "preset:rust")), &places)
	if len(places) != 1 || !strings.HasSuffix(places[0].URI, "/presets/rust@1.toml") {
		t.Errorf("%+v", places)
	}
	var symbols []struct {
		Name     string
		Children []struct{ Name string }
	}
	c.call("textDocument/documentSymbol", on(file, at{}), &symbols)
	if len(symbols) != 5 || symbols[1].Name != "tools.edit" || len(symbols[1].Children) != 2 {
		t.Errorf("%+v", symbols)
	}

	// The other layer, unsaved, has a mistake, and the tool of this one; then it is closed.
	c.open(other, more)
	c.replace(other, 2, more+"[tools.edit]\ncolor = 1\n")
	if got := c.settled(other); len(got.Diagnostics) != 1 || got.Diagnostics[0].Range.Start != (at{4, 0}) {
		t.Errorf("%+v", got)
	}
	c.note("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri(other)}})
	if c.settled(file); len(c.published[uri(other)].Diagnostics) != 0 {
		t.Errorf("%+v", c.published[uri(other)])
	}

	// Formatting.
	c.replace(file, 3, "[tools.edit]\nsource=\"local\"\ncommand   = 'ls'\n\n\n")
	var edits []struct{ NewText string }
	c.call("textDocument/formatting", on(file, at{}), &edits)
	if len(edits) != 1 || edits[0].NewText != "[tools.edit]\nsource = \"local\"\ncommand = 'ls'\n" {
		t.Errorf("%+v", edits)
	}
	c.replace(file, 4, "a =")
	if c.call("textDocument/formatting", on(file, at{}), &edits); len(edits) != 0 {
		t.Errorf("a text with mistakes is formatted: %+v", edits)
	}
}

// TestWinner: the definition of a rule that never wins is the rule that does, also in another layer.
func TestWinner(t *testing.T) {
	text := "[tools.x]\nsource = \"local\"\ncommand = \"ls\"\n[tools.x.access]\nfs = [\n  { path = \".\", read = true },\n]\n"
	over := "[tools.x.access]\nfs = [{ path = \".\", write = true }]\n"
	dir := workspace(t, map[string]string{"accessc.toml": text, ".accessc/local.toml": over})
	file := filepath.Join(dir, "accessc.toml")
	c := start(t, true, dir)
	c.open(file, text)
	var places []struct {
		URI   string
		Range extent
	}
	c.call("textDocument/definition", on(file, at{5, 6}), &places)
	if len(places) != 1 || places[0].URI != uri(filepath.Join(dir, ".accessc/local.toml")) || places[0].Range.Start != (at{1, 6}) {
		t.Errorf("%+v", places)
	}
}

// TestCompletion: what is proposed in texts that end where somebody types, which are rarely TOML.
func TestCompletion(t *testing.T) {
	dir := workspace(t, map[string]string{"accessc.toml": policy, "more/a.toml": more})
	file := filepath.Join(dir, "accessc.toml")
	c := start(t, false, dir)
	right := strings.Replace(policy, "raed", "read", 1)
	c.open(file, right)
	c.settled(file)
	version := 1
	for tail, want := range map[string]string{
		"[tools.":                                                    "edit other",
		"[[tools.edit.access.fs]]\nre":                               "read remove",
		"[[tools.edit.access.fs]]\nread = t":                         "true",
		"[tools.edit.access]\nextends = [\"preset:rus":               "preset:rust",
		"[tools.edit.access]\nnet = [\n  # é\n  { host = 'x]{', sch": "scheme",
		"[tools.edit.access]\nbase = \"mi":                           "minimal",
		"[tools.edit.access]\naccept = ['fs.mo":                      "fs.move",
		"[tools.edit.acc":                                            "access",
		"[[tools.edit.access.tests]]\nallow = [\"conn":               "connect",
		"[tools.edit.constraints]\nonly_after = [\"oth":              "other",
		"[tools.edit]\nsource = \"lo":                                "local",
		"# re":                                                       "",
		"[tools.edit]\ncommand = \"re":                               "",
	} {
		version++
		text := right + tail
		c.replace(file, version, text)
		lines := strings.Split(text, "\n")
		var got []struct {
			Label    string
			TextEdit struct {
				Range   extent
				NewText string
			}
		}
		c.call("textDocument/completion", on(file, at{len(lines) - 1, len([]rune(lines[len(lines)-1]))}), &got)
		var labels []string
		for _, g := range got {
			labels = append(labels, strings.TrimSpace(g.Label))
		}
		wanted := strings.Fields(want)
		if tail == "[tools." {
			labels = slices.DeleteFunc(labels, func(l string) bool { return l == "*" })
		}
		if diff := cmp.Diff(wanted, labels); diff != "" && len(wanted)+len(labels) > 0 {
			t.Errorf("%q: %s", tail, diff)
		}
	}
}

// TestRoots: each of several workspaces has its findings, and a file that is no layer has none.
func TestRoots(t *testing.T) {
	wrong := "[tools.x]\nsource = \"nowhere\"\n"
	a := workspace(t, map[string]string{"accessc.toml": wrong})
	b := workspace(t, map[string]string{"accessc.toml": "a =", "Cargo.toml": "b ="})
	c := start(t, false, a)
	c.open(filepath.Join(b, "Cargo.toml"), "c =")
	if got := c.settled(filepath.Join(b, "Cargo.toml")); len(got.Diagnostics) != 0 {
		t.Errorf("%+v", got)
	}
	for dir, code := range map[string]string{a: "ACC023", b: "ACC001"} {
		if got := c.published[uri(filepath.Join(dir, "accessc.toml"))]; len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != code {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}

// TestGone: a workspace that is removed leaves the server without it. The result of a check that could not begin was
// handed to the loop by the loop, which waited for itself.
func TestGone(t *testing.T) {
	dir := workspace(t, map[string]string{"accessc.toml": more})
	file := filepath.Join(dir, "accessc.toml")
	c := start(t, false, dir)
	c.open(file, more)
	c.settled(file)
	if err := os.Rename(dir, dir+"x"); err != nil {
		t.Skip(err)
	}
	c.replace(file, 2, more+"a")
	if m := c.ask("textDocument/hover", on(file, at{})); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
}

// TestLeaves: the text of a layer that leads out of the workspace is refused, open or not: an editor follows links that
// a repository has, the compiler does not.
func TestLeaves(t *testing.T) {
	outside := workspace(t, map[string]string{"secret.toml": "password = 1\n"})
	dir := workspace(t, map[string]string{".accessc/x": ""})
	file := filepath.Join(dir, "accessc.toml")
	if err := os.Symlink(filepath.Join(outside, "secret.toml"), file); err != nil {
		t.Skip(err)
	}
	c := start(t, false, dir)
	c.open(file, "[tools.x]\n")
	if got := c.settled(file); len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != "ACC010" {
		t.Errorf("%+v", got)
	}
}

// TestBadInput: what no editor sends is refused or passed over, and the server goes on.
func TestBadInput(t *testing.T) {
	dir := workspace(t, map[string]string{"accessc.toml": more})
	file := filepath.Join(dir, "accessc.toml")
	c := start(t, false, dir)
	c.open(file, more)
	for body, code := range map[string]int{
		"": -32700, "{": -32700, "\xff": -32700, "[]": -32700, strings.Repeat("[", 100_000): -32700,
		`{"jsonrpc":"2.0","id":"a","method":"none"}`:                                                   -32601,
		`{"jsonrpc":"2.0","id":"a","method":"textDocument/hover","params":{"position":{"line":1e99}}}`: -32602,
		`{"jsonrpc":"2.0","id":"a","method":"textDocument/hover","params":[1]}`:                        -32602,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`:                                 -32600,
		`{"jsonrpc":"2.0","id":"a","method":"textDocument/hover","method":"shutdown"}`:                 -32700,
	} {
		if body == "" {
			continue
		}
		c.raw(body)
		for {
			if m := c.next(); m.Error != nil {
				if m.Error.Code != code {
					t.Errorf("%.80s: %+v", body, m.Error)
				}
				break
			} else if m.Method == "" {
				t.Errorf("%.80s has an answer", body)
				break
			}
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///none"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"https://x/accessc.toml","text":"a"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a%00b","text":"a"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":7}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`,
		`{"jsonrpc":"2.0","method":"$/else"}`,
		`{"jsonrpc":"2.0","id":99,"result":null}`,
	} {
		c.raw(body)
	}
	for _, p := range []at{{-1, -1}, {1 << 30, 0}, {0, 1 << 30}} {
		c.call("textDocument/hover", on(file, p), nil)
		c.call("textDocument/completion", on(file, p), nil)
		c.call("textDocument/definition", on(file, p), nil)
	}
	// A change that ends before it starts leaves the server without the document, rather than with another text.
	c.note("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri(file), "version": 2},
		"contentChanges": []any{map[string]any{"range": extent{at{1, 0}, at{0, 0}}, "text": "x"}}})
	for {
		if m := c.next(); m.Method == "window/logMessage" {
			break
		}
	}
	if m := c.ask("textDocument/hover", on(file, at{})); string(m.Result) != "null" && m.Result != nil {
		t.Errorf("%s", m.Result)
	}
	c.call("shutdown", nil, nil)
	if m := c.ask("textDocument/hover", on(file, at{})); m.Error == nil {
		t.Error("a server that is shut down answers")
	}
}

// TestHeaders: what does not begin with the headers of the protocol ends the server with an error.
func TestHeaders(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "Content-Length: 2\r\n\r\n{}": true, "\r\n": false, "Content-Length: x\r\n\r\n": false,
		"Content-Length: -1\r\n\r\n": false, "nothing\r\n\r\n": false, "Content-Length: 9999\r\n\r\n{}": false,
		strings.Repeat("A: b\r\n", 99): false, strings.Repeat("A", 9999): false, "Content-Length: 99999999999\r\n\r\n": false,
	} {
		_, err := editor.Serve(strings.NewReader(text), io.Discard, editor.Options{Schema: "{}"})
		if (err == nil) != want {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}
