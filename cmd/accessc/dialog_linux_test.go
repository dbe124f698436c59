package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// detached runs a command in a session of its own, which has no terminal, wherever the
// tests run: [!] detached PROGRAM ARG...
func detached(ts *testscript.TestScript, neg bool, args []string) {
	cmd := inScript(ts, args)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	finish(ts, neg, cmd, cmd.Start())
}

// dialog runs a command on a terminal of its own and gives it one answer for each question: [!]
// dialog ANSWER,... PROGRAM ARG.... The output on the terminal is kept in the file tty;
// standard input, output and error are none of the terminal. A further question fails the
// script.
func dialog(ts *testscript.TestScript, neg bool, args []string) {
	answers := strings.Split(args[0], ",")
	cmd := inScript(ts, args[1:])
	ptmx, tty, err := pty.Open()
	ts.Check(err)
	defer ptmx.Close()
	cmd.ExtraFiles = []*os.File{tty}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	start := cmd.Start()
	_ = tty.Close()
	shown := make(chan string)
	go func() { shown <- converse(ptmx, answers) }()
	finish(ts, neg, cmd, start)
	text := <-shown
	ts.Check(os.WriteFile(ts.MkAbs("tty"), []byte(text), 0o644))
	if n := strings.Count(text, question); args[0] != "" && n != len(answers) || args[0] == "" && n != 0 {
		ts.Fatalf("asked %d times:\n%s", n, text)
	}
}

const question = "[y/N] "

// converse reads from a terminal until the other side is gone, and types the next
// answer whenever a question is complete.
func converse(tty *os.File, answers []string) string {
	_ = tty.SetReadDeadline(time.Now().Add(time.Minute))
	var seen strings.Builder
	buf := make([]byte, 1024)
	for answered := 0; ; {
		n, err := tty.Read(buf)
		seen.Write(buf[:n])
		if strings.Count(seen.String(), question) > answered {
			answer := "\x04"
			if answered < len(answers) {
				answer = answers[answered] + "\n"
			}
			answered++
			_, _ = io.WriteString(tty, answer)
		}
		if err != nil {
			// EIO: the last process that had the terminal has closed it (pty(7)).
			return strings.ReplaceAll(seen.String(), "\r\n", "\n")
		}
	}
}

// inScript prepares a command with the script's directory and environment.
func inScript(ts *testscript.TestScript, args []string) *exec.Cmd {
	if len(args) == 0 {
		ts.Fatalf("usage: PROGRAM ARG...")
	}
	program, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, k := range []string{"PATH", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR", "NO_COLOR", "WORK", "GOCOVERDIR"} {
		cmd.Env = append(cmd.Env, k+"="+ts.Getenv(k))
	}
	cmd.Stdout, cmd.Stderr = new(strings.Builder), new(strings.Builder)
	return cmd
}

// finish waits for a command, which must not take for ever, and hands its output on.
func finish(ts *testscript.TestScript, neg bool, cmd *exec.Cmd, err error) {
	ts.Check(err)
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	if !timer.Stop() {
		err = errors.Join(err, errors.New("it did not end"))
	}
	fmt.Fprint(ts.Stdout(), cmd.Stdout)
	fmt.Fprint(ts.Stderr(), cmd.Stderr)
	if (err != nil) != neg {
		ts.Fatalf("%v: %v", cmd.Args, err)
	}
}
