package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKeepThread: on another thread than the one on which the process began, a goroutine keeps to its thread also
// while packages are initialised: the thread ends with it.
func TestKeepThread(t *testing.T) {
	initialising = true
	defer func() { initialising = false }()
	others := 0
	for range 100 {
		thread := make(chan int)
		go func() {
			KeepThread()
			thread <- unix.Gettid()
		}()
		tid := <-thread
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
		t.Skip("every goroutine ran on the first thread")
	}
}
