package allow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// Plan is an addition to a layer. It has passed every check and changed nothing.
type Plan struct {
	// Name is the file of the layer, Old and New are its text; a nil Old is no file.
	Name     string
	Old, New []byte
	// Reach describes the grants beyond the operations.
	Reach Reach
	// Rules are the grants in words, Added the same with the operations that they are for.
	Rules []string
	Added []Added
	// Approve maps the paths of external rules to their targets: they take effect once these are
	// approved.
	Approve map[string]string
	// Waiting are those of them that the layer has by now.
	Waiting []string
	// Presets are those that the tool extends by the plan.
	Presets []string
	p       *Planner
	// unserved is true where the tool would have no supervisor that its runs needed.
	unserved bool
}

// Added is one rule of a plan.
type Added struct {
	Rule string `json:"rule"`
	// Entries are the indices of the operations that it is for.
	Entries []int `json:"operations"`
	Reach   Reach `json:"reach"`
	// External is the path of an external rule, Target where it leads.
	External string `json:"external,omitempty"`
	Target   string `json:"target,omitempty"`
}

// Empty reports whether there is nothing to be written.
func (p *Plan) Empty() bool { return bytes.Equal(p.Old, p.New) }

// Apply writes the layer, whole or not at all. layerfile.ErrChanged says that another process has
// written it meanwhile.
func (p *Plan) Apply(ctx context.Context) error {
	if p.Empty() {
		return nil
	}
	store, err := p.p.Now.Approvals()
	if err != nil {
		return fmt.Errorf("%s %w", store, err)
	}
	// All writers of layers have the lock of the approvals.
	_, err = approvals.Update(store, func(*approvals.Store) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.write()
	})
	return err
}

func (p *Plan) write() error {
	if p.p.kind == ir.LayerUser {
		if err := os.MkdirAll(p.p.root, 0o700); err != nil {
			return err
		}
	}
	f, err := p.p.open()
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	if f.Dir == nil {
		if f, err = p.p.makeDir(); err != nil {
			return err
		}
	}
	if !bytes.Equal(f.Data, p.Old) {
		return layerfile.ErrChanged
	}
	forget, err := p.remember()
	if err != nil {
		return err
	}
	if err := errors.Join(f.Write(p.New), layerfile.SyncDir(f.Dir)); err != nil {
		return errors.Join(err, forget())
	}
	return nil
}

// Change is the change of the file by lines: from a line, counted from 1, as many as are replaced
// give way to others.
// See decision D177.
func (p *Plan) Change() (line, replaced int, changed []string) {
	old, now := lines(p.Old), lines(p.New)
	same := 0
	for same < len(old) && same < len(now) && old[same] == now[same] {
		same++
	}
	end := 0
	for end < len(old)-same && end < len(now)-same && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	return same + 1, len(old) - same - end, now[same : len(now)-end]
}

func lines(text []byte) []string {
	s := strings.ReplaceAll(string(text), "\r\n", "\n")
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// Grant writes operations to the local layer of a tool.
func Grant(opts hostfacts.Options, tool string, ops []ir.Operation) error {
	var asks []Ask
	for _, op := range ops {
		asks = append(asks, Ask{Operation: op})
	}
	const attempts = 20 // another process may be faster
	for i := 1; ; i++ {
		p, err := Begin(Request{Compile: opts, Layer: ir.LayerLocal, Tool: tool})
		if err != nil {
			return err
		}
		plan, err := p.Plan(asks...)
		if err != nil {
			return err
		}
		if err = plan.Apply(context.Background()); !errors.Is(err, layerfile.ErrChanged) || i == attempts {
			return err
		}
	}
}
