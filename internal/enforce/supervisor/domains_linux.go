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

// Every process of the tool carries a mark, by which the supervisor recognises it even after it
// has changed its environment and lost its parents. The marks are hard resource limits:
// children inherit them, and without a capability they only fall (setrlimit(2)). Two limits
// that have bound nothing since Linux 2.4.30 carry the mark: RLIMIT_LOCKS its upper end,
// RLIMIT_RSS its lower end, counted down. Lowering them narrows an interval at either end, so
// that it stays within the interval that the run began with.
//
// A process of the tool may also restrict itself by Landlock rulesets of its own, as an accessc
// does that is started inside. The kernel then bounds the process, but not the supervisor that
// acts in its place; so the supervisor acts under the same rulesets. The kernel does not tell
// which rulesets bind a process. Therefore the supervisor narrows the mark of a process before
// it lets the process restrict itself. The interval of a ruleset lies within the intervals of
// the rulesets above it and apart from all others. So the only other marks that a process can
// take are the marks of domains that bind it by the same rulesets and more.
//
// A mark belongs to a process, a ruleset to a thread: a ruleset by which one thread has
// restricted itself also bounds the acts of the supervisor for the other threads of the
// process.

// mark is an interval, both ends included.
// See decision D54.
type mark struct{ low, high uint64 }

// Mark is the mark of the processes of a run.
type Mark struct{ mark }

// NewMark draws the mark of a run, nil where this process cannot give one.
func NewMark() *Mark {
	if !Marks() {
		return nil
	}
	return DrawMark()
}

// Marks reports whether this process can mark others. It cannot if its own limits are lowered already, it is inside of
// a run itself, or kcmp(2) does not work.
func Marks() bool {
	for _, c := range (mark{0, whole}).carriers() {
		var l unix.Rlimit
		if unix.Getrlimit(c.resource, &l) != nil || l.Max < whole {
			return false
		}
	}
	return sameFile(unix.Getpid(), 0, 0)
}

// DrawMark draws one of 2^18 marks for a run of a process that can mark others.
func DrawMark() *Mark {
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

// Carries reports whether a process carries the mark, or a narrower mark.
func (m *Mark) Carries(pid int) bool {
	of, marked, err := markOf(pid)
	return err == nil && marked && m.holds(of)
}

// whole is above every mark. A hard limit that is not below it was not set by a mark.
const whole = 1 << 62

// widths are the widths of the intervals by the number of rulesets in force.
var widths = [...]uint64{1 << 44, 1 << 32, 1 << 24, 1 << 18, 1 << 13, 1 << 9, 1 << 4, 1}

// holds reports whether an interval lies in this interval.
func (m mark) holds(n mark) bool { return m.low <= n.low && n.high <= m.high }

// carriers are the limits and their hard values for a mark.
func (m mark) carriers() [2]carrier {
	return [2]carrier{{unix.RLIMIT_LOCKS, m.high}, {unix.RLIMIT_RSS, whole - m.low}}
}

type carrier struct {
	resource int
	hard     uint64
}

// markOf reads the mark of a process; false for a process that was never marked.
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

// domain is a ruleset that binds processes, together with the rulesets above it. The root
// domain has no ruleset and binds nothing.
type domain struct {
	above   *domain
	ruleset *os.File
	depth   int
	mark    mark
	// jobs go to an idle thread that is restricted by this domain.
	jobs chan job
	// children counts the domains made below this domain. No mark is given twice.
	children uint64
}

func (d *domain) binds() bool { return d != nil && d.ruleset != nil }

// below makes a domain with one ruleset more, nil where no mark is left for it. It leaves the
// ends of the interval free, so that a mark differs in both from the marks above.
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
	return &domain{above: d, ruleset: ruleset, depth: d.depth + 1, mark: mark{low, low + width - 1},
		jobs: make(chan job)}
}

// enter restricts this thread like the processes of the domain.
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

// domains are the domains of the tool's processes.
type domains struct {
	// mu is held while marks and rulesets are read, and exclusively to change them.
	mu   sync.RWMutex
	root domain
	by   map[mark]*domain
	// used is set before the first process may restrict itself.
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

// frozen reports whether a ruleset is in force for a process already: the kernel does not apply
// rules that are added from now on to that process.
func (d *domains) frozen(ruleset int) bool {
	for _, known := range d.by {
		if sameFile(unix.Getpid(), int(known.ruleset.Fd()), ruleset) {
			return true
		}
	}
	return false
}

// collect drops the domains without a process. A process that started meanwhile may be missed;
// its mark is then unknown, and its calls are refused.
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
	// The garbage collector closes the descriptors of domains that no thread acts in any more.
	runtime.GC()
}

// sameFile compares an open file of a thread with an open file of this process (kcmp(2)). It waits while the thread's
// process becomes another program (exec_update_lock).
func sameFile(tid, theirs, ours int) bool {
	const kcmpFile = 0
	r, _, e := unix.Syscall6(unix.SYS_KCMP, uintptr(tid), uintptr(unix.Getpid()), kcmpFile, uintptr(theirs),
		uintptr(ours), 0)
	return e == 0 && r == 0
}
