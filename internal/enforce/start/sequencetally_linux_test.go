package start_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// sequenceTally counts operations.
type sequenceTally struct {
	kinds, ways map[string]int
	// done and not count answers, stricter, by kind, refusals that the ledger announces, masked
	// refusals of calls that would have failed anyway, assumed and replaced the successes and
	// failures that are due to the ledger's assumption that other processes move nothing.
	done, not, masked, assumed, replaced int
	stricter                             map[string]int
	// races counts the races, unknown their operations on a file that no tree has.
	policies, races, flips, unknown int
	// byName are the operations under policies with rules by name.
	byName int
}

func newSequenceTally() *sequenceTally {
	return &sequenceTally{kinds: map[string]int{}, ways: map[string]int{}, stricter: map[string]int{}}
}

func (c *sequenceTally) add(q step, done bool) {
	c.kinds[q.Op]++
	if q.A.How != "" {
		c.ways[q.A.How]++
	}
	if done {
		c.done++
	} else {
		c.not++
	}
}

func (c *sequenceTally) asked() int { return c.done + c.not }

// drawn says which operations there were, which the seed decides.
func (c *sequenceTally) drawn() string {
	return fmt.Sprintf("%d operations under %d policies, %d of the operations with rules by name, %d races, %d flips\n  kinds%s\n  spellings%s",
		c.asked(), c.policies, c.byName, c.races, c.flips, counted(c.kinds), counted(c.ways))
}

// answers says what came of them, on which races have a say.
func (c *sequenceTally) answers() string {
	return fmt.Sprintf("%d done, %d not, of these %d faults said to be refusals; %d done and %d refused where the ledger "+
		"assumes that nothing is moved; %d done in races to unknown files\n  refused though granted, as the ledger says%s",
		c.done, c.not, c.masked, c.assumed, c.replaced, c.unknown, counted(c.stricter))
}

func counted(m map[string]int) string {
	var b bytes.Buffer
	byCount := func(a, b string) int { return cmp.Or(m[a]-m[b], cmp.Compare(a, b)) }
	for _, k := range slices.SortedFunc(maps.Keys(m), byCount) {
		fmt.Fprintf(&b, " %s %d", k, m[k])
	}
	return b.String()
}

// allSteps are the names of all operations.
func allSteps() []string {
	all := slices.Concat(opsOfFile, opsOfDir, opsOfKept, opsOfMeta, opsToMake, opsToMove, opsToKeep, opsStarts, opsRemove, opsOfHost, opsOfRace)
	slices.Sort(all)
	return slices.Compact(all)
}

var sequenceRun = flag.Int("sequence.run", 0, "repeat one run of the sequences of a seed, which ACCESSC_SEED says")

// aboveAll are directories above the tree of a sequence that hold nothing else: a path with
// more ".." than the tree is deep ends in them, not at files of the host, which the expected
// answer does not know.
const aboveAll = "0/0/0/0/0"

// TestSequences has supervised tools and other processes move, link, exchange and replace
// files, and compares every answer with the policy's text and the tree as it then is.
func TestSequences(t *testing.T) {
	t.Parallel()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	needsFiles(t)
	base := filepath.Join(workspace(t), aboveAll)
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	users(t, func(t *testing.T, who identity) {
		seeds := epoch.Seeds(t)
		if *sequenceRun != 0 {
			seeds = seeds[len(seeds)-1:]
		}
		for i, seed := range seeds {
			sequencesOf(t, filepath.Join(base, filepath.Base(t.Name())+strconv.Itoa(i)+"-"), who, seed)
		}
	})
}

// needsFiles skips a test of deep paths or many calls, since the supervisor has a descriptor for every step of a path until
// the call is answered.
func needsFiles(t *testing.T) {
	t.Helper()
	if most := mostFiles(); most < 512 {
		t.Skipf("a supervisor needs more than the %d descriptors that are permitted", most)
	}
}

// sequencesOf makes the runs of a seed.
func sequencesOf(t *testing.T, base string, who identity, seed uint64) {
	least := max(int(500_000*sequenceScale()), 2_500)
	counts := newSequenceTally()
	for run := max(1, *sequenceRun); counts.asked() < least; run++ {
		if err := sequenceOf(t, base+strconv.Itoa(run), who, seed, run, counts); err != nil {
			t.Errorf("run %d of seed %d (ACCESSC_SEED=%d -sequence.run=%d): %v", run, seed, seed, run, err)
			return
		}
		if *sequenceRun != 0 {
			return
		}
	}
	fmt.Printf("property %s: seed %d, %s\n", t.Name(), seed, counts.drawn())
	fmt.Printf("answers %s: %s\n", t.Name(), counts.answers())
	counts.complete(t)
}

// complete fails where an operation was not tried, or a spelling. The first step of every round is of a given kind.
func (c *sequenceTally) complete(t *testing.T) {
	t.Helper()
	if !irtest.Full() && !irtest.Exact() {
		return
	}
	for _, kind := range allSteps() {
		if c.kinds[kind] == 0 {
			t.Errorf("no %s was tried", kind)
		}
	}
	for _, how := range ways {
		if c.ways[how] == 0 {
			t.Errorf("nothing was spelled %s", how)
		}
	}
}

// sequenceScale is 1 at full count, and a hundredth of that every day.
func sequenceScale() float64 {
	const whole = 1_000_000
	f := float64(irtest.Times(whole)) / whole
	return min(f, f*f)
}

// roundsOfRun is how often a tool is given a batch, or has a race.
const roundsOfRun = 60

// sequenceOf makes one run.
func sequenceOf(t *testing.T, dir string, who identity, seed uint64, run int, counts *sequenceTally) error {
	r := epoch.Source(seed, uint64(run))
	s, err := newSequence(dir, who, r, counts)
	if err != nil {
		return err
	}
	s.turn = run * roundsOfRun
	counts.policies++
	if slices.ContainsFunc(s.policy.FS, func(r ir.FSRule) bool { return r.ByName() }) {
		before := counts.asked()
		defer func() { counts.byName += counts.asked() - before }()
	}
	defer s.end()
	if err := s.begin(t); err != nil {
		return err
	}
	for range roundsOfRun {
		if err := s.round(); err != nil {
			return s.report(t, err)
		}
	}
	return nil
}

// report writes down the shortest sequence that is found to fail in the same way.
func (s *sequence) report(t *testing.T, err error) error {
	history := s.shortened(t, err)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v\npolicy:", err)
	for _, r := range s.policy.FS {
		fmt.Fprintf(&b, "\n  %q %v %v", r.At.Path, r.Names, r.Caps)
	}
	fmt.Fprintf(&b, "\n  protected %v %v, late %v", s.policy.Protects, s.policy.Protected, s.policy.LateOpen)
	if s.policy.Commands != nil {
		for _, p := range s.policy.Commands.Rules {
			fmt.Fprintf(&b, "\n  program %s any %v args %v", p.Program, p.AnyArgs, p.Args)
		}
	}
	fmt.Fprintf(&b, "\n  supervised %v, judges %+v\ntree:", s.spec.Supervision.Gaps, s.spec.Supervision.Judges)
	for _, e := range s.laid.top.all()[1:] {
		fmt.Fprintf(&b, "\n  %s %o %s%s", e.path(), e.file.kind, e.file.holds, e.file.target)
	}
	b.WriteString("\nsteps:")
	for _, q := range history {
		data, _ := json.Marshal(q)
		fmt.Fprintf(&b, "\n  %s", data)
	}
	return errors.New(b.String())
}

// shortened leaves steps out as long as the rest fails in the same way.
func (s *sequence) shortened(t *testing.T, failed error) []step {
	history := slices.Clone(s.history)
	kind := func(err error) error {
		for _, k := range []error{errLeak, errStrict, errOther} {
			if errors.Is(err, k) {
				return k
			}
		}
		return nil
	}
	fails := func(list []step) bool {
		s.end()
		if s.begin(t) != nil {
			return false
		}
		err := s.replay(list)
		return err != nil && kind(err) == kind(failed)
	}
	if !fails(history) {
		return history
	}
	const most = 200
	tries := 0
	for size := len(history) / 2; size > 0; size /= 2 {
		for from := 0; from < len(history) && tries < most; tries++ {
			less := slices.Delete(slices.Clone(history), from, min(from+size, len(history)))
			if fails(less) {
				history = less
			} else {
				from += size
			}
		}
	}
	return history
}

// replay makes steps one by one.
func (s *sequence) replay(list []step) error {
	for _, q := range list {
		if q.Host {
			if err := s.hosted(q); err != nil {
				return err
			}
			continue
		}
		o := s.tree.judge(s.by, q)
		q.Done = o.done()
		if err := s.made([]step{q}); err != nil {
			return err
		}
	}
	return nil
}
