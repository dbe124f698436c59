package approvals

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// The tests of this file start their own program again, as one of these.
const (
	writerEnv  = "APPROVALS_TEST_WRITER"  // PATH:NAME:FIRST writes until it is killed
	counterEnv = "APPROVALS_TEST_COUNTER" // PATH:NAME:COUNT counts and approves
)

func TestMain(m *testing.M) {
	if arg := os.Getenv(writerEnv); arg != "" {
		write(split(arg))
	}
	if arg := os.Getenv(counterEnv); arg != "" {
		countUp(split(arg))
	}
	os.Exit(m.Run())
}

// split splits an argument from its end; a path may contain colons.
func split(arg string) (path, name string, n int) {
	rest, number, _ := cutLast(arg)
	path, name, _ = cutLast(rest)
	n, _ = strconv.Atoi(number)
	return path, name, n
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	return s[:max(i, 0)], s[i+1:], i >= 0
}

// again returns the command that starts this program as something else.
func again(t testing.TB, env, path, name string, n int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%s:%d", env, path, name, n))
	cmd.Stderr = os.Stderr
	return cmd
}

// keys is the number of rule paths over which a writer spreads its approvals.
const keys = 20

// write approves numbered targets without end and says so after each one.
func write(path, name string, first int) {
	for n := first; ; n++ {
		rule := fmt.Sprintf("%s/%d", name, n%keys)
		if _, err := Update(path, func(s *Store) error {
			return s.Approve(Mount{rule, fmt.Sprintf("/%d", n), noon, ""})
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// killed is a writer that is started again after each time that it was killed.
type killed struct {
	name string
	next int
	// said is the last number that the writer said was approved, by rule path.
	said map[string]int
}

// round starts the writer, kills it after some acknowledgements and some looks at the store, and notes all of its
// acknowledgements.
func (k *killed) round(t *testing.T, path string, acknowledged, looks int) {
	cmd := again(t, writerEnv, path, k.name, k.next)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewReader(out)
	for i := 0; ; i++ {
		if i == acknowledged {
			for range looks {
				if _, err := Load(path); err != nil {
					t.Error(err)
				}
			}
			_ = cmd.Process.Kill()
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			break // an incomplete line is no acknowledgement
		}
		n, _ := strconv.Atoi(strings.TrimSpace(line))
		k.said[fmt.Sprintf("%s/%d", k.name, n%keys)] = n
		k.next = n + 1
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
		t.Errorf("%s ended by itself: %v", k.name, err)
	}
	// The one that was under way may have been written or not.
	k.next++
}

// TestKill: writers that are killed at any moment leave a complete store with all acknowledged
// approvals, and nothing else in its directory.
func TestKill(t *testing.T) {
	path := newPath(t)
	rounds, seed := irtest.Times(10000), epoch.Seed(t)
	var writers [3]killed
	var wg sync.WaitGroup
	for i := range writers {
		k := &writers[i]
		k.name, k.said = fmt.Sprintf("w%d", i), map[string]int{}
		wg.Go(func() {
			random := epoch.Source(seed, uint64(i))
			for r := i; r < rounds && !t.Failed(); r += len(writers) {
				k.round(t, path, random.IntN(8), random.IntN(30))
				if s, err := Load(path); err != nil {
					t.Errorf("after %d kills: %v", r, err)
				} else {
					k.check(t, s)
				}
			}
		})
	}
	wg.Wait()
	mustUpdate(t, path, approve("last", "/last"))
	if diff := cmp.Diff([]string{filepath.Base(path)}, beside(t, path)); diff != "" {
		t.Errorf("left over: %s", diff)
	}
	total := 0
	for _, k := range writers {
		total += k.next
	}
	fmt.Printf("property %s: %d kills, seed %d\n", t.Name(), rounds, seed)
	t.Logf("%d updates", total)
}

// check compares the writer's acknowledgements with the content of the store: the same, or the
// one update after it that was not yet acknowledged.
func (k *killed) check(t *testing.T, s Store) {
	for rule, n := range k.said {
		m, ok := s.Mount(rule)
		got, _ := strconv.Atoi(strings.TrimPrefix(m.CanonicalTarget, "/"))
		if !ok || got < n || got > k.next {
			t.Errorf("%s was approved for /%d, the store holds %q", rule, n, m.CanonicalTarget)
		}
	}
}

// countUp approves targets for rule paths of its own, and adds one to a number that
// it shares with others each time.
func countUp(path, name string, count int) {
	for i := range count {
		if _, err := Update(path, func(s *Store) error {
			m, _ := s.Mount("counter")
			n, _ := strconv.Atoi(strings.TrimPrefix(m.CanonicalTarget, "/"))
			if err := s.Approve(Mount{RulePath: "counter", CanonicalTarget: fmt.Sprintf("/%d", n+1), ApprovedAt: noon}); err != nil {
				return err
			}
			return s.Approve(Mount{fmt.Sprintf("%s/%d", name, i%keys), fmt.Sprintf("/%d", i), noon, ""})
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// TestConcurrent: eight processes lose no update of each other.
func TestConcurrent(t *testing.T) {
	path := newPath(t)
	const processes = 8
	each := irtest.Times(1000)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			if err := again(t, counterEnv, path, fmt.Sprintf("p%d", i), each).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"counter": fmt.Sprintf("/%d", processes*each)}
	for i := range processes * each {
		want[fmt.Sprintf("p%d/%d", i/each, i%each%keys)] = fmt.Sprintf("/%d", i%each)
	}
	got := map[string]string{}
	for _, m := range s.Mounts() {
		got[m.RulePath] = m.CanonicalTarget
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%d updates: %s", processes*each, diff)
	}
	if diff := cmp.Diff([]string{filepath.Base(path)}, beside(t, path)); diff != "" {
		t.Error(diff)
	}
	fmt.Printf("property %s: %d updates of %d processes\n", t.Name(), processes*each, processes)
}
