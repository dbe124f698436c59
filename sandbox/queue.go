package sandbox

import (
	"container/list"
	"iter"
	"sync"
)

// told is something that a supervisor tells of a run: a refusal, or a question that has come or gone.
type told struct {
	line     []byte
	question *Question
}

// queue has events for a reader that may be slow. The refusals of a run are bounded by the supervisor, and so are the questions
// that wait at a time: one that has gone leaves the queue with its end, if the reader has not come to it.
// See decision D238.
type queue struct {
	mu   sync.Mutex
	told *list.List
	// asked are the questions in the queue, by their numbers.
	asked map[int]*list.Element
	more  chan struct{}
}

func newQueue() *queue {
	return &queue{told: list.New(), asked: map[int]*list.Element{}, more: make(chan struct{}, 1)}
}

func (q *queue) put(t told) {
	q.mu.Lock()
	switch {
	case t.question == nil:
		q.told.PushBack(t)
	case t.question.waits:
		q.asked[t.question.ID] = q.told.PushBack(t)
	case q.asked[t.question.ID] != nil:
		q.told.Remove(q.asked[t.question.ID])
		delete(q.asked, t.question.ID)
	default:
		q.told.PushBack(t)
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next takes an event from the queue.
func (q *queue) next() (t told, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := q.told.Front()
	if first == nil {
		return told{}, false
	}
	t = q.told.Remove(first).(told)
	if t.question != nil && t.question.waits {
		delete(q.asked, t.question.ID)
	}
	return t, true
}

// all takes the events that are there and those that come meanwhile, one after the other.
func (q *queue) all() iter.Seq[told] {
	return func(yield func(told) bool) {
		for t, ok := q.next(); ok && yield(t); t, ok = q.next() {
		}
	}
}
