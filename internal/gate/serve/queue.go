package serve

import (
	"encoding/json"
	"sync"
)

// queue holds the events of a connection that its client has not taken yet. Where it is full, the goroutine that
// has an event waits: the tool's output stays in its pipe, and in the end the tool waits to write. Refusals
// collect in package sandbox, which bounds them for each run.
// See decision D238.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	events  []json.RawMessage
	bytes   int
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// The bounds of the events that wait, and of those in one answer.
const (
	maxEvents     = 256
	maxEventBytes = 1 << 20
)

// put adds an event. It waits until there is room, and drops the event when the connection is gone.
func (q *queue) put(event any) {
	data, err := json.Marshal(event)
	if err != nil {
		return // every event has a JSON form
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.events) > 0 && (len(q.events) >= maxEvents || q.bytes+len(data) > maxEventBytes) {
		q.changed.Wait()
	}
	if q.closed {
		return
	}
	q.events, q.bytes = append(q.events, data), q.bytes+len(data)
	q.changed.Broadcast()
}

// take returns all events, and waits until there is one. ok is false when the connection is gone.
func (q *queue) take() (events []json.RawMessage, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.events) == 0 {
		q.changed.Wait()
	}
	events, q.events, q.bytes = q.events, nil, 0
	q.changed.Broadcast()
	return events, len(events) > 0
}

// close lets no one wait any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
