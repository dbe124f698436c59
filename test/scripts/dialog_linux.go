package scripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/accessc/accessc/test/await"
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
	onTerminal(ts, neg, args, confirmation, "")
}

// meanwhile is like dialog, and runs a text of sh before it gives the first answer:
// [!] meanwhile TEXT ANSWER,... PROGRAM ARG...
func meanwhile(ts *testscript.TestScript, neg bool, args []string) {
	onTerminal(ts, neg, args[1:], confirmation, args[0])
}

// grants is like dialog for the questions of exec --ask. CODE in an answer stands for the code of
// the question, INTERRUPT for control-C.
func grants(ts *testscript.TestScript, neg bool, args []string) {
	onTerminal(ts, neg, args, liveQuestion, "")
}

// whileAsked is like grants, and runs a text of sh while the first question is open:
// [!] asked TEXT ANSWER,... PROGRAM ARG...
func whileAsked(ts *testscript.TestScript, neg bool, args []string) {
	onTerminal(ts, neg, args[1:], liveQuestion, args[0])
}

func onTerminal(ts *testscript.TestScript, neg bool, args []string, question *regexp.Regexp, between string) {
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
	var other error
	go func() {
		shown <- converse(ptmx, await.Deadline(testFor(ts)), answers, question, func() {
			if between != "" {
				other = inScript(ts, []string{"sh", "-c", between}).Run()
			}
		})
	}()
	finish(ts, neg, cmd, start)
	text := <-shown
	ts.Check(other)
	// A question breaks long lines, and a path is as long as the directory of temporary files.
	for broken := regexp.MustCompile(`(/\S*)\n +… `); broken.MatchString(text); {
		text = broken.ReplaceAllString(text, "$1")
	}
	ts.Check(os.WriteFile(ts.MkAbs("tty"), []byte(text), 0o644))
	if n := len(question.FindAllString(text, -1)); args[0] != "" && n != len(answers) || args[0] == "" && n != 0 {
		ts.Fatalf("asked %d times:\n%s", n, text)
	}
}

// The ends of questions: those that are answered by yes or no, and those of exec --ask.
var (
	confirmation = regexp.MustCompile(`\[y/N\] `)
	liveQuestion = regexp.MustCompile(`with the code (\d{4})[^:]*: without\s+accessc: question \d+: `)
)

// converse reads from a terminal until the other side is gone, and types the next
// answer whenever a question is complete. Before the first one it calls between.
func converse(tty *os.File, deadline time.Time, answers []string, question *regexp.Regexp, between func()) string {
	_ = tty.SetReadDeadline(deadline)
	var seen strings.Builder
	buf := make([]byte, 1024)
	for answered := 0; ; {
		n, err := tty.Read(buf)
		seen.Write(buf[:n])
		if asked := question.FindAllStringSubmatch(seen.String(), -1); len(asked) > answered {
			answer := "\x04"
			if answered < len(answers) {
				code := asked[answered][len(asked[answered])-1]
				answer = strings.NewReplacer("CODE", code, "INTERRUPT\n", "\x03").Replace(answers[answered] + "\n")
			}
			if answered++; answered == 1 {
				between()
			}
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

// finish waits for a command, which the deadline of the test ends, and hands its output on.
func finish(ts *testscript.TestScript, neg bool, cmd *exec.Cmd, err error) {
	ts.Check(err)
	timer := time.AfterFunc(time.Until(await.Deadline(testFor(ts))), func() { _ = cmd.Process.Kill() })
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
