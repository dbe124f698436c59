package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
)

// hooked is a workspace whose agents ask accessc.
type hooked struct {
	t       *testing.T
	program string
	dir     string
	env     []string
}

// hookPolicyText closes one file of the workspace, and permits and refuses a few programs.
const hookPolicyText = `[tools.coder]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]

[[rulesets.dev.rules]]
outcome = "allow"
command = ["cat", "echo"]

[[rulesets.dev.rules]]
outcome = "deny"
command = "rm"
`

func newHooked(t *testing.T) *hooked {
	t.Helper()
	program, err := exec.LookPath("accessc")
	if err != nil {
		t.Fatal(err)
	}
	h := &hooked{t, program, t.TempDir(), append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())}
	h.write("accessc.toml", hookPolicyText)
	h.write("a.txt", "text\n")
	h.write(".env", "SECRET\n")
	return h
}

func (h *hooked) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// event is one of Claude Code or Codex about a command.
func (h *hooked) event(name, command string) string {
	input, _ := json.Marshal(map[string]string{"command": command})
	return fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":%q,"tool_name":"Bash","tool_input":%s,"tool_use_id":"u"}`, h.dir, name, input)
}

// command is the process of a hook.
func (h *hooked) command(agent string, flags ...string) *exec.Cmd {
	cmd := exec.Command(h.program, append([]string{"hook", agent}, flags...)...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

// said is the end of a hook.
type said struct {
	out, err string
	status   int
	decision string
	reason   string
	command  string
	context  string
}

// ask runs a hook for an event.
func (h *hooked) ask(event, agent string, flags ...string) said {
	h.t.Helper()
	cmd := h.command(agent, flags...)
	cmd.Stdin = strings.NewReader(event)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status counts
	return answerOf(h.t, out.String(), errs.String(), cmd.ProcessState.ExitCode())
}

// answerOf reads the answer in the form of Claude Code and Codex.
func answerOf(t *testing.T, out, errs string, status int) said {
	t.Helper()
	s := said{out: out, err: errs, status: status}
	var doc struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
			Input    struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
			Request struct {
				Behavior string `json:"behavior"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if out != "" {
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("the answer is %q: %v", out, err)
		}
	}
	o := doc.Output
	s.decision, s.reason, s.command, s.context = o.Decision+o.Request.Behavior, o.Reason, o.Input.Command, o.Context
	return s
}

// run runs a command in a shell, as an agent does.
func (h *hooked) run(command string) (string, string, int) {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir, cmd.Env = h.dir, h.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status counts
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestHookHolds: a command that a hook has allowed runs, and the kernel holds it to the policy; the
// model learns of the refusals, also where the command has succeeded.
func TestHookHolds(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("needs supervision")
	}
	h := newHooked(t)
	const line = "cat a.txt && cat .e* 2>/dev/null; echo 'it'\\''s \"done\"' \\\n  $((1+1))"
	s := h.ask(h.event("PreToolUse", line), "claude-code", "--tool", "coder")
	if s.decision != "ask" || s.command == "" {
		t.Fatalf("got %+v", s)
	}
	out, errs, status := h.run(s.command)
	if out != "text\nit's \"done\" 2\n" || status != 0 {
		t.Fatalf("got %q, %q, %d", out, errs, status)
	}
	for i, want := range []string{"refused this command 1 time:\n  read .env: rule .env, accessc.toml:4", ""} {
		after := h.ask(h.event("PostToolUse", line), "claude-code", "--tool", "coder")
		if !strings.Contains(after.context, want) || (after.context == "") != (want == "") || after.status != 0 {
			t.Errorf("%d: got %+v", i, after)
		}
	}
	// The same is said by the command that was rewritten, which is judged by its line.
	allowed := h.ask(h.event("PreToolUse", "cat a.txt .env; echo end"), "codex", "--tool", "coder")
	if allowed.decision != "allow" || allowed.command == "" {
		t.Fatalf("got %+v", allowed)
	}
	if out, _, status := h.run(allowed.command); out != "text\nend\n" || status != 0 {
		t.Errorf("got %q, %d", out, status)
	}
	if again := h.ask(h.event("PreToolUse", allowed.command), "codex", "--tool", "coder"); again.decision != "" || again.command != "" || again.status != 0 {
		t.Errorf("a rewritten command is answered %+v", again)
	}
	if asked := h.ask(h.event("PermissionRequest", allowed.command), "codex", "--tool", "coder"); asked.decision != "allow" {
		t.Errorf("a rewritten command is answered %+v", asked)
	}
	if after := h.ask(h.event("PostToolUse", allowed.command), "codex", "--tool", "coder"); !strings.Contains(after.context, "read .env") {
		t.Errorf("got %+v", after)
	}
	for _, other := range []string{strings.Replace(allowed.command, "--tool coder", "", 1), strings.Replace(allowed.command, "exec", "exec --accept net.host", 1)} {
		if s := h.ask(h.event("PreToolUse", other), "codex", "--tool", "coder"); s.decision != "deny" {
			t.Errorf("%s is answered %+v", other, s)
		}
	}
}

// TestHookDefault: without a tool the default policy holds the command.
func TestHookDefault(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("needs supervision")
	}
	h := newHooked(t)
	h.write("accessc.toml", "")
	s := h.ask(h.event("PreToolUse", "cat /etc/shadow a.txt"), "codex")
	if out, _, _ := h.run(s.command); s.decision != "allow" || out != "text\n" {
		t.Errorf("got %+v, %q", s, out)
	}
	if after := h.ask(h.event("PostToolUse", "cat /etc/shadow a.txt"), "codex"); !strings.Contains(after.context, "read /etc/shadow: no rule") {
		t.Errorf("got %+v", after)
	}
	if s := h.ask(h.event("PreToolUse", "cat a.txt"), "codex", "--judge-only"); s.decision != "deny" || s.command != "" {
		t.Errorf("got %+v", s)
	}
}

// TestHookDirectory: a directory that the agent can choose does not choose the policy.
func TestHookDirectory(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	sub := filepath.Join(h.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	h.write("sub/accessc.toml", strings.Replace(hookPolicyText, `command = "rm"`, `command = "none"`, 1))
	record := filepath.Join(t.TempDir(), "record.jsonl")
	if err := os.WriteFile(record, fmt.Appendf(nil, "{\"type\":\"session_meta\",\"payload\":{\"cwd\":%q}}\n", h.dir), 0o644); err != nil {
		t.Fatal(err)
	}
	event := strings.Replace(h.event("PreToolUse", "rm x"), h.dir, sub, 1)
	recorded := strings.Replace(event, `{`, fmt.Sprintf(`{"transcript_path":%q,`, record), 1)
	for name, s := range map[string]said{
		"a session with a record": h.ask(recorded, "codex", "--tool", "coder"), "a named workspace": h.ask(event, "codex", "--tool", "coder", "-C", h.dir),
	} {
		if s.decision != "deny" || s.status != 0 || !strings.Contains(s.reason, "a rule denies it") {
			t.Errorf("%s: got %+v", name, s)
		}
	}
	if s := h.ask(event, "codex", "--tool", "coder"); s.status != 2 || !strings.Contains(s.err, "lies in the workspace "+h.dir) {
		t.Errorf("got %+v", s)
	}
	h.env = append(h.env, "CLAUDE_PROJECT_DIR="+h.dir)
	if s := h.ask(event, "claude-code", "--tool", "coder"); s.decision != "deny" || !strings.Contains(s.reason, "a rule denies it") {
		t.Errorf("got %+v", s)
	}
}

// TestHookChaos: no end of the process, and nothing that is wrong around it, is a permission.
func TestHookChaos(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	allowed := h.event("PreToolUse", "cat a.txt")
	if s := h.ask(allowed, "claude-code", "--tool", "coder"); s.decision != "allow" || s.status != 0 {
		t.Fatalf("got %+v", s)
	}
	refused := func(name string, s said) {
		t.Helper()
		if s.status != 2 || s.decision != "" && s.decision != "deny" || s.command != "" || s.err == "" {
			t.Errorf("%s: got %+v", name, s)
		}
	}
	long := strings.Repeat("x", 1<<20)
	for name, event := range map[string]string{
		"nothing": "", "half": allowed[:len(allowed)/2], "two": allowed + allowed, "bytes": strings.Replace(allowed, "a.txt", "a\xff.txt", 1),
		"deep": strings.Replace(allowed, `"u"`, strings.Repeat("[", 1000)+strings.Repeat("]", 1000), 1),
		"huge": strings.Replace(allowed, `"u"`, `"`+strings.Repeat(long, 17)+`"`, 1),
		"NUL":  strings.Replace(allowed, "a.txt", `a\u0000.txt`, 1),
	} {
		refused(name, h.ask(event, "claude-code", "--tool", "coder"))
	}
	if s := h.ask(h.event("PreToolUse", "cat "+long), "claude-code", "--tool", "coder"); s.decision != "ask" || s.status != 0 {
		t.Errorf("a line of a megabyte: got %.300q, %d", s.out, s.status)
	}
	refused("no tool", h.ask(allowed, "claude-code", "--tool", "other"))
	refused("no ruleset", h.ask(allowed, "claude-code", "--ruleset", "other"))
	refused("no flag", h.ask(allowed, "claude-code", "--nonsense"))
	refused("no agent", h.ask(allowed, "claude"))
	refused("log in reach", h.ask(allowed, "claude-code", "--tool", "coder", "--log", "log"))
	outside := t.TempDir()
	for name, err := range map[string]error{
		"link": os.Symlink(filepath.Join(h.dir, "a.txt"), filepath.Join(outside, "link")), "dangling": os.Symlink(filepath.Join(h.dir, "none"), filepath.Join(outside, "dangling")),
		"name": os.Link(filepath.Join(h.dir, "a.txt"), filepath.Join(outside, "name")), "dir": os.Symlink(h.dir, filepath.Join(outside, "dir")),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	for _, name := range []string{"link", "dangling", "name", "dir/log"} {
		refused("log behind "+name, h.ask(allowed, "claude-code", "--tool", "coder", "--log", filepath.Join(outside, name)))
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "a.txt")); err != nil || string(text) != "text\n" {
		t.Errorf("a log of the workspace was written: %q, %v", text, err)
	}
	for _, name := range []string{"none", "log"} {
		if _, err := os.Lstat(filepath.Join(h.dir, name)); err == nil {
			t.Errorf("%s was made in the workspace", name)
		}
	}
	refused("log on a full disk", h.ask(allowed, "claude-code", "--tool", "coder", "--log", "/dev/full"))
	for name, text := range map[string]string{
		"no TOML": "[", "a mistake of the tool": strings.Replace(hookPolicyText, "execute", "exec", 1),
		"a mistake of the ruleset": hookPolicyText + "\n[[rulesets.dev.rules]]\noutcome = \"perhaps\"\n",
	} {
		h.write("accessc.toml", text)
		refused(name, h.ask(allowed, "claude-code", "--tool", "coder"))
	}
	if err := errors.Join(os.Remove(filepath.Join(h.dir, "accessc.toml")), syscall.Mkfifo(filepath.Join(h.dir, "accessc.toml"), 0o644)); err != nil {
		t.Fatal(err)
	}
	refused("a pipe for a configuration", h.ask(allowed, "claude-code", "--tool", "coder"))
	if err := os.Remove(filepath.Join(h.dir, "accessc.toml")); err != nil {
		t.Fatal(err)
	}
	h.write("accessc.toml", hookPolicyText)
	if s := h.ask(allowed, "claude-code", "--tool", "coder"); s.decision != "allow" {
		t.Errorf("got %+v", s)
	}
}

// TestHookOutput: an answer that cannot be written is a refusal.
func TestHookOutput(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	gone, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_ = gone.Close()
	for name, to := range map[string]*os.File{"a full disk": full, "a reader that is gone": out, "a closed descriptor": nil} {
		cmd := h.command("claude-code", "--tool", "coder")
		if to == nil {
			cmd.Args = append([]string{"sh", "-c", `exec "$0" "$@" >&-`}, cmd.Args...)
			cmd.Path = "/bin/sh"
		}
		cmd.Stdin = strings.NewReader(h.event("PreToolUse", "cat a.txt"))
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = to, &errs
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), "the answer cannot be written") {
			t.Errorf("%s: got %v, %s", name, cmd.ProcessState, errs.String())
		}
	}
}

// TestHookSignals: a process that is stopped or killed says nothing, and one that is asked to end
// refuses.
func TestHookSignals(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		cmd := h.command("claude-code", "--tool", "coder")
		read, stdin, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = read, &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		event := h.event("PreToolUse", "cat a.txt")
		_, _ = io.WriteString(stdin, event[:20])
		// It waits for the rest once it has read this; however slow the machine, not before.
		unread := func() int {
			left, err := unix.IoctlGetInt(int(read.Fd()), unix.TIOCINQ)
			if err != nil {
				t.Fatal(err)
			}
			return left
		}
		await.Until(t, "the hook has read", func() bool { return unread() == 0 })
		_ = cmd.Process.Signal(sig)
		if sig == syscall.SIGSTOP {
			awaitStop(t, cmd.Process.Pid)
			_, _ = io.WriteString(stdin, event[20:])
			_ = stdin.Close()
			if n := unread(); n != len(event)-20 {
				t.Errorf("%d bytes of the event lie before a hook that is stopped, of %d", n, len(event)-20)
			}
			_ = cmd.Process.Kill() // as the agent does after its limit
		}
		var ended *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &ended) {
			t.Fatalf("%s: %v", sig, err)
		}
		_, _ = read.Close(), stdin.Close()
		s := answerOf(t, out.String(), errs.String(), ended.ExitCode())
		silent := sig == syscall.SIGKILL || sig == syscall.SIGSTOP
		if silent && s.out != "" || !silent && (s.decision != "deny" || s.status != 2) {
			t.Errorf("%s: got %+v", sig, s)
		}
	}
}

// awaitStop waits until no thread of a process runs that was sent SIGSTOP: until one of them takes the signal, the
// others go on.
func awaitStop(t *testing.T, pid int) {
	t.Helper()
	await.Until(t, "a process stands", func() bool {
		stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		return !slices.ContainsFunc(stats, func(name string) bool {
			stat, err := os.ReadFile(name)
			return err == nil && !bytes.Contains(stat, []byte(") T "))
		})
	})
}

// TestHookDeadline: an answer that takes too long is a refusal, even if the hook still waits for the event.
func TestHookDeadline(t *testing.T) {
	t.Parallel()
	a := claudecode.Agent.Hooks.Agent
	stdin, _ := io.Pipe()
	r := (&hookRunCmd{}).within(50*time.Millisecond, &globals{streams: streams{stdin: stdin}}, a, nil)
	if s := answerOf(t, string(r.Out), r.Err, r.Status); s.decision != "deny" || s.status != 2 || !strings.Contains(s.err, "no answer within") {
		t.Errorf("got %+v", s)
	}
	// A log that takes no entry and does not fail, here a terminal whose output waits to be read.
	h := newHooked(t)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	defer tty.Close()
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TCXONC, 0); err != nil { // TCOOFF: it stops output (TCXONC(2const))
		t.Fatal(err)
	}
	event := strings.NewReader(h.event("PreToolUse", "cat a.txt"))
	r = (&hookRunCmd{Tool: "coder", Log: tty.Name()}).within(200*time.Millisecond, &globals{streams: streams{stdin: event}}, a, nil)
	if s := answerOf(t, string(r.Out), r.Err, r.Status); s.decision != "deny" || s.status != 2 || !strings.Contains(s.err, "no answer within") {
		t.Errorf("got %+v", s)
	}
	// It was the log that kept the answer: the entry comes when the terminal goes on.
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TCXONC, 1); err != nil { // TCOON
		t.Fatal(err)
	}
	_ = ptmx.SetReadDeadline(await.Deadline(t))
	if line, err := bufio.NewReader(ptmx).ReadString('\n'); err != nil || !strings.Contains(line, `"verdict":"allow"`) {
		t.Errorf("the log got %q, %v", line, err)
	}
	// A fault is one, too.
	r = (&hookRunCmd{}).within(time.Minute, &globals{}, a, nil)
	if s := answerOf(t, string(r.Out), r.Err, r.Status); s.decision != "deny" || s.status != 2 || !strings.Contains(s.err, "a fault of accessc") {
		t.Errorf("got %+v", s)
	}
}
