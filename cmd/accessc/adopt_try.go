package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/agents/adopt"
	"github.com/accessc/accessc/internal/text/visible"
)

const (
	// tryFor is how long a server may take for its first answer, downloads included; endFor how long for its end.
	tryFor = 5 * time.Minute
	endFor = 5 * time.Second
	// initialize is the first message of a client.
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"accessc","version":"1"}}}` + "\n"
)

// errSilent says that a server ended without an answer.
var errSilent = errors.New("ended before it answered")

// try starts the servers that the file starts through accessc.
func (c *adoptCmd) try(g *globals, l *adoptLayer, servers []adopt.Server) error {
	failed := 0
	for _, s := range servers {
		if !s.Adopted {
			continue
		}
		name := visible.Text(s.Name)
		began := time.Now()
		said, err := l.answer(s)
		took := time.Since(began).Seconds()
		if err == nil {
			fmt.Fprintf(g.stdout, "# %s: answered after %.1f s\n", name, took)
			continue
		}
		failed++
		fmt.Fprintf(g.stdout, "# %s: %v, after %.1f s\n", name, err, took)
		for _, line := range said {
			fmt.Fprintf(g.stdout, "#   %s\n", visible.Text(line))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of the servers did not answer", failed)
	}
	return nil
}

// answer starts a server as its client does, and waits for the answer to the first message. It returns the last lines
// of the server's and accessc's messages.
// See decision D395.
func (l *adoptLayer) answer(s adopt.Server) ([]string, error) {
	ctx, stop := context.WithTimeout(context.Background(), tryFor)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := endedGently(ctx, self, append([]string{"mcp", "--server", s.Policy, "--"}, s.Command...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env = l.root, os.Environ()
	for _, set := range s.Set {
		if !strings.Contains(set, "${") { // the client would expand it: from the environment, as a rule
			cmd.Env = append(cmd.Env, set)
		}
	}
	var messages bytes.Buffer
	cmd.Stderr = &messages
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = io.WriteString(in, initialize) // a server that is gone is seen by its end
	answered := firstAnswer(out)
	_ = in.Close()
	end := time.AfterFunc(endFor, stop)
	_, _ = io.Copy(io.Discard, out)
	late := ctx.Err() != nil
	err = cmd.Wait()
	end.Stop()
	switch {
	case answered != nil && late:
		return tail(messages.String()), fmt.Errorf("gave no answer in %v", tryFor)
	case answered != nil && errors.Is(answered, errSilent) && err != nil:
		return tail(messages.String()), fmt.Errorf("%w (%v)", answered, err)
	}
	return tail(messages.String()), answered
}

// endedGently is a command that is asked to end before it is killed: accessc mcp then says which hosts and files the
// server was refused, which is often why it gave no answer.
func endedGently(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = endFor
	cmd.Cancel = func() error {
		if cmd.Process.Signal(syscall.SIGTERM) == nil {
			return nil
		}
		return cmd.Process.Kill() // Windows has no such signal
	}
	return cmd
}

// firstAnswer reads messages up to the answer to the first one, and returns the reason why it is no success.
func firstAnswer(out io.Reader) error {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &m) == nil && string(m.ID) == "1" {
			switch {
			case m.Error != nil:
				return fmt.Errorf("answered with an error: %s", visible.Text(m.Error.Message))
			case m.Result != nil:
				return nil
			}
		}
		if err != nil {
			return errSilent
		}
	}
}

// tail are the last lines of a text, without npm's news of itself, which would take the place of the server's reason.
func tail(text string) []string {
	const most = 12
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "npm notice")
	})
	if len(lines) == 0 {
		return nil
	}
	if lines[0] == "" && len(lines) == 1 {
		return nil
	}
	return lines[max(0, len(lines)-most):]
}
