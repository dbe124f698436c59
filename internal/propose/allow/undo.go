package allow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// maxChanges is how many changes can be taken back, one after the other: the last ones.
const maxChanges = 16

// Change is a change of a layer that a plan made, kept in the user's state of the workspace until it is taken back.
type Change struct {
	Layer string    `json:"layer"` // local, workspace or user
	File  string    `json:"file"`  // as findings name it
	Tool  string    `json:"tool"`
	Rules []string  `json:"rules"`
	At    time.Time `json:"at"`
	// Old is the text before, null where there was no file; New is the SHA-256 of the text after.
	Old []byte `json:"old"`
	New string `json:"new_sha256"`
}

// changes is the kept file. Without a readable one nothing can be taken back.
type changes struct {
	Version int      `json:"format_version"`
	Changes []Change `json:"changes"`
}

// ErrNoChange says that nothing can be taken back.
var ErrNoChange = errors.New("no change by allow or learn is kept that could be taken back")

func loadChanges(state userdir.Dir) []Change {
	_, data, err := wholefile.Read(state.Allowed())
	var kept changes
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Version != 1 {
		return nil
	}
	return kept.Changes
}

func saveChanges(state userdir.Dir, list []Change) error {
	data, err := json.Marshal(changes{1, list[max(0, len(list)-maxChanges):]})
	if err != nil {
		return err
	}
	return wholefile.Spare(state.Allowed(), data)
}

// remember keeps the change of a plan that is about to be written, and returns what forgets it. The caller has the lock
// of the approvals.
func (p *Plan) remember() (forget func() error, err error) {
	state := p.p.Now.State
	was := loadChanges(state)
	c := Change{p.p.kind.String(), p.Name, p.p.Tool.Name, p.Rules, time.Now().UTC(), p.Old, digest(p.New)}
	return func() error { return saveChanges(state, was) }, saveChanges(state, append(was[:len(was):len(was)], c))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Undo takes the last change back, whole or not at all: the layer gets the text that it had before, with its comments.
// It returns the change and the text that gives way, and with dry changes nothing. layerfile.ErrChanged says that
// something else has changed the layer since, whose work would be lost.
func Undo(res *hostfacts.Result, dry bool) (last Change, now []byte, err error) {
	store, err := res.Approvals()
	if err != nil {
		return last, nil, fmt.Errorf("%s %w", store, err)
	}
	// All writers of layers have the lock of the approvals.
	_, err = approvals.Update(store, func(*approvals.Store) error {
		list := loadChanges(res.State)
		for ; len(list) > 0; list = list[:len(list)-1] {
			last = list[len(list)-1]
			f, err := last.open(res)
			if err != nil {
				return err
			}
			defer f.Close()
			if digest(f.Data) == last.New {
				now = f.Data
				return last.restore(f, res.State, list[:len(list)-1], dry)
			}
			if (f.Info == nil) != (last.Old == nil) || !bytes.Equal(f.Data, last.Old) {
				return fmt.Errorf("%s %w", last.File, layerfile.ErrChanged)
			}
			// A change that was kept and never written, or that was taken back by hand.
		}
		return ErrNoChange
	})
	return last, now, err
}

func (c Change) restore(f *layerfile.File, state userdir.Dir, rest []Change, dry bool) error {
	if dry {
		return nil
	}
	if err := errors.Join(f.Write(c.Old), layerfile.SyncDir(f.Dir)); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return saveChanges(state, rest)
}

// open opens the layer of a change, at the place that it has now.
func (c Change) open(res *hostfacts.Result) (*layerfile.File, error) {
	kind, _ := ir.ParseLayer(c.Layer)
	l := layer{kind: kind}
	if err := l.place(res.Resolver.Root, nil); err != nil {
		return nil, err
	}
	if kind == ir.LayerWorkspace && c.File == jpConfig {
		l.dir, l.name, l.Name = filepath.Dir(jpConfig), filepath.Base(jpConfig), jpConfig
	}
	if l.Name != c.File {
		return nil, fmt.Errorf("the layer that was changed is %s, and it is %s now", c.File, l.Name)
	}
	f, err := l.open()
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", c.File, layerfile.ErrChanged)
	}
	return f, err
}
