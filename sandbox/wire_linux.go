package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/host/maximum"
)

// The host and its helper exchange frames over a stream socket: the length of a document, the document
// as JSON, and with a start the tool's standard descriptors. Both are the same program.

// maxFrame bounds a document, in bytes. An artifact is the largest.
const maxFrame = 64 << 20

// order is a document from the host.
type order struct {
	Kind orderKind `json:"kind"`
	// Run and Plan are numbers that the host gives.
	Run  uint64 `json:"run,omitempty"`
	Plan uint64 `json:"plan,omitempty"`
	// Artifact, Under and Accept are those of a plan.
	Artifact json.RawMessage `json:"artifact,omitempty"`
	Under    maximum.Stamp   `json:"under,omitempty"`
	Accept   []string        `json:"accept,omitempty"`
	Ask      bool            `json:"ask,omitempty"`
	// Request is that of a start, Tells whether the host wants to hear of refusals.
	Request *wanted `json:"request,omitempty"`
	Tells   bool    `json:"tells,omitempty"`
	Signal  int     `json:"signal,omitempty"`
	// Reply is the number of an order whose outcome is awaited: the Answer to a Question, or the revocation of
	// the grant that it has led to.
	Reply    uint64      `json:"reply,omitempty"`
	Question int         `json:"question,omitempty"`
	Answer   live.Answer `json:"answer,omitempty"`
}

type orderKind string

const (
	orderPlan   orderKind = "plan"
	orderStart  orderKind = "start"
	orderSignal orderKind = "signal"
	orderAnswer orderKind = "answer"
	orderRevoke orderKind = "revoke"
	// orderLeave is the last one: the host removes everything itself.
	orderLeave orderKind = "leave"
)

// wanted is the part of a start.Request that a host chooses.
type wanted struct {
	// Name and Mark are the identity of the run, by which the host finds its remains after the end of the helper.
	Name string `json:"name"`
	Mark string `json:"mark,omitempty"`

	Program []byte  `json:"program,omitempty"`
	Args    texts   `json:"args,omitempty"`
	Call    carried `json:"call"`
	// Environ is left out where it is Same, that of the start before.
	Environ texts  `json:"environ,omitempty"`
	Same    bool   `json:"same,omitempty"`
	Dir     []byte `json:"dir"`
}

// identity is that of the run.
func (w *wanted) identity() start.Identity {
	id := start.Identity{Name: w.Name}
	if m, ok := supervisor.ParseMark(w.Mark); ok {
		id.Mark = m
	}
	return id
}

// news is a document from the helper.
type news struct {
	Kind newsKind `json:"kind"`
	Run  uint64   `json:"run,omitempty"`
	// Soft and Hard are the limit of open files that the host was started with, Shares whether the
	// helper can tell the processes of several tools apart.
	Soft   uint64 `json:"soft,omitempty"`
	Hard   uint64 `json:"hard,omitempty"`
	Shares bool   `json:"shares,omitempty"`
	PID    int    `json:"pid,omitempty"`
	// Code, Text and Gaps are those of a start that failed.
	Code int         `json:"code,omitempty"`
	Text string      `json:"text,omitempty"`
	Gaps []start.Gap `json:"gaps,omitempty"`
	Line []byte      `json:"line,omitempty"`
	// Live is an event of a run in which operations can be granted, Reply the order that Text is the
	// outcome of.
	Live  *live.Event `json:"live,omitempty"`
	Reply uint64      `json:"reply,omitempty"`
	End   *start.Ended
}

type newsKind string

const (
	newsHello   newsKind = "hello"
	newsStarted newsKind = "started"
	newsFailed  newsKind = "failed"
	newsRefused newsKind = "refused"
	newsEnded   newsKind = "ended"
	newsLive    newsKind = "live"
	newsReply   newsKind = "reply"
	// newsWorn says that calls of tools that have ended still hold threads of the helper: it should
	// get no more tools.
	newsWorn newsKind = "worn"
)

// wire is one end.
type wire struct {
	conn  *net.UnixConn
	write sync.Mutex
}

// frameHead is the length of a document.
const frameHead = 4

var errFrame = errors.New("sandbox: not a frame")

// send writes a document and descriptors.
func (w *wire) send(doc any, fds ...int) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return errors.New("sandbox: the request is too large")
	}
	frame := append(binary.LittleEndian.AppendUint32(make([]byte, 0, frameHead+len(body)), uint32(len(body))), body...)
	var rights []byte
	if len(fds) > 0 {
		rights = syscall.UnixRights(fds...)
	}
	w.write.Lock()
	defer w.write.Unlock()
	n, _, err := w.conn.WriteMsgUnix(frame, rights, nil)
	for err == nil && n < len(frame) {
		var more int
		more, err = w.conn.Write(frame[n:])
		n += more
	}
	return err
}

// receive reads a document, and the descriptors that come with its head.
func (w *wire) receive(doc any) ([]int, error) {
	var head [frameHead]byte
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, _, _, err := w.conn.ReadMsgUnix(head[:], oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	var fds []int
	if err == nil && oobn > 0 {
		fds, err = rightsOf(oob[:oobn])
	}
	if err == nil && n < len(head) {
		_, err = io.ReadFull(w.conn, head[n:])
	}
	size := binary.LittleEndian.Uint32(head[:])
	if err == nil && size > maxFrame {
		err = errFrame
	}
	var body []byte
	if err == nil {
		body = make([]byte, size)
		_, err = io.ReadFull(w.conn, body)
	}
	if err == nil {
		err = json.Unmarshal(body, doc)
	}
	if err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

func rightsOf(oob []byte) ([]int, error) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var out []int
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			closeAll(out)
			return nil, err
		}
		out = append(out, fds...)
	}
	return out, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
