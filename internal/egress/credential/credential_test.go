package credential_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// TestStandIn: a stand-in has the shape of the value and none of its random part.
func TestStandIn(t *testing.T) {
	for value, prefix := range map[string]string{
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a":            "ghp_",
		"github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ012": "github_pat_",
		"glpat-ABCdef123456ABCdef12":                          "glpat-",
		"hunter2hunter2":                                      "",
		"pass_word":                                           "",
		"123e4567-e89b-12d3-a456-426614174000":                "",
		"Bearer abcdefghijklmnop=+/":                          "",
	} {
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		again, _ := credential.NewSecret([]byte(value))
		standIn := string(s.StandIn)
		if !strings.HasPrefix(standIn, prefix) || strings.HasPrefix(standIn[len(prefix):], value[len(prefix):len(prefix)+6]) {
			t.Errorf("%s became %s, want the prefix %q and not more", value, standIn, prefix)
		}
		if shape(standIn) != shape(value) {
			t.Errorf("%s became %s", value, standIn)
		}
		if bytes.Equal(s.StandIn, again.StandIn) {
			t.Errorf("%s became %s twice", value, standIn)
		}
	}
	for _, value := range []string{"--------------", "1234567.....", "a-b-c-d-e-f-g"} {
		if s, err := credential.NewSecret([]byte(value)); err == nil {
			t.Errorf("%s became %s", value, s.StandIn)
		}
	}
}

// shape replaces characters by their classes.
func shape(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a'
		case r >= 'A' && r <= 'Z':
			return 'A'
		case r >= '0' && r <= '9':
			return '0'
		}
		return r
	}, s)
}

// TestToken: the stand-in of a JSON Web Token is one, with its times and without its claims.
func TestToken(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	head, signature := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)), strings.Repeat("sIgNaTuRe0", 4)
	for _, payload := range []string{`{"sub":"alice@example.com","exp":1999999999,"iat":1700000000}`, `{"exp":1999999999}`, `{}`, `{"a":1}`, `{"sub":"x"}`} {
		value := head + "." + encode([]byte(payload)) + "." + signature
		s, err := credential.NewSecret([]byte(value))
		if err != nil {
			t.Errorf("%s: %v", payload, err)
			continue
		}
		parts := strings.Split(string(s.StandIn), ".")
		if len(parts) != 3 || len(s.StandIn) != len(value) || parts[0] != head || parts[2] == signature {
			t.Errorf("%s became %s", payload, s.StandIn)
			continue
		}
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		var claims map[string]any
		if err == nil {
			err = json.Unmarshal(text, &claims)
		}
		if err != nil || claims["sub"] != nil {
			t.Errorf("%s became %s: %v", payload, text, err)
		}
		if strings.Contains(payload, "sub\":\"alice") && claims["exp"] != 1999999999.0 {
			t.Errorf("%s became %s", payload, text)
		}
	}
}

func hostAt(t *testing.T, env map[string]string) (credential.Host, string) {
	home := t.TempDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	inside := func(path string) bool { return strings.HasPrefix(path, filepath.Join(home, "work")) }
	return credential.Host{
		Getenv: func(name string) string { return env[name] }, Home: home, Environ: []string{"PATH=" + env["PATH"]},
		Readable: inside, Writable: inside, Messages: &bytes.Buffer{},
	}, home
}

const value = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// TestExtract: values come from variables, files and commands outside of the tool's reach, and
// nothing that is not a whole value does. No message holds a part of one.
func TestExtract(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of this test are those of Unix")
	}
	env := map[string]string{
		"PATH": "/usr/bin:/bin", "GOOD": value, "SHORT": "abc", "CONTROL": value + "\r\nX: y", "HIGH": value + "é", "LONG": strings.Repeat("a", 20<<10), "EMPTY": "",
		"SPACE": " " + value,
	}
	h, home := hostAt(t, env)
	env["PATH"] = filepath.Join(home, "work", "bin") + ":relative:" + env["PATH"]
	write := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("token", value+"\n", 0o600)
	write("work/token", value, 0o600)
	write("empty", "\n", 0o600)
	write("large", strings.Repeat("a", 1<<20), 0o600)
	program := write("work/bin/get", "#!/bin/sh\necho "+value+"\n", 0o700)
	write("bin/get", "#!/bin/sh\necho "+value+"\n", 0o700)
	for link, to := range map[string]string{"link": "work/token", "bin/linked": "../work/bin/get", "work/out": "../token"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(script string) ir.Credential { return ir.Credential{Command: []string{"/bin/sh", "-c", script}} }
	for _, c := range []struct {
		name string
		from ir.Credential
		good bool
	}{
		{"variable", ir.Credential{Env: "GOOD"}, true},
		{"unset variable", ir.Credential{Env: "NONE"}, false},
		{"empty variable", ir.Credential{Env: "EMPTY"}, false},
		{"short", ir.Credential{Env: "SHORT"}, false},
		{"header injection", ir.Credential{Env: "CONTROL"}, false},
		{"not ASCII", ir.Credential{Env: "HIGH"}, false},
		{"spaces around", ir.Credential{Env: "SPACE"}, false},
		{"too long", ir.Credential{Env: "LONG"}, false},
		{"file", ir.Credential{File: filepath.Join(home, "token")}, true},
		{"file in the home", ir.Credential{File: "~/token"}, true},
		{"no file", ir.Credential{File: "~/none"}, false},
		{"a file of the tool", ir.Credential{File: "~/work/token"}, false},
		{"a link to a file of the tool", ir.Credential{File: "~/link"}, false},
		{"a relative file", ir.Credential{File: "token"}, false},
		{"an empty file", ir.Credential{File: "~/empty"}, false},
		{"a large file", ir.Credential{File: "~/large"}, false},
		{"a directory", ir.Credential{File: "~/bin"}, false},
		{"a device", ir.Credential{File: "/dev/zero"}, false},
		{"command", sh("echo " + value), true},
		{"a command that fails", sh("echo " + value + "; exit 3"), false},
		{"a command that prints without end", sh("while :; do echo " + value + "; done"), false},
		{"a command that prints nothing", sh(":"), false},
		{"a command that prints two lines", sh("echo " + value + "; echo " + value), false},
		{"a command by its name, behind one of the tool", ir.Credential{Command: []string{"get"}}, false},
		{"a program of the tool", ir.Credential{Command: []string{program}}, false},
		{"a link to a program of the tool", ir.Credential{Command: []string{filepath.Join(home, "bin/linked")}}, false},
		{"a relative program", ir.Credential{Command: []string{"bin/get"}}, false},
		{"its own program", ir.Credential{Command: []string{filepath.Join(home, "bin/get")}}, true},
		{"no command", ir.Credential{}, false},
	} {
		s, err := credential.Extract(context.Background(), &c.from, h)
		if (err == nil) != c.good || err == nil && string(s.Value) != value {
			t.Errorf("%s: %q, %v", c.name, s.Value, err)
		}
		for _, shown := range []string{fmt.Sprint(err), fmt.Sprintf("%v %+v %#v %s %x", s, s, s, s, s)} {
			if len(c.from.Command) == 0 && strings.Contains(shown, value[4:10]) || strings.Contains(shown, fmt.Sprintf("%x", value[4:10])) {
				t.Errorf("%s: shows the value: %s", c.name, shown)
			}
		}
		s.Wipe()
		if err == nil && string(s.Value) == value {
			t.Error("the value is still there")
		}
	}
}

// TestReach: the rules of a tool say which files and programs it could have put there.
func TestReach(t *testing.T) {
	rule := func(path string, caps ir.CapSet) ir.FSRule {
		return ir.FSRule{Written: path, At: ir.In(path), Caps: caps}
	}
	rules := []ir.FSRule{rule("", ir.Caps(ir.Read)), rule("out", ir.Caps(ir.Create)), rule("secret", ir.Caps())}
	b := &ir.Bindings{Workspace: "/home/u/work"}
	var h credential.Host
	h.Reach(ir.NewView(&ir.Tool{Name: "t", FS: rules}, ir.Linux, ir.Facts{Bindings: b, Base: []ir.FSRule{}}), b)
	for path, want := range map[string][2]bool{
		"/home/u/work/a": {true, false}, "/home/u/work/out/a": {false, true}, "/home/u/work/secret/a": {false, false}, "/home/u/token": {false, false},
	} {
		if got := [2]bool{h.Readable(path), h.Writable(path)}; got != want {
			t.Errorf("%s: readable, writable %v, want %v", path, got, want)
		}
	}
}

// TestPatience: a command that does not end is ended.
func TestPatience(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command of this test is one of Unix")
	}
	defer credential.Linger(10 * time.Millisecond)()
	h, home := hostAt(t, nil)
	begun, never := filepath.Join(home, "begun"), filepath.Join(home, "never")
	if out, err := exec.Command("mkfifo", begun, never).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error)
	// The command and one that it has started hold the output open until each has read a line from never.
	script := `exec 3<>"$1"; read x <&3 & : >"$0"; read x <&3`
	go func() {
		_, err := credential.Extract(ctx, &ir.Credential{Command: []string{"/bin/sh", "-c", script, begun, never}}, h)
		ended <- err
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err, _ := await.Receive(t, "the end of the command", ended); err == nil {
		t.Error("no error")
	}
	if err := os.WriteFile(never, []byte("\n"), 0o600); err != nil {
		t.Error(err)
	}
}

// TestAll: rules with one source share a value; one that cannot be had is an error.
func TestAll(t *testing.T) {
	h, _ := hostAt(t, map[string]string{"GOOD": value})
	rules := []ir.NetRule{{}, {Credential: &ir.Credential{Env: "GOOD", As: "header"}}, {Credential: &ir.Credential{Env: "GOOD", As: "query"}}}
	all, err := credential.All(context.Background(), rules, h)
	if err != nil || len(all) != 1 || string(all["env GOOD"].Value) != value {
		t.Errorf("%v %v", all, err)
	}
	standIn := string(all["env GOOD"].StandIn)
	env := credential.Environ([]string{"A=1", "GOOD=" + value, "HEADER=token " + value, "B=GOOD=2"}, rules, all)
	if want := []string{"A=1", "HEADER=token " + standIn, "B=GOOD=2", "GOOD=" + standIn}; !slices.Equal(env, want) {
		t.Errorf("the tool has %q, want %q", env, want)
	}
	// The starter hands values to the proxy as JSON.
	text, err := json.Marshal(all)
	var read map[string]credential.Secret
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if got := read["env GOOD"]; err != nil || string(got.Value) != value || string(got.StandIn) != standIn {
		t.Errorf("read back %v: %v", read, err)
	}
	if _, err := credential.All(context.Background(), append(rules, ir.NetRule{Credential: &ir.Credential{Env: "NONE"}}), h); err == nil {
		t.Error("a variable that is not set is no error")
	}
}
