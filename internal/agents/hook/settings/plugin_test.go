package settings

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// driver calls the plugin as opencode does: it goes on with the object of arguments that it handed in.
const driver = `
import { accessc } from "./accessc.mjs"
const hooks = await accessc({ directory: process.cwd() })
const args = { command: "ls", description: "d" }
const input = { tool: "bash", sessionID: "s", callID: "c" }
try {
  await hooks["tool.execute.before"](input, { args })
} catch (e) {
  console.log("refused: " + e.message)
  process.exit(0)
}
const output = { title: "", output: "out", metadata: {} }
await hooks["tool.execute.after"]({ ...input, args }, output)
console.log(JSON.stringify({ args, output: output.output }))
`

// TestPluginWords: the words of the command stay as they are. A path with the mark of the time limit
// once had the limit in its place.
func TestPluginWords(t *testing.T) {
	e := Entry{"/LIMIT/COMMAND/accessc", []string{"--tool", "LIMIT"}}
	a := agentOf(t, "opencode")
	found, exact, err := a.find(a.New(e))
	if err != nil || !exact || len(found) != 1 || !same(found[0].Entry, e) {
		t.Errorf("got %v, %v, %v", found, exact, err)
	}
}

// TestPlugin: opencode's plugin throws unless the hook answers that the tool may be used.
func TestPlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no node that runs the plugin here")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "acc essc")
	const passed = `{"args":{"command":"ls","description":"d"},"output":"out"}`
	for _, c := range []struct{ name, script, want string }{
		{"allowed", `echo '{"decision":"allow"}'`, passed},
		{"rewritten", `echo '{"decision":"allow","args":{"command":"x"},"context":"more"}'`, `{"args":{"command":"x"},"output":"out\nmore"}`},
		{"refused", `echo '{"decision":"deny","reason":"no rule"}'`, "refused: no rule"},
		{"another word", `echo '{"decision":"Allow"}'`, "refused: accessc refused it"},
		{"nothing", `:`, "refused: the answer of accessc cannot be read: "},
		{"no object", `echo null`, "refused: accessc refused it"},
		{"two answers", `echo '{"decision":"allow"}{}'`, "refused: the answer of accessc cannot be read: "},
		{"a status", `echo '{"decision":"allow"}'; echo broken >&2; exit 2`, "refused: broken"},
		{"a signal", `echo '{"decision":"allow"}'; kill -9 $$`, "refused: accessc has failed"},
		{"late", `exec sleep 1000`, "refused: accessc has not answered in time"},
		{"the event is not read", `exec 0<&-; echo '{"decision":"allow"}'`, passed},
		{"after", `grep -q '"event":"after"' && exit 1; echo '{"decision":"allow"}'`, passed},
		{"gone", "", "refused: accessc did not start: "},
	} {
		limit := "limit = 1000000000" // others do not depend on the time of a start
		if c.name == "late" {
			limit = "limit = 100"
		}
		text := bytes.Replace(agentOf(t, "opencode").starting([]string{program, "hook", "opencode"}), []byte("limit = 30000"), []byte(limit), 1)
		if err := errs(testbuild.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755), testbuild.WriteFile(filepath.Join(dir, "accessc.mjs"), text, 0o600),
			os.WriteFile(filepath.Join(dir, "driver.mjs"), []byte(driver), 0o600)); err != nil {
			t.Fatal(err)
		}
		if c.script == "" {
			_ = os.Remove(program)
		}
		cmd := exec.Command(node, "driver.mjs")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
	}
}

// TestPluginEvent: the plugin writes the event that the hook reads.
func TestPluginEvent(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no node that runs the plugin here")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "accessc")
	if err := errs(testbuild.WriteFile(program, []byte("#!/bin/sh\ncat >>events\necho >>events\necho \"$@\" >words\necho '{\"decision\":\"allow\"}'\n"), 0o755),
		os.WriteFile(filepath.Join(dir, "accessc.mjs"), agentOf(t, "opencode").starting([]string{program, "hook", "opencode", "--tool", "a b"}), 0o600),
		os.WriteFile(filepath.Join(dir, "driver.mjs"), []byte(driver), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "driver.mjs")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	lines, _ := os.ReadFile(filepath.Join(dir, "events"))
	words, _ := os.ReadFile(filepath.Join(dir, "words"))
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		args, _ := json.Marshal(got["args"])
		if got["event"] != []string{"before", "after"}[i] || got["sessionID"] != "s" || got["callID"] != "c" || got["tool"] != "bash" || got["cwd"] != real ||
			string(args) != `{"command":"ls","description":"d"}` {
			t.Errorf("got %s", line)
		}
	}
	if string(words) != "hook opencode --tool a b\n" {
		t.Errorf("got %s", words)
	}
}
