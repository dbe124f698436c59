package allow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/accessc/accessc/internal/approvals"
	"github.com/accessc/accessc/internal/layerfile"
	"github.com/accessc/accessc/ir"
)

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
