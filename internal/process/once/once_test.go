package once_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/process/once"
)

func TestGet(t *testing.T) {
	var v once.Value[string]
	var made atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got := v.Get(func() string { made.Add(1); return "a" }); got != "a" {
				t.Errorf("%q", got)
			}
		})
	}
	if all.Wait(); made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}
