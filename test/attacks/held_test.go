//go:build linux

package attacks_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/internal/process/points/held"
	"github.com/accessc/accessc/test/await"
)

// heldProgram builds accessc with places at which a test holds it, and returns its directory.
func heldProgram(t *testing.T) string {
	dir, err := os.MkdirTemp("", "accessc-held-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	held.Build(t, dir+"/accessc", "cmd/accessc")
	return dir
}

// TestHeld: the user makes a move just when the supervisor of a real tool has judged a rename and has not made it, or has made it and not
// looked at what it has moved. The program that everybody gets has no place at which it could be held.
func TestHeld(t *testing.T) {
	bin := heldProgram(t)
	for dir, has := range map[string]bool{accessc(t): false, bin: true} {
		program, err := os.ReadFile(dir + "/accessc")
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range []string{"internal/process/points.Reach", string(points.Acting)} {
			if bytes.Contains(program, []byte(trace)) != has {
				t.Errorf("%s has %q: %v", dir, trace, !has)
			}
		}
	}
	for _, s := range heldScenes() {
		for user, uid := range players(false) {
			t.Run(user+"/"+s.name, func(t *testing.T) { s.play(t, bin, uid) })
		}
	}
}

// A heldScene is a rename of src/x by the tool, and a move of the user's at a place on its way.
type heldScene struct {
	name, to string
	at       points.Name
	move     func(*place) error
	// done says whether the rename succeeds; files are the texts of files afterwards, empty for none.
	done  bool
	files map[string]string
}

func heldScenes() []heldScene {
	return []heldScene{
		{"a name that the user takes away", "std/f", points.Acting, func(p *place) error { return os.Rename(p.path("std/f"), p.path("away")) }, false,
			map[string]string{"src/x": "tool", "std/f": "", "away": "fine"}},
		{"a name that the user takes", "inbox/f", points.Acting, func(p *place) error { return os.WriteFile(p.path("inbox/f"), []byte("the user's"), 0o644) }, false,
			map[string]string{"src/x": "tool", "inbox/f": "the user's"}},
		{"a moved file that the user replaces", "src/y", points.Moved, func(p *place) error { return os.Rename(p.path("src/a"), p.path("src/y")) }, true,
			map[string]string{"src/x": "", "src/y": "fine"}},
	}
}

func (s heldScene) play(t *testing.T, bin string, uid int) {
	p := newPlace(t, scene{
		toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = ".env" },
  { path = "std", read = true, update = true },
  { path = "inbox", read = true, create = true },
]`,
		tool: "#!/bin/sh\n: >src/ready\nread go <src/go\nmv -fT src/x " + s.to + " && echo did || echo did not\n",
		setup: func(p *place) {
			for name, text := range map[string]string{"src/x": "tool", "src/a": "fine", "std/f": "fine", ".env": secret} {
				p.write(name, text)
			}
			p.mkdir("inbox")
			p.fifo("src/go")
		},
	}, bin, uid)
	h := held.New(t)
	cmd, out := p.command(await.Context(t), "exec", "-C", p.ws, "--no-prompt", "t"), &strings.Builder{}
	cmd.Env, cmd.Stdout, cmd.Stderr = append(cmd.Env, h.Env()), out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	if !waitFor(p, "src/ready", ended) {
		t.Fatalf("the tool has ended: %s", out)
	}
	stop := h.Once(s.at)
	go p.tell("src/go", ended)
	stop.Reached(t)
	p.must(s.move(p))
	stop.Open()
	await.Receive(t, "the end of the tool", ended)
	if done := strings.Contains(out.String(), "did\n"); done != s.done {
		t.Errorf("the rename succeeds: %v\n%s", done, out)
	}
	for name, want := range s.files {
		if got, err := os.ReadFile(p.path(name)); string(got) != want || (want == "") != os.IsNotExist(err) {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
}
