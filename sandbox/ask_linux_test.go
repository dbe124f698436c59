package sandbox_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/sandbox"
)

// TestAsk: a refused operation that access.may covers waits for the host's answer, and a grant that is
// taken back is in force no more.
func TestAsk(t *testing.T) {
	h, ws := open(t)
	for answer, want := range map[sandbox.Answer]string{
		sandbox.AnswerOnce: "hidden\nrefused\n", sandbox.AnswerRun: "hidden\nhidden\n", sandbox.AnswerRule: "hidden\nhidden\n",
		sandbox.AnswerNo: "refused\nrefused\n", sandbox.AnswerNever: "refused\nrefused\n",
	} {
		c := h.Command("asks", "-c", "for i in 1 2; do cat secret 2>/dev/null || echo refused; done")
		pending, withdrawn := 0, 0
		c.Ask, c.Events = true, func(e sandbox.Event) {
			switch e.Kind {
			case sandbox.Pending:
				q := e.Question
				if pending++; q.Path != ws+"/secret" || !strings.Contains(q.Rule, "accessc.toml") || len(q.Grants) != 1 || q.Name != "cat" {
					t.Errorf("%+v", q)
				}
				a := answer
				if pending > 1 {
					a = sandbox.AnswerNo
				}
				// Answered apart: an answer may wait for calls, and those for events.
				go func() {
					if err := e.Process.Answer(q.ID, a); err != nil {
						t.Errorf("%s: %v", a, err)
					}
				}()
			case sandbox.Withdrawn:
				withdrawn++
			case sandbox.Refused, sandbox.Ended:
			}
		}
		if out, err := c.Output(); err != nil || string(out) != want {
			t.Errorf("%s: %q %v, want %q", answer, out, err, want)
		}
		if wants := 1 + strings.Count(string(answer), "once"); pending != wants || withdrawn != wants {
			t.Errorf("%s: %d questions, %d of them over", answer, pending, withdrawn)
		}
		if err := c.Process.Answer(1, answer); err == nil {
			t.Error("a tool that has ended was answered")
		}
	}
}

// TestRevoke: after Revoke a further call of the tool is refused.
func TestRevoke(t *testing.T) {
	h, _ := open(t)
	c := h.Command("asks", "-c", "cat secret; read go; cat secret 2>/dev/null || echo refused")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Ask, c.Events = true, func(e sandbox.Event) {
		if e.Kind != sandbox.Pending {
			return
		}
		go func() {
			if err := e.Process.Answer(e.Question.ID, sandbox.AnswerRun); err != nil {
				t.Error(err)
			}
			// The first cat may still be about to read.
			out, err := h.Command("alone", "-c", "sleep 0.3").Output()
			if err != nil {
				t.Errorf("%q %v", out, err)
			}
			if err := e.Process.Revoke(e.Question.ID); err != nil {
				t.Error(err)
			}
			if _, err := in.Write([]byte("\n")); err != nil {
				t.Error(err)
			}
		}()
	}
	if out, err := c.Output(); err != nil || string(out) != "hidden\nrefused\n" {
		t.Errorf("%q %v", out, err)
	}
}

// TestNoAnswer: an answer that is none is refused, before the question and after a grant. It takes no grant
// back.
func TestNoAnswer(t *testing.T) {
	h, _ := open(t)
	c := h.Command("asks", "-c", "cat secret; read go; cat secret 2>/dev/null || echo refused")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Ask, c.Events = true, func(e sandbox.Event) {
		if e.Kind != sandbox.Pending {
			return
		}
		go func() {
			defer in.Close()
			for _, none := range []sandbox.Answer{"", "yes"} {
				if err := e.Process.Answer(e.Question.ID, none); err == nil {
					t.Errorf("%q was taken for an answer", none)
				}
			}
			if err := e.Process.Answer(e.Question.ID, sandbox.AnswerRun); err != nil {
				t.Error(err)
			}
			if err := e.Process.Answer(e.Question.ID, ""); err == nil {
				t.Error("nothing was taken for an answer to a question that is over")
			}
			if _, err := in.Write([]byte("\n")); err != nil {
				t.Error(err)
			}
		}()
	}
	if out, err := c.Output(); err != nil || string(out) != "hidden\nhidden\n" {
		t.Errorf("%q %v", out, err)
	}
}

// TestNotAsked: a request that cannot be asked about is an error, and no question that waits for ever.
func TestNotAsked(t *testing.T) {
	h, _ := open(t)
	hears := func(sandbox.Event) {}
	for name, r := range map[string]sandbox.Request{
		"no events": {Tool: "asks", Ask: true}, "nothing to grant": {Tool: "alone", Ask: true, Events: hears},
	} {
		if _, err := h.Start(t.Context(), r); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	c := h.Command("supervised", "-c", "exec sleep 1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Answer(1, sandbox.AnswerRun); err == nil {
		t.Error("answered")
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}

// TestReload: changed layers are in force for tools that start afterwards, and those that run go on.
func TestReload(t *testing.T) {
	h, ws := open(t)
	running := h.Command("alone", "-c", "read go")
	in, err := running.StdinPipe()
	if err == nil {
		err = running.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, ws+"/accessc.toml", strings.ReplaceAll(config, `[{ path = ".", read = true }]`, `[{ path = ".", read = true }, { path = "plain" }]`))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if out, err := h.Command("alone", "-c", "cat plain").Output(); err == nil || len(out) > 0 {
		t.Errorf("after the change: %q %v", out, err)
	}
	write(t, ws+"/accessc.toml", "[tools.alone\n")
	if err := h.Reload(); err == nil {
		t.Error("a layer that is not TOML was taken")
	}
	if out, err := h.Command("alone", "-c", "echo kept").Output(); err != nil || string(out) != "kept\n" {
		t.Errorf("after a mistake: %q %v", out, err)
	}
	_ = in.Close()
	if err := running.Wait(); err == nil {
		t.Error("read has read something")
	} else if running.State.Signal != 0 {
		t.Errorf("the running tool: %v", err)
	}
}

// TestNamesApart: a request whose names have zero bytes is refused, and changes nothing for a later one whose
// names are the same when they are joined.
func TestNamesApart(t *testing.T) {
	h, _ := open(t)
	for _, r := range []sandbox.Request{{Tool: "asks", Program: "\x00ask"}, {Tool: "asks\x00"}} {
		if _, err := h.Start(t.Context(), r); err == nil {
			t.Errorf("%q %q: started", r.Tool, r.Program)
		}
	}
	c := h.Command("asks", "-c", "cat secret")
	c.Ask, c.Events = true, func(e sandbox.Event) {
		if e.Kind == sandbox.Pending {
			go func() { _ = e.Process.Answer(e.Question.ID, sandbox.AnswerOnce) }()
		}
	}
	if out, err := c.Output(); err != nil || string(out) != "hidden\n" {
		t.Errorf("%q %v", out, err)
	}
}
