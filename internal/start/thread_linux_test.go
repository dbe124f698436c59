package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKeepThread: on another thread than the one on which the process began, a goroutine keeps to its thread also
// while packages are initialised: the thread ends with it.
func TestKeepThread(t *testing.T) {
	initialising = true
	defer func() { initialising = false }()
	// While all are on threads of their own, at most one is on the first thread.
	const goroutines = 20
	var apart, over sync.WaitGroup
	apart.Add(goroutines)
	kept := make(chan int, goroutines)
	for range goroutines {
		over.Go(func() {
			runtime.LockOSThread()
			apart.Done()
			apart.Wait()
			runtime.UnlockOSThread()
			keepThread()
			kept <- unix.Gettid()
		})
	}
	over.Wait()
	close(kept)
	others := 0
	for tid := range kept {
		if tid == unix.Getpid() {
			continue
		}
		others++
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("thread %d runs on after a goroutine that kept to it has ended", tid)
			}
		}
	}
	if others == 0 {
		t.Error("every goroutine ran on the first thread")
	}
}
