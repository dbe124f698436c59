package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
)

// asks is a program that uses the network, with the refusals that name each use of its script.
type asks struct {
	program string
	// script is text for sh -c, which may fail; text is that of the file "script".
	script, text string
	want         []string
	// slow programs take part at full count.
	slow bool
}

var asking = []asks{
	{program: "python3", script: "/usr/bin/python3 script", want: []string{
		"db.example", "192.0.2.5:5432", "[2001:db8::5]:443", "192.0.2.6:123", "192.0.2.53:853",
		"0.0.0.0:8080", "127.0.0.1:0", "tcp.example",
	}, text: `
import socket
def tries(f):
    try: f()
    except OSError: pass
tries(lambda: socket.create_connection(("DB.example", 5432)))
tries(lambda: socket.create_connection(("192.0.2.5", 5432)))
tries(lambda: socket.create_connection(("2001:db8::5", 443)))
tries(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.6", 123)))
tries(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.53", 853)))
tries(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.53", 53)))
tries(lambda: socket.socket().bind(("0.0.0.0", 8080)))
s = socket.socket()
s.bind(("127.0.0.1", 0))
tries(s.listen)
question = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0\3tcp\7example\0\0\1\0\1"
s = socket.create_connection(("192.0.2.53", 53))
s.sendall(len(question).to_bytes(2, "big") + question)
size = s.recv(2)
answer = s.recv(512)
assert len(answer) == int.from_bytes(size, "big") and answer[:2] == question[:2] and answer[3] & 15 == 5, answer
`},
	{program: "probe", script: "./probe dial=go.example:443 dial=192.0.2.7:80",
		want: []string{"go.example", "192.0.2.7:80"}},
	{program: "curl", script: "curl -sS https://curl.example/; curl -sS http://192.0.2.8/",
		want: []string{"curl.example", "192.0.2.8:80"}},
	{program: "wget", script: "wget -q -t1 https://wget.example/; wget -q -t1 http://192.0.2.9/",
		want: []string{"wget.example", "192.0.2.9:80"}},
	{program: "git", script: "git ls-remote https://git.example/x; git ls-remote git://192.0.2.10/x",
		want: []string{"git.example", "192.0.2.10:9418"}},
	{program: "ssh", script: "ssh -F none ssh.example; ssh -F none 192.0.2.11",
		want: []string{"ssh.example", "192.0.2.11:22"}},
	{program: "perl", script: "perl script", text: `use IO::Socket::INET;
IO::Socket::INET->new(PeerAddr => "perl.example:25");
IO::Socket::INET->new(PeerAddr => "192.0.2.12:25");
`, want: []string{"perl.example", "192.0.2.12:25"}},
	{program: "bash", script: "bash -c '</dev/tcp/bash.example/80; </dev/tcp/192.0.2.13/80'",
		want: []string{"bash.example", "192.0.2.13:80"}},
	{program: "openssl", script: "openssl s_client -connect openssl.example:443", want: []string{"openssl.example"}},
	{program: "node", slow: true, script: "node script", text: `
require("dns").resolve("ares.example", () => {});
require("http").get("http://node.example/").on("error", () => {});
require("net").connect(80, "192.0.2.14").on("error", () => {});
`, want: []string{"ares.example", "node.example", "192.0.2.14:80"}},
	{program: "npm", slow: true, script: "npm view x --registry https://npm.example/ --fetch-retries 0",
		want: []string{"npm.example"}},
	{program: "pip", slow: true, script: "/usr/bin/pip download --retries 0 -i https://pip.example/ x",
		want: []string{"pip.example"}},
	{program: "java", slow: true, script: "java Script.java", text: `
class Script {
	static void tries(String host, int port) {
		try { new java.net.Socket(host, port); } catch (java.io.IOException e) { }
	}
	public static void main(String[] words) {
		tries("java.example", 80);
		tries("192.0.2.15", 80);
	}
}
`, want: []string{"java.example", "192.0.2.15:80"}},
	{program: "go", slow: true,
		script: "GOPROXY=https://go-proxy.example GOFLAGS=-mod=mod go mod download a.example/x@v1.0.0",
		want:   []string{"go-proxy.example"}},
}

// TestRefusedHostsHaveNames: whichever program asks, by its own resolver or that of the C library, a policy without a
// rule on the network refuses it by the name of the host or the address.
func TestRefusedHostsHaveNames(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	for _, a := range asking {
		t.Run(a.program, func(t *testing.T) {
			file, err := exec.LookPath(a.program)
			if a.program != "probe" && !strings.HasPrefix(file, "/usr/") {
				file, err = exec.LookPath("/usr/bin/" + a.program)
			}
			switch {
			case a.slow && !irtest.Full():
				t.Skip("at full count")
			case err != nil:
				t.Skipf("%s is not installed where every tool may run it", a.program)
			}
			t.Parallel()
			a.run(t, file)
		})
	}
}

func (a *asks) run(t *testing.T, file string) {
	ws := t.TempDir()
	env := append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(t.TempDir(), "state"),
		"PATH="+filepath.Dir(file)+":/usr/local/go/bin:/usr/bin:/bin")
	for name, text := range map[string]string{
		"script": a.text, "Script.java": a.text, ".env": "", "script.sh": a.script,
		"accessc.toml": `tools.t = { source = "local", command = "sh", access.fs = [
	{ path = ".", read = true, write = true, execute = true }, { path = ".env" },
] }
`,
	} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a.program == "probe" {
		if err := os.Link(file, filepath.Join(ws, a.program)); err != nil {
			t.Fatal(err)
		}
	}
	accessc := func(words ...string) []byte {
		cmd := accesscCommand(t, words...)
		cmd.Dir, cmd.Env = ws, append(cmd.Environ(), env...)
		out, err := cmd.Output()
		if err != nil && words[0] != "exec" {
			t.Fatalf("%v: %v", words, err)
		}
		return out
	}
	said := accessc("exec", "--no-prompt", "t", "--", "script.sh")
	var doc struct {
		Denials []struct{ Operation, Target, Probe string }
	}
	if err := json.Unmarshal(accessc("denials", "t", "--format", "json"), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range doc.Denials {
		if d.Probe == "" && !strings.HasPrefix(d.Target, "/") {
			got = append(got, d.Target)
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(a.want))
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("refused %q, not %q\n%s", got, want, said)
	}
}
