// Package wasm compares what the playground's program answers: as WebAssembly, as a program of this system, and as the
// commands of accessc print it.
package wasm

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/review/play"
	"github.com/accessc/accessc/test/testbuild"
)

const (
	example = "../../examples/project/accessc.toml"
	pod     = "../../examples/kubernetes/accessc.toml"
)

// questions are asked of a tool.
var questions = []string{
	"read src/main.c", "update src/main.c", "read .env", "rename src lib", "create build/app", "execute build/app",
	"read ../other", "read /etc/passwd", "read ~/.ssh/id_ed25519", "connect https://packages.example.com/app",
	"connect GET https://packages.example.com/app", "connect http://example.com", "listen localhost:8080",
	"env PUBLISH_TOKEN", "symlink src/x", "walk src", "'",
}

// wrong has mistakes; other names are hostile.
const (
	wrong   = "[tools.a]\nsource = \"lokal\"\n[tools.b]\nsource = \"local\"\naccess.fs = [{ path = \"../x\", read = true }]\n"
	hostile = "[tools.\"<img src=x onerror=alert(1)>\"]\nsource = \"local\"\ncommand = \"</script>\\u202e\\u001b[31m\"\n" +
		"access.fs = [{ path = \"<b>\\u2028\", read = true }]\n"
)

// requests are the page's: each view of each policy on each system, every artifact, and questions to every tool.
func requests(t testing.TB) []play.Request {
	t.Helper()
	project, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.ReadFile(pod)
	if err != nil {
		t.Fatal(err)
	}
	var first play.Reply
	answer(t, play.Request{Policy: string(project), Show: "explain", System: "linux"}, &first)
	var out []play.Request
	for _, text := range []string{string(project), string(host), wrong, hostile, ""} {
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, show := range play.Views {
				r := play.Request{Policy: text, Before: string(project), Show: show, System: system, Width: 80, Ask: "read .env"}
				out = append(out, r)
			}
		}
		for _, target := range first.Targets {
			out = append(out, play.Request{Policy: text, Show: "artifact", System: "linux", Target: target})
		}
	}
	for _, tool := range first.Tools {
		for _, q := range questions {
			out = append(out, play.Request{Policy: string(project), Show: "ask", System: "linux", ABI: 3, Width: 40, Tool: tool, Ask: q})
		}
	}
	return out
}

// answer is the answer of this process, as JSON and as values.
func answer(t testing.TB, r play.Request, out *play.Reply) []byte {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	reply := play.Answer(data)
	if err := json.Unmarshal(reply, out); err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestWebAssembly: the page's program answers byte for byte the same as WebAssembly, in Node.js, as in this process. Its
// size and times are in the log.
func TestWebAssembly(t *testing.T) {
	start := program(t)
	var lines bytes.Buffer
	var want []string
	asked := requests(t)
	for _, r := range asked {
		var reply play.Reply
		want = append(want, string(answer(t, r, &reply)))
		data, _ := json.Marshal(r)
		fmt.Fprintf(&lines, "%s\n", data)
	}
	got, times := run(t, exec.Command(start[0], start[1:]...), lines.Bytes())
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d requests", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v: WebAssembly says otherwise (-here +there):\n%s", asked[i], cmp.Diff(want[i], got[i]))
		}
	}
	t.Logf("%d answers; ms from the start to the first and for it: %s, the last: %s", len(got), times[0], times[len(times)-1])
}

// BenchmarkFirstAnswer is the time from a start of Node.js to the first answer about a policy.
func BenchmarkFirstAnswer(b *testing.B) {
	start := program(b)
	data, err := json.Marshal(requests(b)[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		run(b, exec.Command(start[0], start[1:]...), data)
	}
}

// TestAsTheCommands: the page shows what the commands of accessc print for the same file, of a workspace with no other
// file. Where rules by name are about no names, the commands say so, and the page does not know.
func TestAsTheCommands(t *testing.T) {
	abi := start.ABI()
	if runtime.GOOS != "linux" || abi < 1 {
		t.Skip("the commands answer for this system, and this has no Landlock")
	}
	project, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(project), wrong} {
		command := commands(t, text)
		ask := func(r play.Request) string {
			r.Policy, r.System, r.ABI = text, "linux", abi
			var out play.Reply
			answer(t, r, &out)
			if out.Error != "" {
				t.Errorf("%+v: %s", r, out.Error)
			}
			return out.Findings + out.Text
		}
		same := func(r play.Request, args ...string) {
			t.Helper()
			if got, want := ask(r), command(args...); got != want {
				t.Errorf("%s (-command +page):\n%s", args, cmp.Diff(want, got))
			}
		}
		same(play.Request{Show: "explain"}, "explain")
		same(play.Request{Show: "holds"}, "explain", "--why")
		if text == wrong {
			continue
		}
		for _, tool := range []string{"search", "edit", "check"} {
			same(play.Request{Show: "explain", Tool: tool}, "explain", tool)
			for _, q := range questions[:6] {
				same(play.Request{Show: "ask", Tool: tool, Ask: q},
					slices.Concat([]string{"can", "--platform", "linux", tool}, strings.Fields(q))...)
			}
		}
	}
}

// TestAsBuild: the page shows the artifacts that build writes, of every target.
func TestAsBuild(t *testing.T) {
	text, err := os.ReadFile(pod)
	if err != nil {
		t.Fatal(err)
	}
	command := commands(t, string(text))
	var first play.Reply
	answer(t, play.Request{Policy: string(text), Show: "explain", System: "linux"}, &first)
	if len(first.Targets) < 10 {
		t.Errorf("targets are %s", first.Targets)
	}
	for _, target := range first.Targets {
		dir := t.TempDir()
		var out play.Reply
		answer(t, play.Request{Policy: string(text), Show: "artifact", System: "linux", Target: target}, &out)
		said := command("build", "--target", target, "--out", dir)
		file, err := os.ReadFile(filepath.Join(dir, first.Tools[0], out.File))
		if err != nil || string(file) != out.Text {
			t.Errorf("%s: %v, %s (-build +page):\n%s", target, err, said, cmp.Diff(string(file), out.Text))
		}
	}
}

// commands runs accessc in a workspace with a policy and no other file.
func commands(t *testing.T, policy string) func(args ...string) string {
	dir := t.TempDir()
	accessc, w := filepath.Join(dir, "accessc"), filepath.Join(dir, "w")
	if err := testbuild.Program(accessc, "cmd/accessc"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w, "accessc.toml"), []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) string {
		cmd := exec.Command(accessc, append([]string{"-C", w}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "NO_COLOR=1")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
}

// program builds the program for js/wasm, and returns the command that runs it.
func program(t testing.TB) []string {
	if os.Getenv("ACCESSC_WASM") == "" {
		t.Skip("compiles the standard library for js/wasm: task wasm, which .ci/run calls")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node.js here: the program for js/wasm is built, and not run")
	}
	file := filepath.Join(t.TempDir(), "accessc.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "../../cmd/accessc-wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	logSize(t, file)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{node, "testdata/lines.js", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"), file}
}

// run starts the program with requests, and returns its answers and its times.
func run(t testing.TB, cmd *exec.Cmd, input []byte) (answers, times []string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), strings.Split(strings.TrimSpace(said.String()), "\n")
}

// logSize logs the size of a program as it is and compressed.
func logSize(t testing.TB, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
	_, err = z.Write(data)
	if end := z.Close(); err != nil || end != nil {
		t.Fatal(err, end)
	}
	t.Logf("%d bytes, %d compressed by gzip", len(data), small.Len())
}
