package sandbox

import (
	"fmt"
	"strings"
	"testing"
)

// TestQuestionsGone: a question that has gone before the reader came to it leaves nothing, and all else stays in its order. A tool
// that asked and took back without end had the host of a slow reader grow by 17 MB in a second.
func TestQuestionsGone(t *testing.T) {
	q := newQueue()
	question := func(id int, waits bool) { q.put(told{question: &Question{ID: id, waits: waits}}) }
	question(1, true)
	if first, ok := q.next(); !ok || first.question.ID != 1 {
		t.Fatal(first, ok)
	}
	q.put(told{line: []byte("a")})
	question(2, true)
	for id := 3; id < 10_000; id++ {
		question(id, true)
		if id > 3 {
			question(id-1, false)
		}
	}
	q.put(told{line: []byte("b")})
	question(1, false)
	var got []string
	for e := range q.all() {
		if e.question == nil {
			got = append(got, string(e.line))
		} else {
			got = append(got, fmt.Sprint(e.question.ID, e.question.waits))
		}
	}
	if text := strings.Join(got, ","); text != "a,2 true,9999 true,b,1 false" || len(q.asked) != 0 {
		t.Errorf("got %s, %d questions are kept", text, len(q.asked))
	}
	question(2, false)
	if gone, ok := q.next(); !ok || gone.question.waits {
		t.Error("the end of a question that was told is not told", gone, ok)
	}
}
