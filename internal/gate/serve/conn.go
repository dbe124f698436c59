package serve

import (
	"io"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// The bounds of a connection and of a server.
const (
	maxWaiting = 64  // requests of a connection that are not answered yet
	maxRuns    = 64  // runs of a connection, until they have ended, were waited for, and their output was taken
	maxAllRuns = 256 // runs of all connections
	// grace is how long a tool may take to end when its client is gone.
	grace = 2 * time.Second
)

// conn is one client.
type conn struct {
	server *Server
	lines  lines
	// token is the one that the client must know, empty where the connection itself shows who it is.
	token   string
	greeted bool
	// welcome is called when the client may stay.
	welcome func()

	out     io.Writer
	writing sync.Mutex
	deaf    bool

	queue *queue
	// gone is closed when the connection ends.
	gone chan struct{}

	mu   sync.Mutex
	runs map[int]*run
	last int
	// waiting are the ids that are not answered yet, requests how many are those of requests: the others are
	// for the ends of runs.
	waiting  map[string]idOf
	requests int
	taking   bool

	// starting is held while a tool is started, so that none is when the connection has ended.
	starting sync.Mutex
	over     bool

	work sync.WaitGroup
	once sync.Once
}

// idOf says to which kind of answer an id belongs.
type idOf int

const (
	ofRequest idOf = iota
	ofEnd
)

// serve answers requests until the client is gone, or may not stay.
func (c *conn) serve() {
	defer c.end()
	defer c.lines.drop()
	for {
		m, err := c.lines.next()
		if err != nil {
			return
		}
		if !c.handle(m) {
			return
		}
	}
}

// end ends the connection, and returns when nothing of it is left.
func (c *conn) end() {
	c.stop()
	c.work.Wait()
}

// stop kills the runs of the connection, and waits for their ends. No other begins.
func (c *conn) stop() {
	c.once.Do(func() {
		close(c.gone)
		c.queue.close()
		c.starting.Lock()
		c.over = true
		c.starting.Unlock()
		c.killAll()
	})
}

// send writes a line. A client that reads none holds up its own requests alone.
func (c *conn) send(line []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.deaf {
		return // the rest of a line that was cut off would be read as the beginning of this one
	}
	_, err := c.out.Write(line)
	c.deaf = err != nil // and the reader sees that the client is gone
}

// handle answers a message, or has it answered later. It returns false where the client may not stay.
func (c *conn) handle(m message) bool {
	if m.long {
		c.send(failure(jsonrpc.Sketch(m.line).ID(), errorf(BadLine, "found a line of more than %d bytes", maxLine)))
		return c.greeted
	}
	r, bad := parse(m.line)
	if bad == nil && !c.greeted {
		bad = c.greet(&r)
	} else if bad == nil {
		bad = c.call(&r, m)
		m.files = nil
	}
	closeAll(m.files)
	if bad != nil {
		c.send(failure(r.id, bad))
	}
	return c.greeted
}

// call carries a request out.
func (c *conn) call(r *request, m message) *Error {
	method, ok := methods[r.method]
	switch {
	case !ok && r.method == "hello":
		closeAll(m.files)
		return errorf(NoHello, "hello was said before")
	case !ok:
		closeAll(m.files)
		return errorf(NoMethod, "found the method %q, expected one of %s", r.method, methodNames)
	case len(m.files) > 0 && r.method != "start":
		closeAll(m.files)
		return errorf(Descriptors, "found descriptors with %s; only start takes some", r.method)
	}
	if err := c.expect(r.id, ofRequest); err != nil {
		closeAll(m.files)
		return err
	}
	later, result, err := method(c, r, m)
	if later == nil {
		c.answer(r.id, result, err)
		if x, ok := result.(*started); ok {
			close(x.told)
		}
		return nil
	}
	c.work.Go(func() {
		result, err := later()
		c.answer(r.id, result, err)
	})
	return nil
}

// expect notes that an id will be answered.
func (c *conn) expect(id string, of idOf) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch _, used := c.waiting[id]; {
	case used:
		return errorf(BadRequest, "the id is that of a request which is not answered yet")
	case of == ofRequest && c.requests >= maxWaiting:
		return errorf(Limit, "%d requests are not answered yet", maxWaiting)
	case of == ofRequest:
		c.requests++
	}
	c.waiting[id] = of
	return nil
}

// unexpect takes an id off the list.
func (c *conn) unexpect(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of, ok := c.waiting[id]; ok && of == ofRequest {
		c.requests--
	}
	delete(c.waiting, id)
}

// answer ends a request.
func (c *conn) answer(id string, result any, err *Error) {
	c.unexpect(id)
	if err != nil {
		c.send(failure(id, err))
		return
	}
	c.send(jsonrpc.Answer(id, result))
}
