package supervisor

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Every process of the tool carries a mark, so that the supervisor knows it among all
// others, also after it has changed its environment and lost its parents. The marks are hard
// resource limits: children inherit them, and without a capability they only fall
// (setrlimit(2)). Two limits carry the mark that bound nothing since Linux 2.4.30:
// RLIMIT_LOCKS its upper end, RLIMIT_RSS its lower end, counted down. Lowering them narrows
// an interval at either end, so that it stays in the one that the run began with.
//
// A process of the tool may also restrict itself by Landlock rulesets of its own, as accessc
// does that is started inside. The kernel then bounds what the process does, but not what
// the supervisor does in its place. So the supervisor does that under the same rulesets. The
// kernel does not tell which rulesets bind a process. The supervisor narrows the mark of a
// process before it lets it restrict itself. The interval of a ruleset lies in that of the
// rulesets above it and apart from all others, so a process can take the marks of those
// alone that bind it as well and more.
//
// A mark is a process's and a ruleset a thread's. What one thread has restricted itself
// by binds what is done for the others of its process, too.

// mark is an interval, both ends included.
type mark struct{ low, high uint64 }

// Mark is the mark of the processes of a run.
type Mark struct{ mark }

// NewMark draws the mark of a run, nil where this process cannot give one: its own limits
// are lowered, or it is inside of a run itself.
func NewMark() *Mark {
	for _, c := range (mark{0, whole}).carriers() {
		var l unix.Rlimit
		if unix.Getrlimit(c.resource, &l) != nil || l.Max < whole {
			return nil
		}
	}
	if !sameFile(unix.Getpid(), 0, 0) {
		return nil
	}
	slots := uint64(whole / widths[0])
	low := (1 + rand.Uint64N(slots-2)) * widths[0]
	return &Mark{mark{low, low + widths[0] - 1}}
}

// Limits are the resource limits that mark a process.
func (m *Mark) Limits() []Limit {
	var out []Limit
	for _, c := range m.carriers() {
		out = append(out, Limit{Resource: c.resource, Value: unix.Rlimit{Cur: c.hard, Max: c.hard}})
	}
	return out
}

// String writes the mark for ParseMark.
func (m *Mark) String() string {
	return strconv.FormatUint(m.low, 16) + "-" + strconv.FormatUint(m.high, 16)
}

// ParseMark is the inverse of Mark.String.
func ParseMark(s string) (*Mark, bool) {
	low, high, ok := strings.Cut(s, "-")
	a, err1 := strconv.ParseUint(low, 16, 64)
	b, err2 := strconv.ParseUint(high, 16, 64)
	return &Mark{mark{a, b}}, ok && err1 == nil && err2 == nil && a <= b && b < whole
}

// Carries reports whether a process carries the mark, or a narrower one.
func (m *Mark) Carries(pid int) bool {
	of, marked, err := markOf(pid)
	return err == nil && marked && m.holds(of)
}

// whole is above every mark. Hard limits that are not below it were never set by one.
const whole = 1 << 62

// widths are those of the intervals by the number of rulesets that bind.
var widths = [...]uint64{1 << 44, 1 << 32, 1 << 24, 1 << 18, 1 << 13, 1 << 9, 1 << 4, 1}

// holds reports whether an interval lies in this one.
func (m mark) holds(n mark) bool { return m.low <= n.low && n.high <= m.high }

// carriers are the limits and their hard values for a mark.
func (m mark) carriers() [2]carrier {
	return [2]carrier{{unix.RLIMIT_LOCKS, m.high}, {unix.RLIMIT_RSS, whole - m.low}}
}

type carrier struct {
	resource int
	hard     uint64
}

// markOf reads the mark of a process; false for one that was never marked.
func markOf(pid int) (m mark, marked bool, err error) {
	var locks, rss unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &locks); err != nil {
		return mark{}, false, err
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_RSS, nil, &rss); err != nil {
		return mark{}, false, err
	}
	return mark{whole - rss.Max, locks.Max}, locks.Max < whole && rss.Max < whole, nil
}

// put marks a process.
func (m mark) put(pid int) error {
	for _, c := range m.carriers() {
		var l unix.Rlimit
		if err := unix.Prlimit(pid, c.resource, nil, &l); err != nil {
			return err
		}
		l = unix.Rlimit{Cur: min(l.Cur, c.hard), Max: c.hard}
		if err := unix.Prlimit(pid, c.resource, &l, nil); err != nil {
			return err
		}
	}
	return nil
}

// domain is the rulesets that bind a process: one, and those above it. The one without
// a ruleset binds nothing.
type domain struct {
	above   *domain
	ruleset *os.File
	depth   int
	mark    mark
	// jobs reach a thread that is restricted like this and has nothing to do.
	jobs chan job
	// children is how many have been made. No mark is given twice.
	children uint64
}

func (d *domain) binds() bool { return d != nil && d.ruleset != nil }

// below makes the domain of one ruleset more, nil where there is no mark left for it.
// The ends of the interval stay free, so that a mark differs in both from those above.
func (d *domain) below(ruleset *os.File) *domain {
	if d.depth+1 == len(widths) {
		return nil
	}
	width := widths[d.depth+1]
	low := d.mark.low + 1 + d.children*width
	if low+width > d.mark.high {
		return nil
	}
	d.children++
	return &domain{above: d, ruleset: ruleset, depth: d.depth + 1, mark: mark{low, low + width - 1}, jobs: make(chan job)}
}

// enter restricts this thread as the processes of the domain are.
func (d *domain) enter() error {
	if !d.binds() {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err := d.above.enter(); err != nil {
		return err
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, d.ruleset.Fd(), 0, 0); e != 0 {
		return e
	}
	return nil
}

// domains are those that processes of the tool are in.
type domains struct {
	// mu is held while marks and rulesets are read, and exclusively to change them.
	mu   sync.RWMutex
	root domain
	by   map[mark]*domain
	// used is set before the first process is let through.
	used atomic.Bool
}

// maxDomains bounds how many are kept at a time; each has a descriptor.
const maxDomains = 256

func newDomains(run mark) *domains {
	return &domains{root: domain{mark: run}, by: map[mark]*domain{}}
}

// of is the domain of a process. It fails for a process that has changed its mark.
func (d *domains) of(pid int) (*domain, bool) {
	m, marked, err := markOf(pid)
	switch {
	case err != nil || !marked:
		return nil, false
	case m == d.root.mark:
		return &d.root, true
	}
	known := d.by[m]
	return known, known != nil
}

// frozen reports whether a ruleset binds somebody: what is added to it from now on is
// not theirs.
func (d *domains) frozen(ruleset int) bool {
	for _, known := range d.by {
		if sameFile(unix.Getpid(), int(known.ruleset.Fd()), ruleset) {
			return true
		}
	}
	return false
}

// collect forgets the domains that no process is in. A process that is missed, since
// it began meanwhile, has a mark that is unknown, and what it asks for is refused.
func (d *domains) collect() {
	alive := map[*domain]bool{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if in, ok := d.of(pid); ok {
			for ; in.binds(); in = in.above {
				alive[in] = true
			}
		}
	}
	for m, known := range d.by {
		if !alive[known] {
			delete(d.by, m)
		}
	}
	// The descriptors of those are closed in which nobody acts any more.
	runtime.GC()
}

// sameFile compares an open file of a thread with one of this process (kcmp(2)).
func sameFile(tid, theirs, ours int) bool {
	const kcmpFile = 0
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(tid), uintptr(unix.Getpid()), kcmpFile, uintptr(theirs), uintptr(ours), 0)
	return e == 0 && r == 0
}
