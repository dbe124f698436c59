// Command host is an agent's host in small: it reads calls of tools as lines of JSON, starts each tool
// under its policy, several at a time, and answers with a line each.
//
//	{"id":1,"tool":"edit","args":["src/a"]}
//	{"id":1,"status":0,"output":"...","refused":["read secret/key: no rule"]}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/sandbox"
)

func main() {
	dir := flag.String("C", "", "workspace; otherwise the one that the current directory lies in")
	limit := flag.Duration("timeout", time.Minute, "how long a tool may run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *dir, *limit, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

// call is a line of the input, answer one of the output.
type call struct {
	ID        int             `json:"id"`
	Tool      string          `json:"tool"`
	Args      []string        `json:"args"`
	Arguments json.RawMessage `json:"arguments"`
}

type answer struct {
	ID     int    `json:"id"`
	Status int    `json:"status"`
	Output string `json:"output"`
	// Refused has a line for each operation that the policy has refused, Error why the tool did not
	// start or did not end by itself.
	Refused []string `json:"refused,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func serve(ctx context.Context, dir string, limit time.Duration, in io.Reader, out io.Writer) error {
	host, err := sandbox.Open(sandbox.Config{Dir: dir, Messages: os.Stderr})
	if err != nil {
		return err
	}
	// Close kills the tools that still run.
	defer host.Close()
	var busy sync.WaitGroup
	defer busy.Wait()
	var mu sync.Mutex
	lines := json.NewEncoder(out)
	for in := bufio.NewScanner(in); in.Scan(); {
		var c call
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return err
		}
		busy.Go(func() {
			a := run(ctx, host, c, limit)
			mu.Lock()
			defer mu.Unlock()
			_ = lines.Encode(a)
		})
	}
	return nil
}

// run runs a tool to its end.
func run(ctx context.Context, host *sandbox.Host, c call, limit time.Duration) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := answer{ID: c.ID}
	cmd := host.CommandContext(ctx, c.Tool, c.Args...)
	cmd.Arguments = c.Arguments
	cmd.Events = func(e sandbox.Event) {
		if e.Kind == sandbox.Refused {
			a.Refused = append(a.Refused, sentence(e.Refusal))
		}
	}
	out, err := cmd.CombinedOutput()
	a.Output = string(out)
	var exit *sandbox.ExitError
	switch {
	case errors.As(err, &exit):
		a.Status = exit.Status
	case err != nil:
		a.Status, a.Error = -1, err.Error()
	}
	return a
}

// sentence tells the model the refusal in one line.
func sentence(refusal json.RawMessage) string {
	var r struct{ Operation, Target, Reason string }
	if err := json.Unmarshal(refusal, &r); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(r.Operation+" "+r.Target) + ": " + r.Reason
}
