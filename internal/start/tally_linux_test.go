package start_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/test/irtest"
)

// TestSupervised compares the answers of exec under random policies with Decide, as the user of
// the test and as one without any privilege. At full count it asks a million times.
func TestSupervised(t *testing.T) {
	trees, least := 1, 0
	if irtest.Full() {
		trees, least = 4, 500_000
	}
	for _, counts := range bothUsers(t, "kernel-supervised", 800, trees) {
		if !t.Failed() && (counts.asked() < least || irtest.Full() && len(counts.kinds) < len(kinds())) {
			t.Errorf("expected %d operations of %d kinds, got %s", least, len(kinds()), counts)
		}
	}
}

// bothUsers tests two users side by side: a worker and its supervisor take turns, so that
// either keeps one processor busy.
func bothUsers(t *testing.T, mode string, policies, trees int) (counts []*tally) {
	if !start.ThisHost().Supervises {
		t.Skip("this kernel has no Landlock, or no user notification as of 5.19")
	}
	users := map[string]identity{"user": nil, "nobody": {Uid: 65534, Gid: 65534}}
	base := workspace(t)
	// This subtest ends when the ones that run side by side have ended.
	t.Run("as", func(t *testing.T) {
		for user, who := range users {
			t.Run(user, func(t *testing.T) {
				if who != nil && os.Geteuid() != 0 {
					t.Skip("runs as an unprivileged user already")
				}
				c := newTally()
				counts = append(counts, c)
				t.Parallel()
				testSupervised(t, filepath.Join(base, user), who, mode, policies, trees, c)
			})
		}
	})
	return counts
}

func testSupervised(t *testing.T, base string, who identity, mode string, policies, trees int, counts *tally) {
	var runs atomic.Int64
	const per = 175
	irtest.Check(t, policies, trees*per, func(rt *rapid.T) {
		o := newSupervised(rt, base+fmt.Sprint(runs.Add(1)), who, counts)
		o.mode = mode
		o.run(trees, per)
	})
	fmt.Printf("property %s: %s\n", t.Name(), counts)
}

// kinds are the names of all operations.
func kinds() []string {
	all := slices.Concat(onAbsent, onFile, onDir, onNames, onNobody)
	slices.Sort(all)
	return slices.Compact(all)
}

// tally counts the operations that one user's workers tried.
type tally struct {
	kinds             map[string]int
	policies, trees   map[string]bool
	granted, stricter int
	// repeated counts operations on trees that an earlier worker under the same policy was
	// given; again is true while there is such a one.
	repeated int
	again    bool
	// unread counts the operations that needed a descriptor that was refused.
	unread int
}

func newTally() *tally {
	return &tally{kinds: map[string]int{}, policies: map[string]bool{}, trees: map[string]bool{}}
}

// begin notes a policy and a tree.
func (c *tally) begin(o *supervised) {
	policy := fmt.Sprint(o.view.Tool.Net)
	for _, r := range o.view.Tool.FS {
		policy += fmt.Sprint(r.At, r.Caps)
	}
	tree := fmt.Sprint(policy, o.start, o.now)
	c.again = c.trees[tree]
	c.policies[policy], c.trees[tree] = true, true
}

func (c *tally) add(q asking, allowed bool) {
	switch {
	case c.again:
		c.repeated++
		return
	case allowed:
		c.granted++
	case q.verdict:
		c.stricter++
	}
	c.kinds[q.op]++
}

func (c *tally) asked() int {
	n := 0
	for _, times := range c.kinds {
		n += times
	}
	return n
}

func (c *tally) String() string {
	rarest := slices.MinFunc(slices.Sorted(maps.Keys(c.kinds)), func(a, b string) int { return cmp.Compare(c.kinds[a], c.kinds[b]) })
	return fmt.Sprintf(
		"%d operations of %d kinds in %d spellings asked of the kernel, under %d policies on %d trees: "+
			"%d granted, %d refused, %d of these granted by the policy, as the ledger says; rarest %s, %d times; not counted: %d repeated, %d on what could not be opened",
		c.asked(), len(c.kinds), len(spellings), len(c.policies), len(c.trees),
		c.granted, c.asked()-c.granted, c.stricter, rarest, c.kinds[rarest], c.repeated, c.unread,
	)
}

// workspace makes the directory of a test, with the binary that every user may start.
func workspace(t *testing.T) string {
	base, err := os.MkdirTemp("", "accessc-kernel-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	scatter(base)
	binary = filepath.Join(base, "tool.test")
	if err := copyFile(os.Args[0], binary); err != nil {
		t.Fatal(err)
	}
	return base
}

// scatter has ext4 take the directories below for unrelated, and put each where few files
// were lately removed: it passes over the numbers of those one by one to make another
// (recently_deleted() and find_group_orlov() in fs/ext4/ialloc.c), which was a third of
// the time. Other file systems refuse it.
func scatter(dir string) {
	const topdir = 0x20000 // FS_TOPDIR_FL in include/uapi/linux/fs.h
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topdir))
	}
}
