package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/serve"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/sandbox"
)

// endings are the signals that end a server.
var endings = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// Run implements the command.
func (c *serveCmd) Run(g *globals) error {
	if err := checkAccept(c.Accept); err != nil {
		return err
	}
	h, err := newServeHost(g, c.Accept)
	if err != nil {
		return err
	}
	defer h.host.Close()
	s := &serve.Server{Host: h}
	if c.Stdio {
		return c.stdio(s)
	}
	return c.listen(g, s, h)
}

// stdio serves until the client is gone, or this process is told to end.
func (c *serveCmd) stdio(s *serve.Server) error {
	// A write to a client that is gone fails, and this process goes on to end its tools.
	signal.Notify(make(chan os.Signal, 1), failedWrites...)
	end, ended := told(), make(chan struct{})
	go func() {
		if !s.ServeSocket(os.Stdin, os.Stdout) {
			s.ServePipe(os.Stdin, os.Stdout)
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-end:
		s.Shutdown()
	}
	return nil
}

// ready is the line that tells the starter of a server how to reach it.
type ready struct {
	Version int    `json:"format_version"`
	Socket  string `json:"socket"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// listen serves until this process is told to end.
func (c *serveCmd) listen(g *globals, s *serve.Server, h *serveHost) error {
	// The token is as good as the user's own command line.
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		return usagef("standard output is a file, where the token would stay; use a pipe")
	}
	dir, err := filepath.Abs(filepath.Dir(c.Socket))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return usageError{err}
	}
	at := filepath.Join(dir, filepath.Base(c.Socket))
	if why := start.Exposed(at, h.root); why != "" {
		return usagef("--socket %s %s, where a tool could put another socket in its place; use a directory such as $XDG_RUNTIME_DIR", at, why)
	}
	token := rand.Text()
	l, err := serve.Listen(at, token)
	if err != nil {
		return usageError{err}
	}
	h.socket = l.Path
	end := told()
	line, err := json.Marshal(ready{serve.Version, l.Path, token, os.Getpid()})
	if err == nil {
		_, err = fmt.Fprintf(g.stdout, "%s\n", line)
	}
	if f, ok := g.stdout.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush()
	}
	if err != nil {
		l.Close()
		return err
	}
	go l.Serve(s)
	<-end
	s.Shutdown()
	l.Close()
	return nil
}

// told gets the signals that end a server.
func told() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, endings...)
	return c
}

// serveHost answers by the configuration as it is now.
type serveHost struct {
	g      *globals
	accept []string
	root   string
	// socket is the path of the socket, empty for none.
	socket string

	mu     sync.Mutex
	can    *stream
	decide map[[2]string]*decideStream
	// host starts tools by the configuration as it was read at a time; read has the answers by then.
	host *sandbox.Host
	read *hostfacts.Result
	at   time.Time
	// starting is held by starts from their judgement on, and by renew against them: a tool starts under the
	// policy that was judged.
	starting sync.RWMutex
}

// fleeting is how long a start may go by links, programs and the repository's own settings as they were. Changed
// layers and approvals count at once.
const fleeting = 2 * time.Second

func newServeHost(g *globals, accept []string) (*serveHost, error) {
	root, err := g.root()
	if err != nil {
		return nil, err
	}
	// The client decides later where it stands.
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	at := *g
	at.Dir = root
	res, in, err := at.compileWatched()
	if err != nil {
		return nil, err
	}
	h := &serveHost{g: &at, accept: accept, root: root, decide: map[[2]string]*decideStream{}}
	h.host, err = sandbox.Open(sandbox.Config{
		Dir: root, Layers: at.Config, Untrusted: at.Untrusted, Set: at.Set, Shared: at.Shared, Accept: accept, Messages: at.stderr,
	})
	if err != nil {
		return nil, err
	}
	h.read, h.at = res, time.Now()
	h.can = &stream{style: at.style(at.stdout), g: &at, res: res, inputs: in, tools: map[string]*asked{}}
	return h, nil
}

// About implements serve.Host.
func (h *serveHost) About() serve.About { return serve.About{Accessc: version, Root: h.root} }

// Can implements serve.Host.
func (h *serveHost) Can(q *serve.Question) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if q.Tool == "" {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "can: expected a tool"}
	}
	line := streamed{
		Tool: q.Tool, Operation: q.Operation, Method: q.Method, Target: q.Target, Destination: q.Destination,
		Arguments: q.Arguments, System: q.System,
	}
	if _, err := line.question(); err != nil {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "can: " + err.Error()}
	}
	if err := h.fresh(q.Tool, false); err != nil {
		return nil, err
	}
	doc, err := h.can.ask(line)
	if err != nil {
		return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
	}
	return doc, nil
}

// fresh reads the configuration again where it has changed, for a start or an answer, and reports the mistakes that
// a tool has.
func (h *serveHost) fresh(tool string, starts bool) error {
	err := h.can.reload()
	if err == nil && starts && (h.read != h.can.res || time.Since(h.at) > fleeting) {
		err = h.renew()
	}
	if err == nil {
		_, err = askable(h.can.res, tool)
	}
	if err == nil {
		return nil
	}
	out := &serve.Error{Reason: serve.Config, Text: err.Error()}
	found := h.can.res.Concerning(tool)
	if found.Failed() {
		var b bytes.Buffer
		if diag.WriteJSON(&b, found, h.can.res.Files) == nil {
			out.Findings = bytes.TrimSpace(b.Bytes())
		}
	}
	return out
}

// maxRenewals bounds how often a configuration is read that changes meanwhile.
const maxRenewals = 10

// renew has the host of the starts read the configuration that the answers are by. Where it changes meanwhile, both
// read it again.
func (h *serveHost) renew() error {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.read = nil
	for range maxRenewals {
		if err := h.host.Reload(); err != nil {
			return err
		}
		if !h.can.inputs.changed() {
			h.read, h.at = h.can.res, time.Now()
			return nil
		}
		time.Sleep(tick) // a file that has just been written counts as changed
		if err := h.can.reload(); err != nil {
			return err
		}
	}
	return errors.New("the configuration changes all the time")
}

// Decide implements serve.Host.
func (h *serveHost) Decide(op *serve.Operation) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]string{op.Ruleset, op.Tool}
	s := h.decide[key]
	if s == nil {
		res, in, err := h.g.compileWatched()
		if err != nil {
			return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
		}
		s = &decideStream{c: &decideCmd{Ruleset: op.Ruleset, Tool: op.Tool, Operation: "execute"}, g: h.g}
		if err := s.use(res, in); err != nil {
			return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
		}
		if len(h.decide) >= maxDecided {
			clear(h.decide)
		}
		h.decide[key] = s
	}
	d, err := s.decide(decideLine{Command: op.Command, Cwd: op.Cwd, Operation: op.Operation, Paths: op.Paths, URL: op.URL, Shell: op.Shell})
	if err != nil {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "decide: " + err.Error()}
	}
	return d, nil
}

// maxDecided bounds the pairs of a ruleset and a tool that are kept for decide.
const maxDecided = 64

// Start implements serve.Host.
func (h *serveHost) Start(s *serve.Start) (serve.Process, error) {
	process, err := h.start(s)
	if process == nil {
		closeFiles(s.Streams[:])
	}
	return process, err
}

func (h *serveHost) start(s *serve.Start) (serve.Process, error) {
	h.mu.Lock()
	err := h.allowed(s)
	h.starting.RLock()
	defer h.starting.RUnlock()
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return h.startHere(s)
}

// allowed checks that a tool may be started for a client.
func (h *serveHost) allowed(s *serve.Start) error {
	if err := h.fresh(s.Tool, true); err != nil {
		return err
	}
	t, err := findTool(h.can.res.Program, s.Tool)
	if err == nil {
		err = h.unreachable(t)
	}
	if err != nil {
		return &serve.Error{Reason: serve.NotStarted, Text: err.Error(), Status: start.CodeFailed}
	}
	return nil
}

// unreachable refuses a tool that could connect to the socket of this server, or put another in its place.
// See decision D238.
func (h *serveHost) unreachable(t *ir.Tool) error {
	if h.socket == "" {
		return nil
	}
	facts := h.can.res.Facts(t)
	view := ir.NewView(t, hostfacts.Platform(), facts)
	for _, c := range []ir.Capability{ir.Update, ir.Create, ir.Delete} {
		if view.Decide(ir.Access{Cap: c, On: ir.Direct(facts.Bindings.Locate(filepath.ToSlash(h.socket)))}).Allowed() {
			return fmt.Errorf("the policy of %s grants %s at the socket of this server, %s", t.Name, c, h.socket)
		}
	}
	return nil
}
