package serving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/serve"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/asked"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/sandbox"
)

// Host starts tools and answers by the configuration as it is now.
type Host struct {
	config  config.Flags
	version string
	root    string
	// socket is the path of the socket, empty for none.
	socket string

	mu     sync.Mutex
	can    *asked.Stream
	decide map[[2]string]*asked.Decider
	// host starts tools by the configuration as it was read at a time; read has the answers by then.
	host *sandbox.Host
	read *hostfacts.Result
	at   time.Time
	// starting is held by starts from their judgement on, and by renew against them: a tool starts under the
	// policy that was judged.
	starting sync.RWMutex
}

// fleeting is how long a start may go by links, programs and the repository's own settings as they were. Changed
// layers and approvals count at once.
const fleeting = 2 * time.Second

// Open reads the configuration. Its directory is canonical from then on: the client decides later where it stands.
func Open(of config.Flags, accept []string, version string, style explain.Style, messages io.Writer) (*Host, error) {
	root, err := of.Root()
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	of = of.In(root)
	now, err := watch(of)
	if err != nil {
		return nil, err
	}
	h := &Host{config: of, version: version, root: root, decide: map[[2]string]*asked.Decider{}}
	h.host, err = sandbox.Open(sandbox.Config{
		Dir: root, Layers: of.Config, Untrusted: of.Untrusted, Set: of.Set, Shared: of.Shared, Accept: accept,
		Messages: messages,
	})
	if err != nil {
		return nil, err
	}
	h.read, h.at = now.Result, time.Now()
	h.can = asked.NewStream(now, "", false, style)
	return h, nil
}

// About implements serve.Host.
func (h *Host) About() serve.About { return serve.About{Accessc: h.version, Root: h.root} }

// Can implements serve.Host.
func (h *Host) Can(q *serve.Question) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if q.Tool == "" {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "can: expected a tool"}
	}
	line := asked.Line{
		Tool: q.Tool, Operation: q.Operation, Method: q.Method, Target: q.Target, Destination: q.Destination,
		Arguments: q.Arguments, System: q.System,
	}
	if _, err := line.Question(); err != nil {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "can: " + err.Error()}
	}
	if err := h.fresh(q.Tool, false); err != nil {
		return nil, err
	}
	doc, err := h.can.Ask(line)
	if err != nil {
		return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
	}
	return doc, nil
}

// fresh reads the configuration again where it has changed, for a start or an answer, and reports the mistakes that
// a tool has.
func (h *Host) fresh(tool string, starts bool) error {
	err := h.can.Reload()
	if err == nil && starts && (h.read != h.can.Config().Result || time.Since(h.at) > fleeting) {
		err = h.renew()
	}
	if err == nil {
		_, err = config.Confined(h.can.Config().Result, tool)
	}
	if err == nil {
		return nil
	}
	out := &serve.Error{Reason: serve.Config, Text: err.Error()}
	found := h.can.Config().Result.Concerning(tool)
	if found.Failed() {
		var b bytes.Buffer
		if diag.WriteJSON(&b, found, h.can.Config().Result.Files) == nil {
			out.Findings = bytes.TrimSpace(b.Bytes())
		}
	}
	return out
}

// maxRenewals bounds how often a configuration is read that changes meanwhile.
const maxRenewals = 10

// renew has the host of the starts read the configuration that the answers are by. Where it changes meanwhile, both
// read it again.
func (h *Host) renew() error {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.read = nil
	for range maxRenewals {
		if err := h.host.Reload(); err != nil {
			return err
		}
		if !h.can.Config().Changed() {
			h.read, h.at = h.can.Config().Result, time.Now()
			return nil
		}
		time.Sleep(config.Tick) // a file that has just been written counts as changed
		if err := h.can.Reload(); err != nil {
			return err
		}
	}
	return errors.New("the configuration changes all the time")
}

// Decide implements serve.Host.
func (h *Host) Decide(op *serve.Operation) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]string{op.Ruleset, op.Tool}
	s := h.decide[key]
	if s == nil {
		of, err := watch(h.config)
		if err != nil {
			return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
		}
		if s, err = asked.NewDecider(of, asked.DecideBy{Ruleset: op.Ruleset, Tool: op.Tool, Operation: "execute"}); err != nil {
			return nil, &serve.Error{Reason: serve.Config, Text: err.Error()}
		}
		if len(h.decide) >= maxDecided {
			clear(h.decide)
		}
		h.decide[key] = s
	}
	d, err := s.Decide(
		asked.DecideLine{
			Command:   op.Command,
			Cwd:       op.Cwd,
			Operation: op.Operation,
			Paths:     op.Paths,
			URL:       op.URL,
			Shell:     op.Shell,
		},
	)
	if err != nil {
		return nil, &serve.Error{Reason: serve.BadParams, Text: "decide: " + err.Error()}
	}
	return d, nil
}

// maxDecided bounds the pairs of a ruleset and a tool that are kept for decide.
const maxDecided = 64

// Start implements serve.Host.
func (h *Host) Start(s *serve.Start) (serve.Process, error) {
	process, err := h.start(s)
	if process == nil {
		closeFiles(s.Streams[:])
	}
	return process, err
}

func (h *Host) start(s *serve.Start) (serve.Process, error) {
	h.mu.Lock()
	err := h.allowed(s)
	h.starting.RLock()
	defer h.starting.RUnlock()
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return h.startHere(s)
}

// allowed checks that a tool may be started for a client.
func (h *Host) allowed(s *serve.Start) error {
	if err := h.fresh(s.Tool, true); err != nil {
		return err
	}
	t, err := config.Tool(h.can.Config().Result.Program, s.Tool)
	if err == nil {
		err = h.unreachable(t)
	}
	if err != nil {
		return &serve.Error{Reason: serve.NotStarted, Text: err.Error(), Status: start.CodeFailed}
	}
	return nil
}

// unreachable refuses a tool that could connect to the socket of this server, or put another in its place.
// See decision D238.
func (h *Host) unreachable(t *ir.Tool) error {
	if h.socket == "" {
		return nil
	}
	facts := h.can.Config().Result.Facts(t)
	view := ir.NewView(t, hostfacts.Platform(), facts)
	for _, c := range []ir.Capability{ir.Update, ir.Create, ir.Delete} {
		if view.Decide(ir.Access{Cap: c, On: ir.Direct(facts.Bindings.Locate(filepath.ToSlash(h.socket)))}).Allowed() {
			return fmt.Errorf("the policy of %s grants %s at the socket of this server, %s", t.Name, c, h.socket)
		}
	}
	return nil
}

// watch compiles for answers, which go on after the configuration has changed.
func watch(of config.Flags) (*config.Watched, error) {
	return config.Watch(of, filepath.Join("access", build.AttestationFile))
}

// Close ends what the tools of the server have shared.
func (h *Host) Close() { h.host.Close() }
