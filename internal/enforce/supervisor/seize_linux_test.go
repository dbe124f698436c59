package supervisor

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// heldProgram and heldTracer have this test's program be one that cannot go on to start another program, and its tracer.
const (
	heldProgram = "held-program"
	heldTracer  = "held-tracer"
)

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
		_, _ = os.Stdin.Read(make([]byte, 1)) // it holds the program until the test is over, or lets go
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
	if err != nil {
		t.Fatal(err)
	}
	hold, err := tracer.StdinPipe()
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
	await.Until(t, "the thread has ended", func() bool { return strings.HasPrefix(status(ended, "State"), "Z") })
	seizing, seized := make(chan int, 1), make(chan struct{})
	go func() {
		defer close(seized)
		runtime.LockOSThread() // not unlocked: what it traces is released when it ends
		seizing <- unix.Gettid()
		ptrace(unix.PTRACE_SEIZE, process, 0, 0)
	}()
	thread := <-seizing
	await.Until(t, "the wait begins", func() bool { return strings.HasPrefix(status(thread, "State"), "S") })
	// It stops all threads, and would not come back while the tracer holds.
	runtime.GC()
	select {
	case <-seized:
		t.Error("the thread did not wait for the tracer")
	default:
	}
	_ = hold.Close()
	await.Receive(t, "the end of the wait", seized)
}
