package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
	"github.com/accessc/accessc/test/testbuild"
)

// monotonic is a time that all processes share.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// racer reads files in several threads, by their own names and by symlinks that the host swaps,
// and prints the begin, the end and the read text of each attempt. Each waits for a byte of standard input, or its end.
func racer(files int) {
	const threads, tries = 6, 12
	var next atomic.Int64
	var lines bytes.Buffer
	var mu sync.Mutex
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for i := next.Add(1); i <= int64(files); i = next.Add(1) {
				for try := range tries {
					path := fmt.Sprintf("secrets/f%d", i)
					if try%3 == 2 {
						path = "link"
					}
					begun := monotonic()
					data, err := os.ReadFile(path)
					ended := monotonic()
					if err != nil {
						data = []byte("-")
					}
					mu.Lock()
					fmt.Fprintf(&lines, "%d %d %s\n", begun, ended, strings.TrimSpace(string(data)))
					mu.Unlock()
					_, _ = os.Stdin.Read(make([]byte, 1))
				}
			}
		})
	}
	all.Wait()
	_, _ = os.Stdout.Write(lines.Bytes())
}

// verdict has the user's answers about one file.
type verdict struct {
	// sent is when the first grant was sent, replied when the revocation or refusal was answered;
	// 0 for not yet. once counts the answers that permit one call.
	sent, replied int64
	once          int
	run           bool
}

// user answers the questions of a run until it ends, and revokes grants.
type user struct {
	t       *testing.T
	socket  string
	by      map[string]*verdict
	revoked int
	answers int
	r       *rand.Rand
}

func (u *user) of(path string) *verdict {
	name := filepath.Base(path)
	if u.by[name] == nil {
		u.by[name] = &verdict{}
	}
	return u.by[name]
}

// round answers the questions that wait, and revokes some grants.
func (u *user) round() {
	reply, err := live.Talk(u.socket, live.Request{Command: "list"})
	if err != nil {
		return // the run has ended
	}
	for _, q := range reply.Pending {
		a := []live.Answer{live.Once, live.Run, live.Run, live.No}[u.r.IntN(4)]
		v := u.of(q.Path)
		if !strings.Contains(q.Path, "/secrets/f") {
			u.t.Errorf("asked about %s", q.Path)
		}
		before := monotonic()
		got, err := live.Talk(u.socket, live.Request{Command: "answer", ID: q.ID, Answer: a})
		if err != nil || got.Error != "" {
			continue // the call is gone
		}
		u.answers++
		if a != live.No && v.sent == 0 {
			v.sent = before
		}
		if a == live.No {
			v.replied = monotonic()
		}
		if a == live.Once {
			v.once++
		}
		v.run = v.run || a == live.Run
	}
	for _, g := range reply.Grants {
		if u.r.IntN(3) > 0 {
			continue
		}
		name, _, _ := strings.Cut(g.Rules[0], "  ")
		got, err := live.Talk(u.socket, live.Request{Command: "revoke", ID: g.ID})
		if err == nil && got.Error == "" {
			u.of(name).replied = monotonic()
			u.revoked++
		}
	}
}

// check compares the reads with the user's answers.
func (u *user) check(lines []byte) (reads int) {
	once := map[string]int{}
	for s := bufio.NewScanner(bytes.NewReader(lines)); s.Scan(); {
		var begun, ended int64
		var read string
		if _, err := fmt.Sscan(s.Text(), &begun, &ended, &read); err != nil {
			u.t.Fatalf("%q: %v", s.Text(), err)
		}
		if read == "-" {
			continue
		}
		reads++
		v := u.by[read]
		switch {
		case v == nil:
			u.t.Errorf("read %s, about which nothing was asked", read)
		case v.sent == 0 || ended < v.sent:
			u.t.Errorf("read %s before it was granted", read)
		case v.replied != 0 && begun > v.replied:
			u.t.Errorf("read %s, begun %d ns after the revocation or refusal was answered", read, begun-v.replied)
		case !v.run:
			if once[read]++; once[read] > v.once {
				u.t.Errorf("read %s %d times by %d answers of once", read, once[read], v.once)
			}
		}
	}
	return reads
}

// world makes a workspace for races.
func world(t *testing.T, policy string, files, uid int) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "accessc-race-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	put := func(name, text string, mode os.FileMode) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := testbuild.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("ws/accessc.toml", policy, 0o644)
	put("ws/closed/key", "closed", 0o644)
	put("ws/secrets/never", "never", 0o644)
	for i := range files + 1 {
		put("ws/secrets/f"+strconv.Itoa(i), "f"+strconv.Itoa(i)+"\n", 0o644)
	}
	for _, name := range []string{"home", "state", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"accessc", "probe"} {
		put("bin/"+name, program(t, name), 0o755)
	}
	hand(t, dir, uid)
	return dir, racing(dir, uid)
}

// program is the text of a program of the tests.
func program(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// hand gives a directory to a user.
func hand(t *testing.T, dir string, uid int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && uid != os.Getuid() {
			err = os.Lchown(path, uid, uid)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// racing is the tool under accessc.
func racing(dir string, uid int) *exec.Cmd {
	cmd := exec.Command(filepath.Join(dir, "bin/accessc"), "exec", "--ask", "--no-prompt", "--no-summary", "racer")
	cmd.Dir = filepath.Join(dir, "ws")
	cmd.Env = []string{"HOME=" + dir + "/home", "XDG_STATE_HOME=" + dir + "/state", "PATH=" + dir + "/bin:/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return cmd
}

// TestLiveRaces has a tool read files while the user grants, refuses and revokes, and while
// another program moves files and swaps a symlink between granted, closed and never granted ones. Nothing
// beyond the list is read, nothing before a grant, and nothing that begins after a revocation
// was answered.
func TestLiveRaces(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("needs user notification")
	}
	t.Parallel()
	const each = 500
	files := irtest.Times(10_000)
	users := racers()
	rounds := (files + each - 1) / each
	answers, revoked, reads := 0, 0, 0
	irtest.Race(t, rounds, rounds, func(i int) bool {
		a, r, n := race(t, epoch.Source(epoch.Seed(t), uint64(i)), min(each, files), users[i%len(users)])
		answers, revoked, reads = answers+a, revoked+r, reads+n
		return r > 0 && n > 0
	})
	t.Logf("%d files: %d answers, %d revocations, %d reads", files, answers, revoked, reads)
}

// racers are the users as whom tools race: one without privileges where there is a choice, and root as well in a full run.
func racers() []int {
	const nobody = 65534
	switch {
	case os.Getuid() != 0:
		return []int{os.Getuid()}
	case irtest.Full():
		return []int{0, nobody}
	default:
		return []int{nobody}
	}
}

func race(t *testing.T, r *rand.Rand, files, uid int) (answers, revoked, reads int) {
	t.Helper()
	dir, cmd := world(t, `[tools.racer]
source = "local"
command = "probe race=`+strconv.Itoa(files)+`"
access.fs = [{ path = ".", read = true }, { path = "secrets" }, { path = "closed" }]
access.may = [{ path = "secrets", read = true }, { path = "secrets/never" }]
`, files, uid)
	u := &user{t: t, by: map[string]*verdict{}, r: r}
	turns := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() { swap(dir, files, turns) })
	out := u.during(dir, cmd, func() {
		u.round()
		select {
		case turns <- struct{}{}:
		default: // it is at work
		}
	})
	close(turns)
	swaps.Wait()
	return u.answers, u.revoked, u.check(out)
}

// during runs a tool under accessc, calls round until it ends, and returns its output. The tool, which waits for a byte
// before each of its attempts, gets some whenever it has had the last ones.
func (u *user) during(dir string, cmd *exec.Cmd, round func()) []byte {
	u.t.Helper()
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	read, write, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	defer write.Close()
	cmd.Stdin = read
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	u.find(filepath.Join(dir, "state/accessc/live"), ended)
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		default:
			round()
			if n, err := unix.IoctlGetInt(int(read.Fd()), unix.TIOCINQ); err == nil && n == 0 {
				_, _ = write.Write(make([]byte, 1+u.r.IntN(8)))
			}
		}
	}
	_ = read.Close()
	if !cmd.ProcessState.Success() {
		u.t.Fatalf("%v: %s", cmd.ProcessState, messages.String())
	}
	return out.Bytes()
}

// find waits for the socket of the run.
func (u *user) find(dir string, ended <-chan struct{}) {
	await.Until(u.t, "the tool is running", func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		found, _ := filepath.Glob(dir + "/*.sock")
		if len(found) == 1 {
			u.socket = found[0]
		}
		return len(found) == 1
	})
}

// swap has a symlink lead to one file after another, and moves files to where no rule permits
// anything, and back, whenever it is its turn.
func swap(dir string, files int, turns <-chan struct{}) {
	link, next := filepath.Join(dir, "ws/link"), filepath.Join(dir, "ws/.next")
	i := 0
	for range turns {
		targets := []string{"closed/key", "secrets/never", fmt.Sprintf("secrets/f%d", i%files+1)}
		_ = os.Symlink(targets[i%len(targets)], next)
		_ = os.Rename(next, link)
		file := "f" + strconv.Itoa(i%files+1)
		_ = os.Rename(filepath.Join(dir, "ws/secrets", file), filepath.Join(dir, "ws/closed", file))
		_ = os.Rename(filepath.Join(dir, "ws/closed", file), filepath.Join(dir, "ws/secrets", file))
		i++
	}
}
