//go:build unix

package main

import (
	"bufio"
	"context"
	"strings"
	"testing"
)

// TestTailIsTheServers: npm's news do not push the server's reason out of the lines that are shown.
func TestTailIsTheServers(t *testing.T) {
	news := strings.Repeat("npm notice news\n", 20)
	if got := tail("the reason\n" + news); len(got) != 1 || got[0] != "the reason" {
		t.Errorf("got %q", got)
	}
	if got := tail(news); got != nil {
		t.Errorf("got %q", got)
	}
}

// TestSilentServerSaysWhy: a server that is given up says what it was refused. Killed at once, it could not, and the
// message was that it gave no answer.
func TestSilentServerSaysWhy(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	const script = `trap 'echo was refused >&2; exit 3' TERM; echo ready; while read -r line; do :; done`
	cmd := endedGently(ctx, "/bin/sh", "-c", script)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe() // open, so that the script waits
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	stop()
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "was refused") {
		t.Errorf("%v, said %q", err, said.String())
	}
}
