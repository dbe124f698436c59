package allow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

const policy = "# mine\n[tools.t]\nsource = 'local'\naccess.fs = [{ path = '.', read = true }] # all\n"

// TestApplyTogether: writers of one layer at the same time lose nothing of each other, and readers
// never see a part.
func TestApplyTogether(t *testing.T) {
	req, base := world(t, map[string]string{"ws/accessc.toml": policy})
	const writers = 8
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for {
				p, err := Begin(req)
				if err != nil {
					t.Error(err)
					return
				}
				a, err := p.Question([]string{"env", fmt.Sprintf("V%d", i)})
				if err != nil {
					t.Error(err)
					return
				}
				plan, err := p.Plan(a)
				if err != nil {
					t.Error(err)
					return
				}
				switch err = plan.Apply(context.Background()); {
				case err == nil:
					return
				case !errors.Is(err, layerfile.ErrChanged):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(filepath.Join(base, "ws", ".accessc", "local.toml"))
	if err != nil || strings.Count(string(text), "[[tools.t.access.env]]") != writers {
		t.Errorf("%v\n%s", err, text)
	}
	entries, err := os.ReadDir(filepath.Join(base, "ws", ".accessc"))
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestApplyWritesNothing: a plan whose context has ended, whose file has changed or become a
// symlink writes nothing.
func TestApplyWritesNothing(t *testing.T) {
	for name, change := range map[string]func(file string, cancel func()){
		"interrupted": func(_ string, cancel func()) { cancel() },
		"changed":     func(file string, _ func()) { _ = os.WriteFile(file, []byte(policy+"\n# more\n"), 0o644) },
		"a symlink": func(file string, _ func()) {
			_ = os.Rename(file, file+".real")
			_ = os.Symlink(file+".real", file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			req, base := world(t, map[string]string{"ws/accessc.toml": policy})
			req.Layer = ir.LayerWorkspace
			p, err := Begin(req)
			if err != nil {
				t.Fatal(err)
			}
			a, err := p.Question([]string{"env", "V"})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := p.Plan(a)
			if err != nil || plan.Empty() {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			file := filepath.Join(base, "ws", "accessc.toml")
			change(file, cancel)
			before, _ := os.ReadFile(file)
			if err := plan.Apply(ctx); err == nil {
				t.Error("was written")
			}
			if after, _ := os.ReadFile(file); string(after) != string(before) {
				t.Errorf("now\n%s", after)
			}
		})
	}
}
