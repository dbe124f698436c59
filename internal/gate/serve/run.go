package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// run is a tool that a connection has started.
type run struct {
	id      int
	process Process
	// ended is closed when status is there.
	ended  chan struct{}
	status Status
	// input gets the bytes that the client writes to the tool's standard input, nil where it does not.
	input chan input
	gone  chan struct{}
	// pipes are the server's ends.
	pipes []*os.File
	// open counts the streams and events that the client has not seen the end of. over is true when the client knows the
	// end, and quiet is closed then. The lock of the connection is held for them, and where a piece is put into input.
	open  int
	over  bool
	quiet chan struct{}
	// end is the id that the end is answered with, empty for none; not before told is closed, when the start was answered.
	end  string
	told chan struct{}
}

// startParams are those of start.
type startParams struct {
	Tool    string            `json:"tool"`
	Args    []string          `json:"args"`
	Command []string          `json:"command"`
	Call    json.RawMessage   `json:"call"`
	Dir     string            `json:"dir"`
	Env     map[string]string `json:"env"`
	Session string            `json:"session"`
	Ask     bool              `json:"ask"`
	Events  bool              `json:"events"`
	Stdin   string            `json:"stdin"`
	Stdout  string            `json:"stdout"`
	Stderr  string            `json:"stderr"`
	Wait    json.RawMessage   `json:"wait"`
}

// The kinds of a standard descriptor.
const (
	streamNull       = "null"
	streamData       = "data"
	streamDescriptor = "descriptor"
)

// started is the result of a start.
type started struct {
	Run  int           `json:"run"`
	PID  int           `json:"pid"`
	told chan struct{} // is closed when the client was told
}

func begin(c *conn, r *request, m message) (func() (any, *Error), any, *Error) {
	var p startParams
	err := r.into(&p)
	s := &Start{}
	if err == nil {
		err = p.request(s)
	}
	x := &run{ended: make(chan struct{}), gone: c.gone, told: make(chan struct{}), quiet: make(chan struct{})}
	if err == nil {
		err = x.expect(c, p.Wait)
	}
	if err == nil {
		if err = c.server.reserve(c); err != nil {
			c.unexpect(x.end)
		}
	}
	if err != nil {
		closeAll(m.files)
		return nil, nil, err
	}
	if err = x.streams(&p, s, m.files); err == nil {
		err = x.start(c, &p, s)
	}
	if err != nil {
		closeAll(s.Streams[:])
		closeAll(x.pipes)
		c.server.release(1)
		c.unexpect(x.end)
		return nil, nil, err
	}
	return nil, &started{x.id, x.process.PID(), x.told}, nil
}

// expect notes the id that the end of a run is answered with, if the client has given one. It does not count as a
// request that waits: each run has one.
func (x *run) expect(c *conn, wait json.RawMessage) *Error {
	if wait == nil {
		return nil
	}
	if id := strictjson.Raw(wait).Value(); id.Type != strictjson.Number && id.Type != strictjson.String || len(wait) > maxID {
		return errorf(BadParams, "start: expected a number or a text in wait, the id of the answer about the end")
	}
	if err := c.expect(string(wait), ofEnd); err != nil {
		return err
	}
	x.end = string(wait)
	return nil
}

// maxID is the length of the longest id, in bytes: that of a request.
const maxID = 256

// request puts the parameters into a start.
func (p *startParams) request(s *Start) *Error {
	s.Tool, s.Args, s.Command, s.Dir, s.Session, s.Ask = p.Tool, p.Args, p.Command, p.Dir, p.Session, p.Ask
	switch {
	case p.Tool == "":
		return errorf(BadParams, "start: expected a tool")
	case p.Command != nil && len(p.Command) == 0:
		return errorf(BadParams, "start: expected a program in command")
	case p.Dir != "" && !filepath.IsAbs(p.Dir):
		return errorf(BadParams, "start: found the directory %q, expected an absolute path", p.Dir)
	case p.Ask && !p.Events:
		return errorf(BadParams, "start: ask needs events, by which the questions come")
	}
	if p.Env != nil {
		s.Env = []string{}
		for name, value := range p.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
				return errorf(BadParams, "start: found %q in env, which is no variable", name)
			}
			s.Env = append(s.Env, name+"="+value)
		}
	}
	for _, word := range slices.Concat(p.Args, p.Command, []string{p.Dir}) {
		if strings.Contains(word, "\x00") {
			return errorf(BadParams, "start: found a zero byte in a word")
		}
	}
	if p.Call == nil {
		return nil
	}
	call, err := start.ParseCall(p.Call)
	if err != nil {
		return errorf(BadParams, "start: %v", err)
	}
	s.Call = call
	return nil
}

// streams opens the standard descriptors.
func (x *run) streams(p *startParams, s *Start, files []*os.File) *Error {
	kinds := []*string{&p.Stdin, &p.Stdout, &p.Stderr}
	wanted := 0
	for i, k := range kinds {
		switch *k {
		case "":
			*k = streamNull
		case streamDescriptor:
			wanted++
		case streamNull, streamData:
		default:
			closeAll(files)
			return errorf(BadParams, "start: found %q of descriptor %d, expected %s, %s or %s", *k, i, streamNull, streamData, streamDescriptor)
		}
	}
	if wanted != len(files) {
		closeAll(files)
		return errorf(Descriptors, "start: found %d descriptors with the line, and %d in it", len(files), wanted)
	}
	var null *os.File
	for i, k := range kinds {
		var err error
		switch {
		case *k == streamDescriptor:
			s.Streams[i], files = files[0], files[1:]
		case *k == streamNull && null == nil:
			null, err = start.OpenNull(os.O_RDWR)
			s.Streams[i] = null
		case *k == streamNull:
			s.Streams[i] = null
		default:
			err = x.pipe(s, i)
		}
		if err != nil {
			closeAll(files)
			return errorf(Internal, "start: %v", err)
		}
	}
	return nil
}

// pipe makes a standard descriptor whose data the messages carry. The server's end is at place i of pipes.
func (x *run) pipe(s *Start, i int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if x.pipes == nil {
		x.pipes = make([]*os.File, len(s.Streams))
	}
	if i == 0 {
		s.Streams[i], x.pipes[i] = r, w
		return nil
	}
	s.Streams[i], x.pipes[i] = w, r
	return nil
}

// start starts the tool, and the goroutines that carry its streams and events.
func (x *run) start(c *conn, p *startParams, s *Start) *Error {
	c.starting.Lock()
	defer c.starting.Unlock()
	if c.over {
		return errorf(Internal, "the server ends")
	}
	c.register(x)
	if p.Events {
		s.Tell = func(kind string, what any) {
			e := event{Event: kind, Run: x.id}
			if kind == Refused {
				e.Refusal = what
			} else {
				e.Question = what
			}
			c.queue.put(e)
		}
	}
	process, err := c.server.Host.Start(s)
	s.Streams = [3]*os.File{} // they are the host's
	if err != nil {
		c.forget(x)
		return asError(err)
	}
	x.process = process
	if x.pipes != nil {
		x.carry(c)
	}
	c.opens(x)
	c.work.Go(func() { c.attend(x, p.Events) })
	return nil
}

// attend waits for the end of a run and tells of it, on one goroutine: to wake another one for the answer takes as long
// as to answer.
func (c *conn) attend(x *run, events bool) {
	x.status = x.process.Wait()
	close(x.ended)
	if x.end != "" {
		c.waited(x)
	}
	if !events {
		c.closes(x) // there is room for another run when the client hears of this end
	}
	if x.end != "" {
		<-x.told
		c.answer(x.end, waitResult{x.id, x.status}, nil)
	}
	if events {
		c.queue.put(event{Event: "ended", Run: x.id, Status: &x.status})
		c.closes(x)
	}
}

// event is one line of a tool's story.
type event struct {
	Event    string `json:"event"`
	Run      int    `json:"run"`
	Stream   string `json:"stream,omitempty"`
	Data     string `json:"data,omitempty"`
	End      bool   `json:"end,omitempty"`
	Refusal  any    `json:"refusal,omitempty"`
	Question any    `json:"question,omitempty"`
	*Status
}

// register gives a run its number.
func (c *conn) register(x *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	x.id = c.last
	c.runs[x.id] = x
}

func (c *conn) forget(x *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, x.id)
}

// run is the run of a number. See decision D238.
func (c *conn) run(id int) (*run, *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.runs[id]; x != nil && !x.over {
		return x, nil
	}
	return nil, noRun(id)
}

func noRun(id int) *Error { return errorf(NoRun, "this connection has no run %d", id) }

// waited lets a run be forgotten whose end the client knows, as soon as it has its events.
func (c *conn) waited(x *run) {
	c.mu.Lock()
	last := !x.over && x.open == 0
	if !x.over {
		x.over = true
		close(x.quiet)
	}
	c.mu.Unlock()
	c.leave(x, last)
}

// opens counts a stream of a run, or its events.
func (c *conn) opens(x *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.open++
}

// closes counts one that the client has seen the end of.
func (c *conn) closes(x *run) {
	c.mu.Lock()
	x.open--
	last := x.over && x.open == 0
	c.mu.Unlock()
	c.leave(x, last)
}

// leave forgets a run of which the client knows everything.
func (c *conn) leave(x *run, last bool) {
	if last {
		c.forget(x)
		c.server.release(1)
	}
}

// killAll ends all tools of the connection.
func (c *conn) killAll() {
	c.mu.Lock()
	var all []*run
	for _, x := range c.runs {
		if x.process != nil {
			all = append(all, x)
		}
	}
	c.mu.Unlock()
	var ends sync.WaitGroup
	for _, x := range all {
		ends.Go(func() {
			_ = x.process.Signal(terminate)
			select {
			case <-x.ended:
			case <-time.After(grace):
				x.process.Kill()
				<-x.ended
			}
			closeAll(x.pipes) // another process may hold their other ends
			c.waited(x)
		})
	}
	ends.Wait()
}
