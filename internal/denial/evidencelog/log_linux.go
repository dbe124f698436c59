package evidencelog

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/visible"
)

// Options are the settings of a run's log.
type Options struct {
	// File is open for reading and appending, and Counter the path of its counter.
	File    *os.File
	Counter string
	// Tool and Policy are as in Line.
	Tool, Policy string
	// Required has every line be in the file before the operation goes on. Failed is called at the first line that
	// cannot be written: with Required the tool must not go on.
	Required bool
	Failed   func(error)
	// Sign, if not nil, makes a signature of the root of the run: a JSON value.
	Sign func(Root) (json.RawMessage, error)
	// Most bounds the operations of the run in bytes, 0 for MostRun.
	Most int64
}

// MostRun is the bound of the operations of a run, in bytes; some 400,000 of them.
const MostRun = 256 << 20

// Bounds on what waits to be written: bytes, time, and changes of grants, which the user makes.
const (
	maxWaiting = 64 << 10
	maxWait    = time.Second
	maxRules   = 1024
	maxGrants  = 10_000
)

// Log is the part of a run in an evidence log. It is safe for concurrent use.
type Log struct {
	o     Options
	mu    sync.Mutex
	chain chain
	// head begins every line of the run.
	head  []byte
	begun time.Time
	// n is the number of the next line; waiting are lines without their last member, ends where they end.
	n       int64
	waiting []byte
	ends    []int
	timer   *time.Timer
	// size is the size of the operations, dropped the lines that are missing, said those that the log says so of.
	size, dropped, said int64
	allowed, denied     int64
	grants              int
	failed, over        bool
}

// New prepares the log of a run. The file must be regular, and empty or an evidence log.
func New(o Options) (*Log, error) {
	if o.Most == 0 {
		o.Most = MostRun
	}
	l := &Log{o: o, begun: time.Now()}
	run := rand.Text()
	l.head = appendString([]byte(`{"evidence_log":`+strconv.Itoa(Version)+`,"run":`), run)
	l.head = appendString(append(l.head, `,"tool":`...), o.Tool)
	l.head = appendString(append(l.head, `,"policy":`...), o.Policy)
	l.head = append(l.head, `,"n":`...)
	var err error
	l.chain, err = open(o.File, o.Counter)
	return l, err
}

// Begin writes the first line. The tool must not start if that fails.
func (l *Log) Begin(b Begin) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(time.Hour, l.late)
	l.timer.Stop()
	err := l.chain.begin(func(serial int64) ([]byte, []int) {
		b.Serial = serial
		l.put("begin", b)
		return l.waiting, l.ends
	})
	l.over = err != nil
	l.waiting, l.ends = nil, nil
	return err
}

// Operation writes a judged operation.
func (l *Log) Operation(d *denial.Denial) {
	o := of(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if l.size >= l.o.Most {
		l.lose(1, errFull)
		return
	}
	l.admit()
	start := len(l.waiting)
	l.line("operation", func(b []byte) []byte { return appendOperation(b, &o) })
	l.size += int64(len(l.waiting) - start)
	if o.Allowed {
		l.allowed++
	} else {
		l.denied++
	}
	if l.o.Required || !o.Allowed || len(l.waiting) >= maxWaiting {
		_ = l.flush()
	} else if len(l.ends) == 1 {
		l.timer.Reset(maxWait)
	}
}

var errFull = errors.New("the run has written as much as one may")

// Change writes a change of grants. The user causes it, up to a bound.
func (l *Log) Change(g Grants) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if l.grants++; l.grants > maxGrants {
		l.lose(1, errFull)
		return
	}
	l.admit()
	l.put("grants", g)
	_ = l.flush()
}

// End writes the last line, synchronises the file and closes it.
func (l *Log) End(e End) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	_ = l.flush()
	l.admit()
	e.Allowed, e.Denied, e.Dropped = l.allowed, l.denied, l.dropped
	l.put("end", e)
	err := l.flush()
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
	}
	if err == nil && l.o.Sign != nil {
		err = l.sign()
	}
	return errors.Join(err, l.chain.close())
}

// sign writes the signature of the run's last line behind it.
func (l *Log) sign() error {
	var head struct{ Run, Policy string }
	if err := json.Unmarshal(append(append([]byte{}, l.head...), "0}"...), &head); err != nil {
		return err
	}
	text, err := l.o.Sign(Root{head.Run, head.Policy, l.chain.serial, l.n, l.chain.last})
	if err != nil {
		return err
	}
	l.put("signature", text)
	return l.flush()
}

// late writes what has waited.
func (l *Log) late() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		_ = l.flush()
	}
}

// admit says how many lines were lost, before the next.
func (l *Log) admit() {
	if n := l.dropped - l.said; n > 0 {
		l.said = l.dropped
		l.put("dropped", Dropped{n})
	}
}

// lose counts lines that are missing.
func (l *Log) lose(n int64, why error) {
	l.dropped += n
	if !l.failed {
		l.failed = true
		if l.o.Failed != nil {
			l.o.Failed(fmt.Errorf("a line is missing: %w", why))
		}
	}
}

func (l *Log) put(event string, member any) {
	// Strings, integers and documents that were read always have a JSON form.
	data, _ := json.Marshal(member)
	l.line(event, func(b []byte) []byte { return append(b, visible.Bytes(data)...) })
}

// line puts a line among the waiting ones, without its last member.
func (l *Log) line(event string, member func([]byte) []byte) {
	b := strconv.AppendInt(append(l.waiting, l.head...), l.n, 10)
	b = l.begun.Add(time.Since(l.begun)).UTC().AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano)
	b = append(append(append(b, `","event":"`...), event...), `","`...)
	b = member(append(append(b, event...), `":`...))
	l.waiting, l.ends = b, append(l.ends, len(b))
	l.n++
}

// flush writes the waiting lines, all of them or none. Lines that cannot be written are lost, and counted.
func (l *Log) flush() error {
	if len(l.ends) == 0 {
		return nil
	}
	err := l.chain.append(l.waiting, l.ends)
	if err != nil {
		l.undo()
		l.lose(int64(len(l.ends)), err)
	}
	l.waiting, l.ends = l.waiting[:0], l.ends[:0]
	if cap(l.waiting) > 4*maxWaiting {
		l.waiting = nil
	}
	return err
}

// undo takes the numbers of the waiting lines back.
func (l *Log) undo() {
	l.n -= int64(len(l.ends))
	start := 0
	for _, end := range l.ends {
		var line Line
		_ = json.Unmarshal(append(append([]byte{}, l.waiting[start:end]...), '}'), &line)
		switch {
		case line.Dropped != nil:
			l.said -= line.Dropped.Count
			l.dropped-- // it is no line that is missing
		case line.Operation != nil && line.Operation.Allowed:
			l.allowed--
		case line.Operation != nil:
			l.denied--
		}
		start = end
	}
}
