package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
)

// servers is where "task npm" installs the published servers.
const servers = "../../.cache/npm/node_modules"

// published is a workspace with a published server, and the server's script in it.
func published(t *testing.T, name string) (dir, script string) {
	t.Helper()
	script = filepath.Join("node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(servers), script)); err != nil {
		t.Skipf("needs @modelcontextprotocol/server-%s in .cache/npm", name)
	}
	dir = t.TempDir()
	if out, err := exec.Command("cp", "-al", servers, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"docs/a", "secret"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("text of "+file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := `[servers.s.access]
fs = [
  { path = "docs", read = true, write = true },
  { path = "node_modules", read = true },
  { path = "secret" },
]

[servers.open.access]
fs = [{ path = ".", read = true }]
`
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, script
}

// client is a client of one server.
type client struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// connect starts a server, through accessc or not, and introduces itself.
func connect(t *testing.T, dir string, words ...string) *client {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	c := &client{t: t, in: in, out: bufio.NewReader(out)}
	c.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// call sends a request and returns the result.
func (c *client) call(method, params string) string {
	c.t.Helper()
	c.next++
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.next, method, params)
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%s %s: %v", method, params, err)
		}
		var answer struct {
			ID            *int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
		if answer.ID != nil && *answer.ID == c.next && (answer.Result != nil || answer.Error != nil) {
			return string(answer.Result) + string(answer.Error)
		}
	}
}

// tool calls a tool.
func (c *client) tool(name, arguments string) string {
	c.t.Helper()
	return c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

// through are the words that start a published server behind accessc.
func through(t *testing.T, server string, words ...string) []string {
	t.Helper()
	accessc, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{accessc, "mcp", "--server", server, "--", "node"}, words...)
}

// has fails unless an answer has a text.
func has(t *testing.T, answer, text string) {
	t.Helper()
	if !strings.Contains(answer, text) {
		t.Errorf("got %.300s, expected %q in it", answer, text)
	}
}

// TestServerFilesystem: the published server of files works in its directory, and nothing that
// it would do elsewhere happens.
func TestServerFilesystem(t *testing.T) {
	dir, script := published(t, "filesystem")
	c := connect(t, dir, through(t, "s", script, filepath.Join(dir, "docs"))...)
	has(t, c.call("tools/list", `{}`), `"read_text_file"`)
	has(t, c.tool("read_text_file", `{"path":"`+dir+`/docs/a"}`), "text of docs/a")
	has(t, c.tool("write_file", `{"path":"`+dir+`/docs/new","content":"see /etc/x and secret"}`), "Successfully")
	has(t, c.tool("read_text_file", `{"path":"secret"}`), "read secret: rule secret, accessc.toml:5")
	has(t, c.tool("read_multiple_files", `{"paths":["docs/a","docs/../secret"]}`), "read secret: rule secret, accessc.toml:5")
	has(t, c.tool("move_file", `{"source":"docs/a","destination":"/etc/a"}`), "create /etc/a: no rule")
	if _, err := os.Stat(filepath.Join(dir, "docs", "a")); err != nil {
		t.Error(err)
	}
}

// TestServerFilesystemHeldByTheKernel: what no argument shows, the kernel refuses.
func TestServerFilesystemHeldByTheKernel(t *testing.T) {
	dir, script := published(t, "filesystem")
	c := connect(t, dir, through(t, "open", script, dir)...)
	has(t, c.tool("read_text_file", `{"path":"secret"}`), "text of secret")
	has(t, c.tool("write_file", `{"path":"docs/new","content":"x"}`), "EACCES")
}

// TestServerMemory: the published server of memory keeps its file where the policy lets it, and
// texts that look like paths are texts.
func TestServerMemory(t *testing.T) {
	dir, script := published(t, "memory")
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(dir, "docs", "memory.json"))
	words := through(t, "s", script)
	words = append(words[:2:2], append([]string{"--set", "servers.s.access.env=[{name=\"MEMORY_FILE_PATH\",read=true}]"}, words[2:]...)...)
	c := connect(t, dir, words...)
	has(t, c.tool("create_entities", `{"entities":[{"name":"a/b","entityType":"image/png","observations":["either docs or secret"]}]}`), "a/b")
	has(t, c.tool("read_graph", `{}`), "image/png")
	if _, err := os.Stat(filepath.Join(dir, "docs", "memory.json")); err != nil {
		t.Error(err)
	}
}

// TestServerEverything: the published server that has every feature of the protocol answers as
// it does without accessc.
func TestServerEverything(t *testing.T) {
	dir, script := published(t, "everything")
	direct, proxied := connect(t, dir, "node", script), connect(t, dir, through(t, "s", script)...)
	for _, q := range [][2]string{
		{"tools/list", `{}`}, {"prompts/list", `{}`}, {"resources/list", `{}`}, {"ping", `{}`},
		{"tools/call", `{"name":"echo","arguments":{"message":"é\u2028 \"x\""}}`},
		{"tools/call", `{"name":"get-sum","arguments":{"a":1,"b":2}}`},
		{"tools/call", `{"name":"trigger-long-running-operation","arguments":{"duration":0.1,"steps":2},"_meta":{"progressToken":1}}`},
		{"no/such/method", `{}`},
	} {
		if want, got := direct.call(q[0], q[1]), proxied.call(q[0], q[1]); got != want {
			t.Errorf("%s %s: got %.300s, want %.300s", q[0], q[1], got, want)
		}
	}
	for range 300 {
		has(t, proxied.tool("echo", `{"message":"x"}`), "x")
	}
}
