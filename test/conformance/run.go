package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/test/finding"
)

// runner runs cases with one build of accessc.
type runner struct {
	accessc string
	// probe are the words in front of which this very program is the tool.
	self string
	out  io.Writer
	// verbose prints the result of every operation.
	verbose bool
	// patience is how long an ordinary program may take.
	patience time.Duration
}

// result is the result of a case.
type result struct {
	operations int
	// asked counts those of the operations that must get an answer.
	asked int
	// differs are the operations that got another answer than they must, reports those without an expectation.
	differs, reports []string
}

// run lays a case out in a directory and has a tool try its operations.
func (r *runner) run(c *testCase, dir string) (result, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return result{}, err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return result{}, err
	}
	other, err := unused(dir)
	if err != nil {
		return result{}, err
	}
	expand := strings.NewReplacer("$PROBE", program(), "$PORT", port, "$OTHER", strconv.Itoa(other), "$RUNNER", strconv.Itoa(os.Getpid())).Replace
	ws := filepath.Join(dir, "ws")
	if err := c.lay(ws, r.self, expand); err != nil {
		return result{}, err
	}
	sockets, err := c.listen(ws)
	defer func() {
		for _, l := range sockets {
			_ = l.Close()
		}
	}()
	if err != nil {
		return result{}, err
	}
	return r.start(c, dir, ws, expand)
}

// unused returns a port without a listener, below those that systems give to connections and to
// listeners that ask for any. Cases that run at the same time in other directories begin to look elsewhere.
func unused(dir string) (int, error) {
	h := fnv.New32a()
	h.Write([]byte(dir))
	var err error
	for i := range uint32(100) {
		port := 16_384 + int((h.Sum32()+i)%16_384)
		var l net.Listener
		if l, err = net.Listen("tcp", ":"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// lay writes the files of a case, and the tool.
func (c *testCase) lay(ws, self string, expand func(string) string) error {
	tool, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	for _, f := range c.files {
		at := filepath.Join(ws, filepath.FromSlash(f.Name))
		if isSocket(f.Name) {
			continue
		}
		if strings.HasSuffix(f.Name, "/") {
			if err := os.MkdirAll(at, 0o755); err != nil {
				return err
			}
			continue
		}
		text := []byte(expand(string(f.Data)))
		if strings.HasSuffix(f.Name, ".exe") {
			text = tool
		}
		if err := write(at, text, mode(f)); err != nil {
			return err
		}
	}
	return write(filepath.Join(ws, filepath.FromSlash(program())), tool, 0o755)
}

// listen makes the socket files of a case. The path of one is bounded (unix(4)), so it is
// made by a relative one.
func (c *testCase) listen(ws string) ([]net.Listener, error) {
	var out []net.Listener
	for _, f := range c.files {
		if !isSocket(f.Name) {
			continue
		}
		at := filepath.Join(ws, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return out, err
		}
		if here, err := os.Getwd(); err == nil {
			if short, err := filepath.Rel(here, at); err == nil && len(short) < len(at) {
				at = short
			}
		}
		l, err := net.Listen("unix", at)
		if err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

func isSocket(name string) bool { return strings.HasSuffix(name, ".sock") }

func write(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}

// running is a tool of a case that was started under its policy.
type running struct {
	cmd  *exec.Cmd
	pid  int
	in   io.WriteCloser
	out  *json.Decoder
	said bytes.Buffer
}

// tool starts the tool of a case, and waits for its first word, its number.
func (r *runner) tool(c *testCase, dir, ws string) (*running, error) {
	args := []string{"exec", "-C", ws}
	for _, cell := range c.accept {
		args = append(args, "--accept", cell)
	}
	t := &running{cmd: exec.Command(r.accessc, append(args, "probe")...)}
	t.cmd.Stderr = &t.said
	t.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "CASES_GIVEN=1", "CASES_SECRET=1")
	in, err1 := t.cmd.StdinPipe()
	out, err2 := t.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, t.cmd.Start()); err != nil {
		return nil, err
	}
	t.in, t.out = in, json.NewDecoder(out)
	if err := t.out.Decode(&t.pid); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: the tool did not say that it runs: %w", c.name, err), t.end(c))
	}
	return t, nil
}

// end closes the input of a tool, which ends it.
func (t *running) end(c *testCase) error {
	_ = t.in.Close()
	if err := t.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, strings.TrimSpace(t.said.String()))
	}
	return nil
}

// sibling stands in a case for another run of the same tool.
const sibling = "$SIBLING"

// start runs the tool of a case under its policy and compares the answers.
func (r *runner) start(c *testCase, dir, ws string, expand func(string) string) (result, error) {
	t, err := r.tool(c, dir, ws)
	if err != nil {
		return result{}, err
	}
	other := &running{}
	if slices.ContainsFunc(c.steps, func(s step) bool { return slices.Contains(s.op, sibling) }) {
		if other, err = r.tool(c, dir, ws); err != nil {
			return result{}, errors.Join(err, t.end(c))
		}
		defer func() { _ = other.end(c) }()
	}
	res, err := r.steps(c, ws, json.NewEncoder(t.in), t.out, func(word string) string {
		return strings.ReplaceAll(expand(word), sibling, strconv.Itoa(other.pid))
	})
	if ended := t.end(c); ended != nil {
		return result{}, ended
	}
	return res, err
}

// steps has the tool try one operation after the other, and compares its answers. Operations of
// other processes in between are done here.
func (r *runner) steps(c *testCase, ws string, in *json.Encoder, out *json.Decoder, expand func(string) string) (result, error) {
	res := result{}
	for _, s := range c.steps {
		op := slices.Clone(s.op)
		if s.want == host {
			if err := os.Rename(filepath.Join(ws, op[1]), filepath.Join(ws, op[2])); err != nil {
				return res, fmt.Errorf("%s: do:%d: %w", c.name, s.line, err)
			}
			continue
		}
		for i := range op[1:] {
			op[1+i] = expand(op[1+i])
		}
		var o outcome
		if err := errors.Join(in.Encode(op), out.Decode(&o)); err != nil {
			return res, fmt.Errorf("%s: do:%d: the tool gave no answer: %w", c.name, s.line, err)
		}
		res.operations++
		if s.want != report {
			res.asked++
		}
		line := fmt.Sprintf("do:%d  %s: %s", s.line, strings.Join(op, " "), o.Did)
		if o.Said != "" {
			line += " (" + o.Said + ")"
		}
		if s.want == report {
			line += "; " + s.about
			res.reports = append(res.reports, line)
		} else if o.Did != string(s.want) {
			line += ", want " + string(s.want)
			res.differs = append(res.differs, line)
		}
		if r.verbose || s.want == report {
			fmt.Fprintf(r.out, "      %s\n", line)
		}
	}
	return res, nil
}

// all runs cases by name and prints a line for each.
func (r *runner) all(names []string, dir string) ([]finding.Finding, error) {
	var out []finding.Finding
	for _, name := range names {
		c, err := load(name, runtime.GOOS)
		if err != nil {
			return out, err
		}
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return out, err
		}
		f := finding.Finding{Name: name, Result: finding.OK}
		res, err := r.run(c, at)
		f.Note = strings.Join(slices.Concat(res.differs, res.reports), "\n")
		switch {
		case err != nil:
			f.Result, f.Note = finding.Failed, err.Error()
			fmt.Fprintf(r.out, "FAIL  %s\n      %v\n", name, err)
		case len(res.differs) > 0:
			f.Result = finding.Differs
			fmt.Fprintf(r.out, "FAIL  %s\n      %s\n", name, strings.Join(res.differs, "\n      "))
		case res.asked == 0:
			// Nothing that must be so was asked on this system, so nothing is shown.
			f.Result = finding.Absent
			fmt.Fprintf(r.out, "-     %s\n", name)
		default:
			fmt.Fprintf(r.out, "ok    %-20s %d operations\n", name, res.operations)
		}
		out = append(out, f)
	}
	return out, nil
}
