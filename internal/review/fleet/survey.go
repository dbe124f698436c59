package fleet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// Request names the directories to search, and the questions to ask about the manifests in them.
type Request struct {
	// Dirs are the directories that are searched.
	Dirs []string
	// Record is the file of the record, empty for none; Program is the hash of the program that reads and writes it,
	// without which there is none either.
	Record, Program string
	// Snapshot is a file to write a record to for a later comparison; Since is the record of an earlier run. Either may
	// be empty.
	Snapshot, Since string
	// Backends are all that there are. With Compile, policies are compiled anew by them.
	Backends []backends.Backend
	Compile  bool
	Question *Question // nil for none
	Hosts    []*Host
}

// Fleet is the result.
type Fleet struct {
	Manifests []Manifest // in the order of their directories, and of their paths
	// Foreign is how many files of the same name are JSON documents of other programs.
	Foreign int
	// Fresh is how many manifests were parsed, and not known by their hash.
	Fresh int
	// Answers are the answers other than no; Asked is how many policies were asked.
	Answers []Answered
	Asked   int
	Hosts   []*Held
	Since   *Since // nil if nothing was compared
	// KeepErr is why no record was written, nil if there is a record or none was asked for.
	KeepErr error
}

// Answered is the answer of a tool.
type Answered struct {
	Manifest, Tool string
	Answer
}

// batch is how many manifests are worked on between two times that results are put in order.
const batch = 256

// Survey looks at all manifests.
func Survey(req *Request) (*Fleet, error) {
	if err := apart(req.Dirs); err != nil {
		return nil, err
	}
	var all []found
	var places []string // of all, without the name of the directory
	for i, dir := range req.Dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, oserr.Reason(err))
		}
		defer root.Close()
		for _, f := range find(root, filepath.ToSlash(filepath.Clean(dir))) {
			all, places = append(all, f), append(places, strconv.Itoa(i)+"/"+f.name)
		}
	}
	s := &survey{req: req, fleet: &Fleet{Manifests: make([]Manifest, 0, len(all))}, record: &record{},
		intern: map[string]string{}}
	if req.Record != "" {
		s.record = open(req.Record, req.Program)
		defer s.record.close()
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	err := s.run(all, places)
	return s.fleet, s.end(err)
}

// apart refuses directories of which one lies in another: manifests and tools would be counted twice.
func apart(dirs []string) error {
	reals := make([]string, len(dirs))
	for i, dir := range dirs {
		real, err := filepath.Abs(dir)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, oserr.Reason(err))
		}
		reals[i] = filepath.ToSlash(real)
	}
	for i := range dirs {
		for j := range dirs {
			if i != j && ir.Within(reals[i], reals[j]) {
				return fmt.Errorf("%s lies in %s, whose manifests would count twice; leave it out", dirs[i], dirs[j])
			}
		}
	}
	return nil
}

// survey is a run.
type survey struct {
	req    *Request
	fleet  *Fleet
	record *record
	since  *earlier
	// order are the manifests so far; kept is the new record, nil as long as all of them are in the old one.
	order    [][sha256.Size]byte
	keptFile *replacing
	kept     *writer
	// snapshot is nil if none is asked for.
	snapFile *replacing
	snapshot *writer
	// intern keeps equal texts once.
	intern map[string]string
}

func (s *survey) begin() (err error) {
	if s.req.Since != "" {
		if s.since, err = readEarlier(s.req.Since); err != nil {
			return fmt.Errorf("%s: %w", s.req.Since, oserr.Reason(err))
		}
		s.fleet.Since = &Since{}
	}
	if s.req.Snapshot != "" {
		if s.snapFile, err = replace(s.req.Snapshot); err != nil {
			return fmt.Errorf("%s: %w", s.req.Snapshot, oserr.Reason(err))
		}
		s.snapshot = newWriter(s.snapFile, s.req.Program)
	}
	return nil
}

func (s *survey) run(all []found, places []string) error {
	looks := make([]*look, min(batch, len(all)))
	for from := 0; from < len(all); from += batch {
		n := min(batch, len(all)-from)
		inParallel(n, func(i int) { looks[i] = s.look(&all[from+i], places[from+i]) })
		for _, l := range looks[:n] {
			if err := s.take(l); err != nil {
				return err
			}
		}
	}
	if s.since != nil {
		s.fleet.Since.gone(s.since)
	}
	for _, h := range s.req.Hosts {
		held, err := s.fleet.held(h)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		s.fleet.Hosts = append(s.fleet.Hosts, held)
	}
	return nil
}

// end completes the files that are written, or removes them after an error.
func (s *survey) end(err error) error {
	if s.kept != nil {
		s.fleet.KeepErr = s.keptFile.done(errors.Join(err, s.kept.end()))
		prune(filepath.Dir(s.req.Record))
	}
	if s.since != nil {
		s.since.close()
	}
	if s.snapshot != nil {
		err = s.snapFile.done(errors.Join(err, s.snapshot.end()))
	}
	return err
}

func inParallel(n int, do func(i int)) {
	var tasks sync.WaitGroup
	next := make(chan int)
	for range min(n, 2*runtime.GOMAXPROCS(0)) { // some of them wait for the disk
		tasks.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	tasks.Wait()
}

// take adds the facts that were found at a place to the result, in order.
func (s *survey) take(l *look) error {
	if l.facts == nil {
		s.fleet.Foreign++
		return nil
	}
	m := l.facts.Manifest
	s.share(&m)
	s.fleet.Manifests = append(s.fleet.Manifests, m)
	s.fleet.Answers, s.fleet.Asked = append(s.fleet.Answers, l.answers...), s.fleet.Asked+l.asked
	if s.since != nil {
		s.fleet.Since.take(s.since, l)
	}
	if l.frame == nil {
		return nil
	}
	if l.fresh {
		s.fleet.Fresh++
	}
	s.keep(l)
	if s.snapshot == nil {
		return nil
	}
	shot := *l.facts
	shot.Place = l.place
	facts, err := shot.marshal()
	s.snapshot.add(&frame{l.frame.key, facts, l.frame.policies})
	return err
}

// keep adds a manifest to the new record, which begins with the first manifest that is not in the old
// record.
func (s *survey) keep(l *look) {
	if s.req.Record == "" || s.req.Program == "" || s.fleet.KeepErr != nil {
		return
	}
	s.order = append(s.order, l.frame.key)
	if s.kept == nil && l.fresh {
		if s.keptFile, s.fleet.KeepErr = replace(s.req.Record); s.fleet.KeepErr != nil {
			return
		}
		s.kept = newWriter(s.keptFile, s.req.Program)
		for _, key := range s.order[:len(s.order)-1] {
			if f := s.record.get(key); f != nil {
				s.kept.add(f)
			}
		}
	}
	if s.kept != nil {
		s.kept.add(l.frame)
	}
}

// share has equal texts of tools be the same texts, and none be a part of the frame's.
func (s *survey) share(m *Manifest) {
	one := func(text *string) {
		if known, ok := s.intern[*text]; ok {
			*text = known
			return
		}
		*text = strings.Clone(*text)
		if len(s.intern) < maxShared {
			s.intern[*text] = *text
		}
	}
	m.Hash, m.Form = strings.Clone(m.Hash), strings.Clone(m.Form)
	for i := range m.Tools {
		t := &m.Tools[i]
		t.Policy = strings.Clone(t.Policy)
		for _, text := range []*string{&t.Name, &t.At, &t.Source, &t.Risk, &t.needs} {
			one(text)
		}
		for _, list := range [][]string{t.Sensitive, t.Network, t.Listens, t.Accepts} {
			for j := range list {
				one(&list[j])
			}
		}
		for j := range t.Outside {
			one(&t.Outside[j].Place)
			for k := range t.Outside[j].Capabilities {
				one(&t.Outside[j].Capabilities[k])
			}
		}
	}
	for i := range m.Rulesets {
		one(&m.Rulesets[i].Name)
		m.Rulesets[i].Policy = strings.Clone(m.Rulesets[i].Policy)
	}
	for i := range m.Problems {
		p := &m.Problems[i]
		p.Tool, p.Detail = strings.Clone(p.Tool), strings.Clone(p.Detail)
	}
}

// maxShared is how many different texts are looked for.
const maxShared = 1 << 18
