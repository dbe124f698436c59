package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// Version is the version of the protocol. Within a version members and reasons are added, and nothing
// changes its meaning.
const Version = 1

// Reason tells a client how to go on after an error. The list is closed within a version.
type Reason string

// The reasons.
const (
	BadLine     Reason = "line"        // the line is no message, or too long
	BadRequest  Reason = "request"     // the message is no request of this protocol
	NoMethod    Reason = "method"      // there is no such method
	BadParams   Reason = "params"      // a parameter is missing, unknown or of another type
	NoHello     Reason = "hello"       // the first request has to be hello, and only that
	BadVersion  Reason = "version"     // the server speaks none of the versions
	BadToken    Reason = "token"       // the token is not the server's
	Limit       Reason = "limit"       // there is too much of something; try again when there is less
	Config      Reason = "config"      // the configuration has mistakes, or lacks the tool
	NotStarted  Reason = "not-started" // the tool did not start
	NoRun       Reason = "run"         // this connection has no such run, or it has ended
	Descriptors Reason = "descriptors" // the descriptors are others than the request names
	Internal    Reason = "internal"    // the server could not do it
)

// codes are those of JSON-RPC 2.0, section 5.1, and of the range for implementations.
var codes = map[Reason]int{
	BadLine: jsonrpc.CodeParse, BadRequest: jsonrpc.CodeInvalid, NoMethod: -32601, BadParams: -32602, Internal: -32603,
}

// Error is an error that a client gets.
type Error struct {
	Reason Reason
	Text   string
	// Status is the exit status that a start by accessc exec would have had, 0 for other errors.
	Status int
	// Findings are those of the configuration, as accessc check has them; nil for none.
	Findings json.RawMessage
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

func errorf(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, Text: fmt.Sprintf(format, args...)}
}

// asError is any error as one for a client.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Reason: Internal, Text: err.Error()}
}

// request is a message of a client.
type request struct {
	id, method string
	params     string
}

// parse reads a line. The request has the id also where there is an error, if one can be repeated.
func parse(line []byte) (request, *Error) {
	messages, batch, err := jsonrpc.Parse(line)
	switch {
	case err != nil:
		return request{id: jsonrpc.Sketch(line).ID()}, errorf(BadLine, "%v", err)
	case batch:
		return request{}, errorf(BadRequest, "found a batch, expected one request in a line")
	case len(messages) == 0:
		return request{}, errorf(BadRequest, "found an empty line")
	}
	m := &messages[0]
	r := request{id: m.ID, method: m.Method, params: "{}"}
	members, err := jsonrpc.Members(m.Value)
	if err != nil {
		return r, errorf(BadRequest, "%v", err)
	}
	for name := range members {
		if !strings.Contains(" jsonrpc id method params ", " "+name+" ") {
			return r, errorf(BadRequest, "found %q, expected jsonrpc, id, method and params", name)
		}
	}
	if v, ok := members["jsonrpc"]; ok && (v.Type != strictjson.String || v.Str != "2.0") {
		return r, errorf(BadRequest, `found another "jsonrpc" than "2.0"`)
	}
	if m.ID == "" || members["id"].Type != strictjson.Number && members["id"].Type != strictjson.String {
		r.id = ""
		return r, errorf(BadRequest, "found no id, expected a number or a text")
	}
	if m.Method == "" {
		return r, errorf(BadRequest, "found no method")
	}
	if p, ok := members["params"]; ok {
		if !p.IsObject() {
			return r, errorf(BadParams, "expected an object of params")
		}
		r.params = p.Raw
	}
	return r, nil
}

// into reads the params into a struct of a method.
func (r *request) into(params any) *Error {
	if err := strictjson.Unmarshal([]byte(r.params), params); err != nil {
		return errorf(BadParams, "%s: %v", r.method, err)
	}
	return nil
}

// failure is the line that answers a request with an error.
func failure(id string, e *Error) []byte {
	type data struct {
		Reason   Reason          `json:"reason"`
		Status   int             `json:"status,omitempty"`
		Findings json.RawMessage `json:"findings,omitempty"`
	}
	type body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    data   `json:"data"`
	}
	code, ok := codes[e.Reason]
	if !ok {
		code = jsonrpc.CodeRefused
	}
	written := json.RawMessage("null")
	if id != "" {
		written = json.RawMessage(id)
	}
	return jsonrpc.Line(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   body            `json:"error"`
	}{"2.0", written, body{code, e.Text, data{e.Reason, e.Status, e.Findings}}})
}
