package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWebAssembly: the front end, the model, every backend and explain say byte for byte the same as WebAssembly, in
// Node.js, as in this process. The program's size is in the log.
func TestWebAssembly(t *testing.T) {
	start := program(t)
	for _, file := range policies(t) {
		policy, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		if err := review(policy, &want); err != nil {
			t.Fatal(err)
		}
		if got := run(t, exec.Command(start[0], start[1:]...), policy); got != want.String() {
			t.Errorf("%s: WebAssembly says otherwise (-here +there):\n%s", file, cmp.Diff(want.String(), got))
		}
	}
}

// BenchmarkFirstAnswer is the time from a start of Node.js to the first answer about a policy.
func BenchmarkFirstAnswer(b *testing.B) {
	start := program(b)
	policy, err := os.ReadFile(policies(b)[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		run(b, exec.Command(start[0], start[1:]...), policy)
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
	file := filepath.Join(t.TempDir(), "review.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	logSize(t, file)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), file}
}

// policies are those that are reviewed: the example, and one with mistakes.
func policies(t testing.TB) []string {
	wrong := filepath.Join(t.TempDir(), "wrong.toml")
	text := "[tools.a]\nsource = \"lokal\"\n[tools.b]\nsource = \"local\"\naccess.fs = [{ path = \"../x\", read = true }]\n"
	if err := os.WriteFile(wrong, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"../../examples/project/accessc.toml", wrong}
}

// run starts a program and returns its output.
func run(t testing.TB, cmd *exec.Cmd, input []byte) string {
	t.Helper()
	// wasm_exec.js takes arguments and environment into 12 KiB of memory, and refuses more.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if runtime.GOOS == "windows" {
		cmd.Env = append(cmd.Env, "SystemRoot="+os.Getenv("SystemRoot"))
	}
	var diagnostics bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &diagnostics
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	n, _ := io.ReadFull(out, first)
	if b, ok := t.(*testing.B); ok {
		b.StopTimer()
		defer b.StartTimer()
	}
	rest, err := io.ReadAll(out)
	if end := cmd.Wait(); err != nil || end != nil {
		t.Fatalf("%v, %v: %s", err, end, diagnostics.String())
	}
	return string(first[:n]) + string(rest)
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
