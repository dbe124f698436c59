package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
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
		await.Until(t, fmt.Sprintf("thread %d ends with the goroutine that kept to it", tid), func() bool {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	if others == 0 {
		t.Error("every goroutine ran on the first thread")
	}
}
