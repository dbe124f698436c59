package supervisor

import (
	"encoding/binary"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// repeat is a call that the supervisor has a seized thread make, and that is trapped again.
type repeat struct {
	nr   uint32
	args [6]uint64
	// number is the descriptor to start and image the supervisor's descriptor of the same file;
	// -1 for a call by path. Where give is set the supervisor puts it there at the call.
	number, image int
	give          bool
	// domain holds the rulesets by which the caller had restricted itself.
	domain *domain
}

// returns are the calls that seized threads are about to make, by thread.
type returns struct {
	mu sync.Mutex
	by map[int]*repeat
}

func (r *returns) set(id int, call *repeat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[int]*repeat{}
	}
	r.by[id] = call
}

func (r *returns) drop(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.by, id)
}

func (r *returns) get(id int) *repeat {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[id]
}

// returned answers a call that a seized thread was made to make. Threads share memory and
// descriptors; returned refuses the call if it has become another call.
func (c programs) returned() (answer, bool) {
	r := c.returns.get(c.tid)
	switch {
	case r == nil:
		return answer{}, false
	case c.nr != r.nr || c.args != r.args || c.domain != r.domain:
		return fails(unix.EACCES), true
	case r.give:
		if _, e := c.listener.add(c.id, r.image, r.number, true); e != 0 {
			return fails(e), true
		}
	case r.number >= 0 && !c.refers(r.number, r.image):
		return fails(unix.EACCES), true
	}
	return proceed, true
}

// refers reports whether a descriptor of the caller refers to the same file as ours.
func (c *caller) refers(number, ours int) bool {
	obj, e := c.descriptor(number)
	return e == 0 && same(obj, ours)
}

// complete starts a program that the policy grants and the ruleset does not, since a ruleset
// knows only the files that were there when the tool started. The supervisor hands the thread a
// descriptor of a copy in memory, which Landlock does not check, and has the thread start it:
// the supervisor answers the call, stops the thread at its end and sets up another call. So
// process, memory and arguments stay the thread's own all the way, and a start that fails
// returns to it.
func (c programs) complete(in invocation, want becoming) answer {
	e := c.runs(in, want)
	if e == 0 {
		e = c.unbound(want)
	}
	if e != 0 {
		return fails(e)
	}
	if in.flags&executeCheck != 0 {
		return answer{}
	}
	fd, e := c.handout(&want)
	if e != 0 {
		return fails(e)
	}
	if !c.await() {
		return fails(unix.EAGAIN)
	}
	s, e := c.seize(c.process())
	if e != 0 {
		c.awaited()
		if c.tracer() != 0 {
			c.deny("a debugger keeps the supervisor from starting a program that appeared after the tool had started")
		}
		return fails(e)
	}
	want.called = path.Base(want.name)
	if want.name == "" {
		want.called = path.Base(where(want.file()))
	}
	number, e := c.listener.add(c.id, fd, -1, true)
	if e != 0 {
		return answer{errno: e, then: func() {
			defer c.awaited()
			defer s.forget()
			if s.stopped() {
				s.release()
			}
		}}
	}
	// execveat(2) needs an empty string: the end of the path serves.
	again := &repeat{
		nr: unix.SYS_EXECVEAT, number: number, image: fd, domain: c.domain,
		args: [6]uint64{uint64(number), in.path + uint64(len(want.name)), in.argv, in.envp,
			unix.AT_EMPTY_PATH, c.args[5]},
	}
	return answer{errno: unix.ENOSYS, then: func() {
		defer c.awaited()
		defer s.forget()
		if s.stopped() {
			c.resume(s, want, again)
		}
	}}
}

// resume has a thread that has stopped after its call start the file that it was handed.
func (c programs) resume(s *seized, want becoming, again *repeat) {
	old, err := s.registers()
	if err != nil {
		s.kill()
		return
	}
	// No signal handler may run in between.
	mask, err := s.block()
	if err != nil {
		s.kill()
		return
	}
	regs := old
	regs.setAt(old.at() - uint64(len(trap)))
	switch c.again(s, regs, again) {
	case gone:
		return
	case back:
		c.unharmed(s, old, again)
	case became:
		c.tid = s.process
		if want.script() && !c.interpreted(s, want, again.image) || s.leave() != back ||
			!c.fits(s, want, want.result(again.image)) || s.name(want.called) != nil {
			s.kill()
			return
		}
	}
	if s.unblock(mask) != nil {
		s.kill()
		return
	}
	s.release()
}

// handout is the descriptor for the thread: a copy of the program or, for a script, the
// trampoline from which its interpreter is started.
func (c programs) handout(want *becoming) (int, unix.Errno) {
	if !want.script() {
		return c.copied(want.image())
	}
	if c.lowerBound(want.image()) != toStart {
		fd, e := c.copied(want.image())
		if e != 0 {
			return -1, e
		}
		want.copy = fd
	}
	return c.trampoline.open()
}

// unharmed restores a thread whose start has failed to its state without the supervisor, with
// the kernel's error.
func (c programs) unharmed(s *seized, old registers, again *repeat) {
	regs, err := s.registers()
	if err != nil {
		s.kill()
		return
	}
	failed := regs.result()
	if c.refers(again.number, again.image) {
		regs.setAt(old.at() - uint64(len(trap)))
		regs.calls(unix.SYS_CLOSE, [6]uint64{uint64(again.number)})
		if s.setRegisters(regs) != nil || s.step() != back {
			s.kill()
			return
		}
	}
	old.setResult(failed)
	if s.setRegisters(old) != nil {
		s.kill()
	}
}

// interpreted turns a process that has become the trampoline into the interpreter of a script.
// The process has memory of its own by now, so that the arguments can be laid out there: on the
// stack, where head takes the place of the first (System V ABI, initial process stack).
func (c programs) interpreted(s *seized, want becoming, trampoline int) bool {
	if exe, ok := c.exe(); !ok || !same(exe, trampoline) || s.leave() != back {
		return false
	}
	regs, err := s.registers()
	if err != nil {
		return false
	}
	sp := regs.stack()
	count, err := s.words(sp, 1)
	if err != nil || count[0] == 0 {
		return false
	}
	const word, aligned = 8, 16
	text := strings.Join(want.head, "\x00") + "\x00"
	argv := sp + 2*word - uint64(len(want.head))*word
	at := (argv - uint64(len(text))) &^ (aligned - 1)
	again := &repeat{
		nr: unix.SYS_EXECVE, number: -1, image: -1, domain: c.domain, args: [6]uint64{at, argv, sp + (count[0]+2)*word},
	}
	if want.copy >= 0 {
		again.nr, again.number, again.image, again.give = unix.SYS_EXECVEAT, c.unused(), want.copy, true
		again.args = [6]uint64{uint64(again.number), at + uint64(len(want.head[0])), argv, again.args[2],
			unix.AT_EMPTY_PATH}
	}
	var table []byte
	for next, h := at, want.head; len(h) > 0; h = h[1:] {
		table = binary.LittleEndian.AppendUint64(table, next)
		next += uint64(len(h[0])) + 1
	}
	if s.write(at, []byte(text)) != nil || s.write(argv, table) != nil {
		return false
	}
	regs.setAt(trampolineEntry)
	return c.again(s, regs, again) == became
}

// unused is a number without an open descriptor in the process.
func (c *caller) unused() int {
	n := 0
	for ; ; n++ {
		if _, err := os.Lstat("/proc/" + c.proc("fd/"+strconv.Itoa(n))); err != nil {
			return n
		}
	}
}

// again has a thread make the call.
func (c programs) again(s *seized, regs registers, call *repeat) outcome {
	regs.calls(call.nr, call.args)
	if s.setRegisters(regs) != nil {
		s.kill()
		return gone
	}
	id := s.id()
	c.returns.set(id, call)
	defer c.returns.drop(id)
	return s.step()
}
