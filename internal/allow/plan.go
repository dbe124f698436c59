package allow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/approvals"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/layerfile"
	"github.com/accessc/accessc/ir"
)

// Plan is an addition to a layer. It has passed every check and changed nothing.
type Plan struct {
	// Name is the file of the layer, Old and New are its text; a nil Old is no file.
	Name     string
	Old, New []byte
	// Reach is what it grants beyond what was asked.
	Reach Reach
	// Rules are the grants in words.
	Rules []string
	p     *Planner
}

// Plan finds the additions that permit operations. A *Refusal says why there should be none, and
// any other error why there is none. A plan for operations that are permitted already is empty.
func (p *Planner) Plan(asks ...Ask) (*Plan, error) {
	d := &draft{p: p, text: layerfile.Text{}, tool: *p.Tool}
	var err error
	if d.text, err = layerfile.Parse(p.Name, p.old); err != nil {
		return nil, err
	}
	for _, a := range asks {
		if err := d.add(a); err != nil {
			return nil, err
		}
	}
	if err := d.write(); err != nil {
		return nil, err
	}
	out := &Plan{Name: p.Name, Old: p.old, New: d.text.Bytes, Rules: d.rules, p: p}
	if out.Empty() {
		return out, nil
	}
	opts := p.req.Compile
	opts.Layers.Edited = map[string][]byte{filepath.Join(p.root, p.dir, p.name): out.New}
	then, t, err := compile(opts, p.req.Tool, true)
	if err != nil {
		return nil, err
	}
	v := ir.NewView(t, hostfacts.Platform(), then.Facts(t))
	for _, a := range asks {
		if verdict := a.denied(v); verdict != nil {
			return nil, stillDenied(a, verdict)
		}
	}
	if err := p.harmless(then, t, v); err != nil {
		return nil, err
	}
	out.Reach = p.reach(v, d, asks)
	return out, nil
}

// Empty reports whether there is nothing to be written.
func (p *Plan) Empty() bool { return bytes.Equal(p.Old, p.New) }

func stillDenied(a Ask, v *ir.Verdict) error {
	about := ir.Describe(a.Operation)
	if v.Rule == nil {
		return fmt.Errorf("%s %s: no rule in this layer permits it (%s)", about.Verb, about.Subject, v.Reason)
	}
	return fmt.Errorf("%s %s: the rule %s (%s) still decides (%s)", about.Verb, about.Subject, v.Rule.Subject(), v.Rule.Source(), v.Reason)
}

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
	if p.p.req.Layer == ir.LayerUser {
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
	return errors.Join(f.Write(p.New), layerfile.SyncDir(f.Dir))
}

// makeDir makes the directory of the local layer, which is for this checkout alone.
func (p *Planner) makeDir() (*layerfile.File, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(p.dir, 0o777); err != nil {
		return nil, err
	}
	f, err := layerfile.Open(root, p.dir, p.name)
	if err == nil {
		err = layerfile.Ignore(f.Dir)
	}
	return f, err
}

// Change is the change of the file by lines: from a line, counted from 1, as many as are replaced
// give way to others.
// See RATIONALE D178.
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
