package serve

import (
	"crypto/subtle"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// method carries a request out. Where later is not nil it is called beside the requests that follow, and
// has the result.
type method func(c *conn, r *request, m message) (later func() (any, *Error), result any, err *Error)

// methods are those after hello. An init function breaks the circle of the list and its errors.
var (
	methods     map[string]method
	methodNames string
)

func init() {
	methods = map[string]method{
		"can": can, "decide": decide, "start": begin, "wait": wait, "events": events,
		"write": write, "signal": signal, "answer": answer, "revoke": revoke,
	}
	methodNames = strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
}

type empty struct{}

type helloResult struct {
	Version int `json:"version"`
	About
	Methods []string       `json:"methods"`
	Limits  map[string]int `json:"limits"`
}

// greet checks the first request.
func (c *conn) greet(r *request) *Error {
	var p struct {
		Versions []int  `json:"versions"`
		Token    string `json:"token"`
	}
	if r.method != "hello" {
		return errorf(NoHello, "expected hello before %q", r.method)
	}
	if err := r.into(&p); err != nil {
		return err
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(p.Token), []byte(c.token)) != 1:
		return errorf(BadToken, "the token is not that of this server")
	case !slices.Contains(p.Versions, Version):
		return errorf(BadVersion, "this server speaks version %d", Version)
	}
	c.greeted, c.lines.known = true, true
	c.welcome()
	c.answer(r.id, helloResult{
		Version, c.server.Host.About(), append([]string{"hello"}, slices.Sorted(maps.Keys(methods))...),
		map[string]int{
			"line": maxLine, "descriptors": maxFiles, "waiting": maxWaiting, "runs": maxRuns, "all_runs": maxAllRuns,
			"events": maxEvents, "event_bytes": maxEventBytes,
		},
	}, nil)
	return nil
}

func can(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var q Question
	if err := r.into(&q); err != nil {
		return nil, nil, err
	}
	a, err := c.server.Host.Can(&q)
	if err != nil {
		return nil, nil, asError(err)
	}
	return nil, a, nil
}

func decide(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var op Operation
	if err := r.into(&op); err != nil {
		return nil, nil, err
	}
	d, err := c.server.Host.Decide(&op)
	if err != nil {
		return nil, nil, asError(err)
	}
	return nil, d, nil
}

// ofRun is the parameter of requests about a run.
type ofRun struct {
	Run int `json:"run"`
}

func (c *conn) ofRun(r *request, p any, id *int) (*run, *Error) {
	if err := r.into(p); err != nil {
		return nil, err
	}
	return c.run(*id)
}

type waitResult struct {
	Run int `json:"run"`
	Status
}

func wait(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var p ofRun
	x, err := c.ofRun(r, &p, &p.Run)
	if err != nil {
		return nil, nil, err
	}
	return func() (any, *Error) {
		<-x.ended
		c.waited(x)
		return waitResult{x.id, x.status}, nil
	}, nil, nil
}

type eventsResult struct {
	Events []json.RawMessage `json:"events"`
}

func events(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	if err := r.into(&empty{}); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taking {
		return nil, nil, errorf(Limit, "a request for events is not answered yet")
	}
	c.taking = true
	return func() (any, *Error) {
		taken, ok := c.queue.take()
		c.mu.Lock()
		c.taking = false
		c.mu.Unlock()
		if !ok {
			return nil, errorf(Internal, "the server ends")
		}
		return eventsResult{taken}, nil
	}, nil, nil
}

func write(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var p struct {
		ofRun
		Text string `json:"data"`
		End  bool   `json:"end"`
	}
	x, err := c.ofRun(r, &p, &p.Run)
	if err != nil {
		return nil, nil, err
	}
	later, err := c.write(x, p.Text, p.End)
	return later, nil, err
}

func signal(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var p struct {
		ofRun
		Signal string `json:"signal"`
	}
	x, err := c.ofRun(r, &p, &p.Run)
	if err != nil {
		return nil, nil, err
	}
	sig, ok := signals[p.Signal]
	switch {
	case p.Signal == "KILL":
		x.process.Kill()
	case !ok:
		return nil, nil, errorf(BadParams, "found the signal %q, expected KILL or one of %s", p.Signal, strings.Join(slices.Sorted(maps.Keys(signals)), ", "))
	default:
		if err := x.process.Signal(sig); err != nil {
			return nil, nil, errorf(NoRun, "run %d: %v", x.id, err)
		}
	}
	return nil, empty{}, nil
}

func answer(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var p struct {
		ofRun
		Question int    `json:"question"`
		Answer   string `json:"answer"`
	}
	x, err := c.ofRun(r, &p, &p.Run)
	if err != nil {
		return nil, nil, err
	}
	return func() (any, *Error) { return said(x.process.Answer(p.Question, p.Answer)) }, nil, nil
}

func revoke(c *conn, r *request, _ message) (func() (any, *Error), any, *Error) {
	var p struct {
		ofRun
		Grant int `json:"grant"`
	}
	x, err := c.ofRun(r, &p, &p.Run)
	if err != nil {
		return nil, nil, err
	}
	return func() (any, *Error) { return said(x.process.Revoke(p.Grant)) }, nil, nil
}

// said is the result of a request that has none but an error.
func said(err error) (any, *Error) {
	if err != nil {
		return nil, &Error{Reason: NoRun, Text: err.Error()}
	}
	return empty{}, nil
}
