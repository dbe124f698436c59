package supervisor

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// heldProgram and heldTracer have this test's program be one that cannot go on to start another program, and its tracer.
const (
	heldProgram = "held-program"
	heldTracer  = "held-tracer"
)

// holdsFor is how long the tracer leaves it so.
const holdsFor = 10 * time.Second

// Packages are initialised on the first thread, which is the tracer of what it starts.
func init() {
	if len(os.Args) != 2 {
		return
	}
	switch os.Args[1] {
	case heldTracer:
		program := exec.Command(os.Args[0], heldProgram)
		program.Env = []string{"GODEBUG=asyncpreemptoff=1"} // a traced thread stops at every signal
		program.Stdout = os.Stdout
		_ = program.Start()
		time.Sleep(holdsFor)
		_ = program.Process.Kill()
		os.Exit(0)
	case heldProgram:
		traced := make(chan int)
		go func() {
			runtime.LockOSThread()
			_, _, _ = unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
			traced <- unix.Gettid()
			_ = unix.Pause()
		}()
		fmt.Println(os.Getpid(), <-traced)
		_ = unix.Exec("/bin/true", []string{"true"}, nil)
		os.Exit(1)
	}
}

// TestSeizeWaits: while a thread waits to seize another one, whose process starts a program and has to wait for its tracer, the other
// threads of this process go on, also where the Go runtime stops them all for a moment.
func TestSeizeWaits(t *testing.T) {
	tracer := exec.Command(os.Args[0], heldTracer)
	out, err := tracer.StdoutPipe()
	if err == nil {
		err = tracer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = tracer.Process.Kill()
		_ = tracer.Wait()
	}()
	var process, ended int
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscan(line, &process, &ended); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	waitUntil(t, "the thread has ended", func() bool { return strings.HasPrefix(status(ended, "State"), "Z") })
	seizing, seized := make(chan int, 1), make(chan struct{})
	go func() {
		defer close(seized)
		runtime.LockOSThread() // not unlocked: what it traces is released when it ends
		seizing <- unix.Gettid()
		ptrace(unix.PTRACE_SEIZE, process, 0, 0)
	}()
	thread := <-seizing
	waitUntil(t, "the wait begins", func() bool { return strings.HasPrefix(status(thread, "State"), "S") })
	begin := time.Now()
	runtime.GC()
	if took := time.Since(begin); took > holdsFor/2 {
		t.Errorf("all threads waited %v for the one that seizes", took)
	}
	_ = tracer.Process.Kill()
	<-seized
}

// waitUntil looks until something holds, for half of holdsFor at most.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(holdsFor / 2); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
