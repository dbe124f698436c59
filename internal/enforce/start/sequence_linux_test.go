package start_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
)

// sequence is one supervised tool, with the operations of it and of other processes in their
// order.
type sequence struct {
	draws
	dir    string
	who    identity
	mode   string // how the tool is started, empty for without further conditions
	counts *sequenceTally
	// policy is the tool's, by is its text, spec its compiled form.
	policy *ir.Tool
	by     *text
	data   []byte
	spec   *landlock.Spec
	ledger ir.Ledger
	tree   *tree
	// start is the set of paths when the tool started, laid the tree then.
	start map[string]bool
	laid  *tree
	tool  *tool
	// history is the steps so far, threads the number of the thread to be used next.
	history []step
	threads int
	// turn is the number of the round, which gives its first step a kind.
	turn int
	// flipped is a kind whose verdicts are inverted.
	flipped string
}

// baseHere is the base of this host.
var baseHere = sync.OnceValue(hostBase)

// newSequence draws a policy that is supervised and a tree.
func newSequence(dir string, who identity, r *rand.Rand, counts *sequenceTally) (*sequence, error) {
	s := &sequence{draws: draws{Rand: r}, dir: dir, who: who, counts: counts}
	for {
		s.policy = s.draws.tool()
		s.laid = newTree(dir)
		s.grow(s.laid, 4+s.IntN(9))
		if s.by = newText(s.policy); !s.resolved() {
			continue
		}
		if err := s.compile(); err != nil || s.spec.Supervision != nil {
			return s, err
		}
	}
}

// resolved reports whether the places of rules lead over no symlink and listed programs are
// files, as they are once a policy has been compiled for a host.
func (s *sequence) resolved() bool {
	linked := func(p string) bool {
		for ; p != "." && p != ""; p = filepath.Dir(p) {
			if _, _, e := s.laid.lookup(inWorkspace + "/" + p); e != nil && e.symlink() {
				return true
			}
		}
		return false
	}
	return !slices.ContainsFunc(s.by.rules, func(r textRule) bool { return linked(r.path) }) &&
		!slices.ContainsFunc(s.by.programs, func(p textProgram) bool {
			_, _, e := s.laid.lookup(inWorkspace + "/" + p.file)
			return e != nil && e.file.kind != unix.S_IFREG || linked(filepath.Dir(p.file))
		})
}

func (s *sequence) compile() error {
	self := ir.Sys(strings.TrimPrefix(binary, "/"))
	facts := ir.Facts{
		Bindings: &ir.Bindings{Workspace: filepath.Join(s.dir, inWorkspace), Home: filepath.Join(s.dir, "home")}, Program: &self, Base: baseHere(),
	}
	out, err := landlock.Backend{}.Compile(s.policy, backends.Target{Form: backends.Resolved, Facts: facts})
	if err != nil {
		return err
	}
	s.data, s.ledger = out.Data, out.Ledger
	s.spec, err = landlock.Parse(out.Data)
	return err
}

// begin lays the tree and starts the tool.
func (s *sequence) begin(t fataler) error {
	s.tree, s.history = s.laid.clone(), nil
	for _, d := range []string{s.dir, filepath.Join(s.dir, "home")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
		if s.who != nil {
			if err := os.Chown(d, int(s.who.Uid), int(s.who.Gid)); err != nil {
				return err
			}
		}
	}
	if err := s.lay(s.tree.top); err != nil {
		return err
	}
	if err := os.Symlink(s.dir+"/"+inWorkspace, s.dir+"/link"); err != nil {
		return err
	}
	s.start = map[string]bool{}
	for _, e := range s.tree.top.all() {
		s.start[e.path()] = true
	}
	file := filepath.Join(s.dir, "spec.json")
	if err := os.WriteFile(file, s.data, 0o644); err != nil {
		return err
	}
	s.tool = startPart(t, s.dir, s.who, nil, cmp.Or(s.mode, "kernel-supervised"), file, binary, partSequence)
	_, err := s.exchange(request{})
	return err
}

func (s *sequence) end() {
	if s.tool != nil {
		s.tool.stop()
		s.tool = nil
	}
	_ = os.RemoveAll(s.dir)
}

// exchange hands a request to the tool.
func (s *sequence) exchange(q request) (*reply, error) { return s.exchangeWhile(q, nil) }

// exchangeWhile does something, where it is not nil, until the tool answers.
func (s *sequence) exchangeWhile(q request, meanwhile func() error) (*reply, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	_, err = s.tool.in.Write(append(data, '\n'))
	if err == nil && meanwhile != nil {
		if err := meanwhile(); err != nil {
			return nil, err
		}
	}
	if err != nil || !s.tool.out.Scan() {
		s.tool.stop()
		return nil, fmt.Errorf("the tool is gone: %v; %v\n%s", err, s.tool.cmd.ProcessState, s.tool.errs)
	}
	var r reply
	return &r, json.Unmarshal(s.tool.out.Bytes(), &r)
}

// round lets other processes change something and the tool make some steps.
func (s *sequence) round() error {
	for s.oneIn(2) {
		if err := s.hosted(s.host(s.tree)); err != nil {
			return err
		}
	}
	if s.oneIn(racesOneIn) {
		return s.races()
	}
	ahead := s.tree.clone()
	list := make([]step, 1+s.IntN(28))
	s.turn++
	for i := range list {
		if list[i] = s.step(ahead); i == 0 {
			list[i] = s.given(ahead, s.turn, list[i])
		}
		o := ahead.judge(s.by, list[i])
		if list[i].Done = o.done(); o.done() && o.apply != nil {
			o.apply()
		}
		if !o.done() && len(s.spare(ahead, list[i])) > 0 {
			list = list[:i+1] // a file that this may leave has to be removed
			break
		}
	}
	return s.made(list)
}

// hosted makes a step of another process, if it can be made.
func (s *sequence) hosted(q step) error {
	if !s.tree.byHost(q) {
		return nil
	}
	s.history = append(s.history, q)
	s.counts.kinds[q.Op]++
	return s.disk(q)
}

// made has the tool make steps and judges each of its answers.
func (s *sequence) made(list []step) error {
	s.threads++
	r, err := s.exchange(request{Thread: s.threads % 8, Steps: list})
	if err != nil {
		s.history = append(s.history, list...)
		return err
	}
	var spare []string
	for i, e := range r.Answers {
		if e != 0 {
			spare = append(spare, s.spare(s.tree, list[i])...)
		}
		if err := s.answered(list[i], e); err != nil {
			return err
		}
	}
	return s.verify(s.tree.top, spare)
}

// answered judges the answer to a step and makes its change to the model.
func (s *sequence) answered(q step, e syscall.Errno) error {
	s.history = append(s.history, q)
	o := s.tree.judge(s.by, q)
	if err := s.check(q, &o, e); err != nil {
		return fmt.Errorf("%w: %+v came to %v", err, q, e)
	}
	if e == 0 && o.apply != nil {
		o.apply()
	}
	return nil
}

// spare is where a refused call may have left an empty file: where it may be made.
func (s *sequence) spare(t *tree, q step) []string {
	if openings[q.Op]&unix.O_CREAT == 0 {
		return nil
	}
	f := t.resolve(q.A, isFollowed)
	if f.dir == nil || f.at != nil || !s.by.makes(ir.Create, at(f.dir, f.name), ir.NameFile) {
		return nil
	}
	return []string{strings.TrimPrefix(f.dir.path()+"/"+f.name, "/")}
}

var (
	errLeak   = errors.New("done though denied")
	errStrict = errors.New("refused though granted")
	errOther  = errors.New("not as it should be")
)

// check compares an answer with the expected one.
func (s *sequence) check(q step, o *outcome, e syscall.Errno) error {
	denied := o.denied
	if q.Op == s.flipped && o.fault == 0 {
		denied = !denied
	}
	s.counts.add(q, e == 0)
	limited := restricted[q.Op] != 0
	switch {
	case e == 0 && denied:
		if s.assumed(q, o, false) {
			s.counts.assumed++
			return nil
		}
		return errLeak
	case e == 0 && o.fault != 0 && !o.loose, e == 255, e == syscall.ENOSYS && !limited:
		return errOther
	case e == 0 || denied || o.loose || limited && e == syscall.ENOSYS:
		return nil
	case o.fault != 0:
		if refused(e) {
			s.counts.masked++
		}
		return nil
	case e == syscall.EOPNOTSUPP && strings.HasSuffix(q.Op, "setxattr"):
		return nil // not every file system has attributes
	case !refused(e) && e != syscall.ESRCH:
		return errOther
	case s.assumed(q, o, false):
		s.counts.replaced++
		return nil
	case !s.stricter(o):
		return errStrict
	}
	s.counts.stricter[q.Op]++
	return nil
}

// cell is the ledger's word for an aspect of a place.
func (s *sequence) cell(at spoken, a ir.Aspect) ir.Enforcement {
	id := ir.DefaultRule
	if r := s.by.rule(at); r != nil {
		id = r.id
	}
	row, ok := s.ledger.Cell(ir.FS, id, a, ir.Linux, min(start.ABI(), landlock.MaxABI))
	if !ok {
		return ir.Unenforced
	}
	return row.Is
}

// stricter reports whether the ledger says that the tool may be refused this.
func (s *sequence) stricter(o *outcome) bool {
	return o.known || slices.ContainsFunc(o.needs, func(n need) bool { return s.cell(n.at, n.aspect) == ir.Stricter })
}

// assumed reports whether a step is left to the ruleset, which knows files by their inodes, and
// another process has moved something since: the ledger assumes that none does. racing is true
// where the supervisor may have looked before that was moved.
func (s *sequence) assumed(q step, o *outcome, racing bool) bool {
	judges := s.spec.Supervision.Judges
	if _, opens := openings[q.Op]; opens && s.served() && !racing {
		return false // it checks whether all is in its place
	}
	for _, n := range o.needs {
		judged := map[ir.Aspect]bool{
			ir.AspectRead: judges.Reads, ir.AspectUpdate: judges.Updates, ir.AspectExecute: judges.Starts || s.by.listed,
			ir.AspectCreate: judges.Names, ir.AspectDelete: judges.Names, ir.AspectMove: judges.Names,
		}[n.aspect]
		if n.aspect == ir.AspectMetadata || judged {
			continue
		}
		for e := n.e; e != nil; e = e.up {
			if e.strayed {
				return true
			}
		}
	}
	return false
}

// served reports whether the supervisor sees every open.
func (s *sequence) served() bool {
	return slices.ContainsFunc(s.spec.Supervision.Traps, func(t landlock.Trap) bool { return slices.Contains(t.Syscalls, "openat2") })
}
