package allow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// TestUndo: as many changes as are kept come back, each with the text that was before it.
func TestUndo(t *testing.T) {
	req, base := world(t, map[string]string{"ws/accessc.toml": policy})
	req.Layer = ir.LayerWorkspace
	file := filepath.Join(base, "ws", "accessc.toml")
	text := func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	res, err := hostfacts.Compile(req.Compile)
	if err != nil {
		t.Fatal(err)
	}
	add := func(i int) *Plan {
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Question([]string{"env", fmt.Sprintf("V%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(a)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	var was []string
	for i := range maxChanges + 2 {
		was = append(was, text())
		if err := add(i).Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	last := text()
	// A process that was killed between keeping a change and writing it has changed nothing.
	if _, err := add(99).remember(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(last+"# mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Undo(res, false); !errors.Is(err, layerfile.ErrChanged) || text() != last+"# mine\n" {
		t.Errorf("what was written since is lost: %v, %s", err, text())
	}
	if err := os.WriteFile(file, []byte(last), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, now, err := Undo(res, true); err != nil || string(now) != last || text() != last {
		t.Errorf("to look is to change: %v, %s", err, text())
	}
	// The oldest changes gave way, one of them to the change that was never written.
	for i := len(was) - 1; i >= 3; i-- {
		c, _, err := Undo(res, false)
		if err != nil || text() != was[i] || c.Tool != "t" || len(c.Rules) != 1 {
			t.Fatalf("%d: %v, %v, expected %s, found %s", i, err, c.Rules, was[i], text())
		}
	}
	if _, _, err := Undo(res, false); !errors.Is(err, ErrNoChange) || text() != was[3] {
		t.Errorf("%v, %s", err, text())
	}
	if info, err := os.Stat(res.State.Allowed()); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("others read the layers: %v, %v", info, err)
	}
}
