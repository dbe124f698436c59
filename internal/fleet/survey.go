package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/build"
	"github.com/accessc/accessc/internal/oserr"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// Request names the directories to search, and the questions to ask about the manifests in them.
type Request struct {
	// Dirs are the directories that are searched.
	Dirs []string
	// Record is the file of the record, empty for none; Program is the hash of the program that reads and writes it, without
	// which there is none either.
	Record, Program string
	// Snapshot is a file to write a record to for a later comparison; Since is the one of an earlier run. Either may be empty.
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
	// Answers are those other than no; Asked is how many policies were asked.
	Answers []Answered
	Asked   int
	Hosts   []*Held
	Since   *Since // nil if nothing was compared
	// KeepErr is why no record was written, nil if there is one or none was asked for.
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
	s := &survey{req: req, fleet: &Fleet{Manifests: make([]Manifest, 0, len(all))}, record: &record{}, intern: map[string]string{}}
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

// look has the facts that were found at one place.
type look struct {
	place string
	facts *kept  // nil for a file of another program
	frame *frame // nil where the manifest cannot be read
	fresh bool
	// policies are those of the tools, set where there is a question.
	policies []*irjson.ToolDoc
	answers  []Answered
	asked    int
	changes  *changed // since the earlier run, nil if there are none
}

// tries is how often a manifest is read that changes meanwhile.
const tries = 3

// look reads one manifest and the artifacts beside it.
func (s *survey) look(f *found, place string) *look {
	l := &look{place: place}
	if f.bad != nil {
		l.facts = &kept{Manifest: *f.unreadable(NoDirectory, f.bad)}
		return l
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer giveBack(buf)
	for range tries {
		data, err := f.read(buf)
		if err != nil {
			l.facts = &kept{Manifest: *f.unreadable(Unreadable, err)}
			return l
		}
		key := sha256.Sum256(data)
		if err := s.facts(l, key, data); err != nil {
			l.facts = &kept{Manifest: *f.unreadable(Unreadable, err)}
			l.facts.Manifest.Hash = build.Hash(data)
			return l
		}
		if l.facts == nil {
			return l
		}
		l.facts.Manifest.Path = f.path
		if s.beside(f, l) || f.same(key, buf) {
			s.ask(l)
			s.compare(l)
			l.policies = nil
			return l
		}
	}
	l.facts.Manifest.Problems = append(l.facts.Manifest.Problems, Problem{Class: Changing, Detail: "it is replaced while it is read"})
	return l
}

// same reports whether the bytes of a manifest are still those of a hash.
func (f *found) same(key [sha256.Size]byte, buf *bytes.Buffer) bool {
	data, err := f.read(buf)
	return err == nil && sha256.Sum256(data) == key
}

// facts sets the facts of a manifest: those of the record, if there are any.
// See RATIONALE D271.
func (s *survey) facts(l *look, key [sha256.Size]byte, data []byte) error {
	l.facts, l.frame, l.fresh = nil, nil, false
	if frame := s.record.get(key); frame != nil && s.recall(l, frame) {
		return nil
	}
	k, policies, err := parse(data, s.backends())
	if errors.Is(err, build.ErrForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	k.Manifest.Hash, k.Manifest.Compiled = "sha256:"+hex.EncodeToString(key[:]), s.req.Compile
	l.frame = &frame{key: key}
	if l.frame.policies, err = deflate(policies); err == nil {
		l.frame.facts, err = k.marshal()
	}
	if err == nil && (len(l.frame.policies) > maxPolicies || len(l.frame.facts) > maxFacts) {
		err = errTooMuch
	}
	l.policies, l.fresh = policies, true
	if err == nil {
		// Texts of the manifest are parts of one large text; those of the frame are not.
		l.facts, err = unmarshalKept(l.frame.facts)
	}
	return err
}

// recall sets the facts from a frame, and reports whether that has all that is needed.
func (s *survey) recall(l *look, f *frame) bool {
	k, err := unmarshalKept(f.facts)
	if err != nil || s.req.Compile && !k.Manifest.Compiled {
		return false
	}
	if s.req.Question != nil {
		if l.policies, err = inflate(f.policies); err != nil || len(l.policies) != len(k.Manifest.Tools) {
			return false
		}
	}
	l.facts, l.frame = k, f
	return true
}

// backends are those by which policies are compiled anew.
// See RATIONALE D272.
func (s *survey) backends() []backends.Backend {
	if s.req.Compile {
		return s.req.Backends
	}
	return nil
}

// Bounds of a manifest's content, against one that costs far more than its size.
const (
	maxObjects = 1 << 20
	// maxRules bounds the rules of all tools, of which several can have the same text.
	maxRules = 1 << 20
)

var errTooMuch = errors.New("more than this version looks at")

// parse reads a manifest and checks it against itself.
func parse(data []byte, bs []backends.Backend) (*kept, []*irjson.ToolDoc, error) {
	if bytes.Count(data, []byte("{")) > maxObjects {
		return nil, nil, errTooMuch
	}
	m, err := build.ParseManifest(data)
	if err != nil {
		return nil, nil, err
	}
	rules := 0
	for i := range m.Tools {
		rules += 1 + m.Tools[i].Policy.Rules() + len(m.Tools[i].Ledger)
	}
	if rules > maxRules {
		return nil, nil, errTooMuch
	}
	k := &kept{Manifest: Manifest{Form: m.Form, Tools: []Tool{}}}
	var policies []*irjson.ToolDoc
	problems, err := build.Inspect(m, bs, func(in build.Inspected) error {
		k.Manifest.Tools = append(k.Manifest.Tools, factsOf(in))
		var policy *irjson.ToolDoc
		if in.Tool != nil {
			policy = irjson.Tool(in.Tool).WithoutFields()
		}
		policies = append(policies, policy)
		if in.Entry.Confined {
			k.Listed = append(k.Listed, listed{in.Entry.Name, in.Entry.Artifacts})
		}
		return nil
	})
	for _, p := range problems {
		k.Manifest.Problems = append(k.Manifest.Problems, Problem(p))
	}
	for _, r := range m.Rulesets {
		k.Manifest.Rulesets = append(k.Manifest.Rulesets, Ruleset{r.Name, r.Hash})
	}
	return k, policies, err
}

// beside compares the artifacts with those of the directory. It reports whether there is no problem with any.
func (s *survey) beside(f *found, l *look) bool {
	m := &l.facts.Manifest
	dir, err := f.root.OpenRoot(path.Dir(f.name))
	if err != nil {
		m.Problems = append(m.Problems, Problem{Class: build.ArtifactMissing, Detail: oserr.Reason(err).Error()})
		return false
	}
	defer dir.Close()
	counts, problems := build.Artifacts(dir, l.facts.entries(), s.req.Backends)
	m.Artifacts = Artifacts{Match: counts.Match, Absent: counts.Absent, Wrong: len(problems)}
	for _, p := range problems {
		m.Problems = append(m.Problems, Problem(p))
	}
	return len(problems) == 0
}

// ask puts the question to the policies of a manifest.
func (s *survey) ask(l *look) {
	if s.req.Question == nil {
		return
	}
	m := &l.facts.Manifest
	for i, doc := range l.policies {
		if doc == nil || !m.Tools[i].Confined {
			continue
		}
		t, err := doc.Tool()
		if err != nil {
			m.Problems = append(m.Problems, Problem{Class: build.ToolPolicy, Tool: m.Tools[i].Name, Detail: err.Error()})
			continue
		}
		l.asked++
		if a := s.req.Question.Put(t); a.Verdict != No {
			l.answers = append(l.answers, Answered{m.Path, m.Tools[i].Name, a})
		}
	}
}

// take adds the facts that were found at one place to the result, in order.
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

// keep adds a manifest to the new record, which begins with the first one that is not in the old record.
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

// share has equal texts of tools be the same ones, and none be a part of the frame's.
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
