//go:build unix

package relay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/test/await"
)

// role names the variable that has a copy of this test play a part.
const role = "RELAY_ROLE"

// roles are the programs behind a relay, and a relay of its own process.
var roles = map[string]func(){
	"echo": func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"deaf": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(os.Getpid())
		stay()
	},
	"seven": func() {
		fmt.Println("last words")
		os.Exit(7)
	},
	"half": func() { fmt.Print("{\"half\":") },
	"slow": func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println("late")
	},
	"orphan": func() {
		// The pipe stays open in a process that outlives the program.
		cmd := play("stays")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err == nil {
			_ = os.WriteFile(os.Getenv(orphanFile), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
		}
	},
	"stays": stay,
	"interrupted": func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGINT) // also where this test ignores it, as in the background of a script
		fmt.Println("ready")
		<-signals
		os.Exit(42)
	},
	"relay": func() {
		r := &Relay{In: os.Stdin, Out: os.Stdout, FromClient: pass, FromServer: pass}
		_, _ = r.Run(play("deaf"), nil)
	},
}

// orphanFile names the variable with the file in which the part orphan leaves the number of its process.
const orphanFile = "RELAY_ORPHAN"

// stay waits until something kills the process.
func stay() {
	in, out, err := os.Pipe()
	if err != nil {
		os.Exit(1)
	}
	_, _ = in.Read(make([]byte, 1))
	_ = out.Close()
}

func TestMain(m *testing.M) {
	if f := roles[os.Getenv(role)]; f != nil {
		f()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play is a copy of this test that plays a part.
func play(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector would wait at the end of each.
	cmd.Env = append(os.Environ(), role+"="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// pass lets whole lines through.
func pass(line []byte, _ *jsonrpc.Outline) (forward, back []byte) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return nil, nil
	}
	return line, nil
}

// run relays to a program that ends by itself, and returns its status and its output.
func run(t *testing.T, name, input string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	r := &Relay{In: strings.NewReader(input), Out: &out, FromClient: pass, FromServer: pass, Patience: time.Hour}
	status, err := r.Run(play(name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return status, out.String()
}

// begin starts a relay and returns its status when it ends.
func begin(r *Relay, cmd *exec.Cmd, signals <-chan os.Signal) <-chan int {
	done := make(chan int, 1)
	go func() {
		status, _ := r.Run(cmd, signals)
		done <- status
	}()
	return done
}

// TestEcho: lines arrive in order and whole, both ways, and the end is the program's.
func TestEcho(t *testing.T) {
	var in strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&in, "%d %s\n", i, strings.Repeat("x", i%300))
	}
	status, out := run(t, "echo", in.String())
	if status != 0 || out != in.String() {
		t.Errorf("got status %d and %d bytes of %d", status, len(out), in.Len())
	}
}

// TestLastWords: the last words of a program arrive, and its status is that of the run.
func TestLastWords(t *testing.T) {
	if status, out := run(t, "seven", ""); status != 7 || out != "last words\n" {
		t.Errorf("got %d, %q", status, out)
	}
	if status, out := run(t, "slow", ""); status != 0 || out != "late\n" {
		t.Errorf("got %d, %q", status, out)
	}
	if _, out := run(t, "half", ""); out != "" {
		t.Errorf("got half a line, %q", out)
	}
}

// TestDeaf: a program that ignores the end of its input and the request to end is killed.
func TestDeaf(t *testing.T) { endDeaf(t, "deaf", func(int) {}) }

// TestOrphan: a process that holds the output of an ended program does not hold the run.
func TestOrphan(t *testing.T) {
	name := filepath.Join(t.TempDir(), "orphan")
	cmd := play("orphan")
	cmd.Env = append(cmd.Env, orphanFile+"="+name)
	in, client := io.Pipe() // does not end by itself
	defer client.Close()
	r := &Relay{In: in, Out: io.Discard, FromClient: pass, FromServer: pass, Patience: 20 * time.Millisecond}
	status, _ := await.Receive(t, "the end of the run", begin(r, cmd, nil))
	text, _ := os.ReadFile(name)
	pid, err := strconv.Atoi(string(text))
	if status != 0 || err != nil {
		t.Fatalf("got %d, %v", status, err)
	}
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Error("the process that holds the output has ended as well")
	}
}

// TestStopped: a stopped program is ended as well, although it takes no signal but one.
func TestStopped(t *testing.T) {
	endDeaf(t, "deaf", func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	})
}

// endDeaf ends the input of a program that ignores the request to end, once it does and after an act on it, and
// expects that the relay kills it.
func endDeaf(t *testing.T, name string, act func(pid int)) {
	t.Helper()
	in, write := io.Pipe()
	pids := make(chan int, 1)
	r := &Relay{In: in, Out: io.Discard, FromClient: pass, Patience: 20 * time.Millisecond}
	r.FromServer = func(line []byte, _ *jsonrpc.Outline) (forward, back []byte) {
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil {
			pids <- pid
		}
		return nil, nil
	}
	done := begin(r, play(name), nil)
	pid, _ := await.Receive(t, "the program", pids)
	act(pid)
	// A relay that took the program for ended would not kill it.
	_ = write.Close()
	if status, _ := await.Receive(t, "the end of the run", done); status != 128+int(syscall.SIGKILL) {
		t.Errorf("got %d", status)
	}
}

// looked tells of the looks at the client's end of a pipe.
type looked struct {
	*os.File
	looks chan struct{}
}

func (l looked) SyscallConn() (syscall.RawConn, error) {
	select {
	case l.looks <- struct{}{}:
	default:
	}
	return l.File.SyscallConn()
}

// TestAbandoned: a program that reads nothing ends with its client, also where more lines wait for it than a pipe takes. The relay
// did not come to the end of the client's lines, and stayed with the program until it was killed. A program that reads, and a client that is there,
// are left alone.
func TestAbandoned(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of the end of a pipe that was not read")
	}
	in, client, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	looks := make(chan struct{})
	r := &Relay{In: looked{in, looks}, Out: io.Discard, FromClient: pass, FromServer: pass}
	r.Patience = 10 * time.Millisecond
	done := begin(r, play("deaf"), nil)
	// One of the lines is on its way, and one stays in the client's pipe.
	for _, size := range []int{100 << 10, 10 << 10} {
		if _, err := client.WriteString(strings.Repeat("x", size) + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		select {
		case status := <-done:
			t.Fatalf("ended with %d before its client did", status)
		case <-looks:
		}
	}
	_ = client.Close()
	status, _ := await.Receive(t, "the end of the run with its client", done)
	if status != 128+int(syscall.SIGKILL) && status != 128+int(syscall.SIGTERM) {
		t.Errorf("got %d", status)
	}
}

// TestSignals: a signal reaches the program and ends the run.
func TestSignals(t *testing.T) {
	in, write := io.Pipe()
	defer write.Close()
	signals := make(chan os.Signal, 1)
	ready := func([]byte, *jsonrpc.Outline) (forward, back []byte) {
		signals <- syscall.SIGINT
		return nil, nil
	}
	r := &Relay{In: in, Out: io.Discard, FromClient: pass, FromServer: ready, Patience: time.Hour}
	if status, err := r.Run(play("interrupted"), signals); err != nil || status != 42 {
		t.Errorf("got %d, %v", status, err)
	}
}

// TestBrokenClient: a client that cannot be written to ends the program.
func TestBrokenClient(t *testing.T) {
	in, write := io.Pipe()
	defer write.Close()
	r := &Relay{In: in, Out: broken{}, FromClient: pass, FromServer: pass, Patience: 20 * time.Millisecond}
	if status, err := r.Run(play("deaf"), nil); err != nil || status == 0 {
		t.Errorf("got %d, %v", status, err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

// TestNotStarted: a program that is not there is an error.
func TestNotStarted(t *testing.T) {
	r := &Relay{In: strings.NewReader(""), Out: io.Discard, FromClient: pass, FromServer: pass}
	if _, err := r.Run(exec.Command(filepath.Join(t.TempDir(), "none")), nil); err == nil {
		t.Error("got no error")
	}
}

// TestKilledRelay: a program does not outlive a relay that is killed.
func TestKilledRelay(t *testing.T) {
	cmd := play("relay")
	if !tied(cmd) {
		t.Skip("this system ties no processes")
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.Until(t, "the program has ended", func() bool {
		// One that has ended may wait for a look of its new parent.
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return syscall.Kill(pid, 0) != nil || bytes.Contains(state, []byte(") Z "))
	})
}

// tied reports whether launch ties programs to its process.
func tied(cmd *exec.Cmd) bool {
	probe := *cmd
	tie(&probe)
	return probe.SysProcAttr != nil
}

// TestLog: entries are lines of one user's file; one that cannot be written is an error.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 2 {
		l, err := OpenLog(path, "a\u202eb")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Add(Entry{Event: EventStart}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l.Add(Entry{Event: EventCall}) == nil {
			t.Error("a closed log took an entry")
		}
	}
	data, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || strings.Count(string(data), "\n") != 2 || !strings.Contains(string(data), `a\u202eb`) || info.Mode().Perm() != 0o600 {
		t.Errorf("got %q, %v", data, err)
	}
	if l, err := OpenLog("", "x"); l != nil || err != nil || l.Add(Entry{}) != nil || l.Close() != nil {
		t.Error("no log is an error")
	}
	if _, err := OpenLog(t.TempDir(), "x"); err == nil {
		t.Error("a directory is a log")
	}
}

// TestLogIsNoPipe: a named pipe is refused, with a reader and without. To open one for writing waits for a reader
// (fifo(7)), so a proxy whose log was one never answered its client.
func TestLogIsNoPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := OpenLog(path, "x"); err == nil || !strings.Contains(err.Error(), "is a named pipe") {
			t.Errorf("got %v", err)
		}
		reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
	}
	// One that takes the place of a file after the look at it is not waited for either.
	if err := syscall.Mkfifo(path+"-late", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.OpenFile(path+"-late", os.O_WRONLY|os.O_CREATE|openFlags, 0o600); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("got %v", err)
	}
}

// TestTornEntry: an entry that was not written whole does not spoil the next one.
func TestTornEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := OpenLog(path, "server")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGXFSZ)
	defer signal.Stop(signals)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	short := limit
	short.Cur = 30 // the size of files of this process, for a moment
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &short); err != nil {
		t.Fatal(err)
	}
	torn := log.Add(Entry{Event: EventCall})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if torn == nil || log.Add(Entry{Event: EventEnd}) != nil {
		t.Fatal("an entry that has no room was written")
	}
	data, _ := os.ReadFile(path)
	lines := strings.Split(string(data), "\n")
	var e Entry
	if len(lines) != 3 || json.Unmarshal([]byte(lines[1]), &e) != nil || e.Event != EventEnd {
		t.Errorf("the log has %q", data)
	}
}
