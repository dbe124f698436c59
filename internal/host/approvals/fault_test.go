package approvals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// faulty is the disk with one call that fails, counted from 1. A write that fails has
// written half.
type faulty struct {
	disk
	at    int
	err   error
	calls int
	log   []string
}

func (v *faulty) fails(what string) error {
	v.calls++
	v.log = append(v.log, what)
	if v.calls == v.at {
		return v.err
	}
	return nil
}

func (v *faulty) create(path string) (file, error) {
	if err := v.fails("create"); err != nil {
		return nil, err
	}
	f, err := v.disk.create(path)
	return &faultyFile{f, v}, err
}

func (v *faulty) rename(from, to string) error {
	if err := v.fails("rename"); err != nil {
		return err
	}
	return v.disk.rename(from, to)
}

func (v *faulty) remove(path string) error {
	if err := v.fails("remove"); err != nil {
		return err
	}
	return v.disk.remove(path)
}

func (v *faulty) sync(dir string) error {
	if err := v.fails("sync directory"); err != nil {
		return err
	}
	return v.disk.sync(dir)
}

type faultyFile struct {
	file
	v *faulty
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.v.fails("write"); err != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.v.fails("sync"); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *faultyFile) Close() error {
	return errors.Join(f.v.fails("close"), f.file.Close())
}

// TestFaults: whichever call fails, the store is unchanged, the next writer removes anything
// left beside it, and the next writer succeeds.
func TestFaults(t *testing.T) {
	const whole = `{"mounts": [{"rule_path": "a", "canonical_target": "/a"}]}`
	for _, before := range []struct{ name, text string }{
		{"no store", ""}, {"a store", whole}, {"a malformed store", `{"mounts": `},
	} {
		for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
			t.Run(fmt.Sprintf("%s, %v", before.name, fault), func(t *testing.T) {
				for at := 1; ; at++ {
					path := newStore(t, before.text)
					if before.text == "" {
						_ = os.Remove(path)
					}
					v := &faulty{at: at, err: fault}
					_, err := update(v, path, approve("b", "/b"))
					if v.calls < at {
						t.Logf("%d calls: %v", v.calls, v.log)
						if err != nil || at < 6 {
							t.Fatalf("%d calls, %v", v.calls, err)
						}
						return
					}
					checkFault(t, path, before.text, v, err)
				}
			})
		}
	}
}

func checkFault(t *testing.T, path, before string, v *faulty, err error) {
	t.Helper()
	what := fmt.Sprintf("call %d (%s)", v.at, v.log[v.at-1])
	if !errors.Is(err, v.err) {
		t.Fatalf("%s: %v", what, err)
	}
	var after []string
	if before != "" {
		after = []string{"approvals.json"}
		if got := text(t, path); got != before {
			// A restored store is written as read, so nothing may differ.
			t.Fatalf("%s: the store holds %q", what, got)
		}
	}
	// The failing remove is the one that has to clean up; the next writer does.
	if v.log[v.at-1] != "remove" {
		if diff := cmp.Diff(after, beside(t, path)); diff != "" {
			t.Fatalf("%s: left behind: %s", what, diff)
		}
	}
	if _, err := Update(path, approve("c", "/c")); err != nil {
		t.Fatalf("%s: then %v", what, err)
	}
	for _, name := range beside(t, path) {
		if name != "approvals.json" && name != "approvals.json.malformed" {
			t.Fatalf("%s: %s is left over", what, name)
		}
	}
}

// TestLeftover: the leftovers of a killed writer are removed, not trusted.
func TestLeftover(t *testing.T) {
	path := newStore(t, `{}`)
	if err := os.WriteFile(path+temporarySuffix, []byte(`{"mounts": [{"rule_path": "evil", "canonical_target": "/etc"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, path, approve("fork", "/code"))
	if s, _ := Load(path); len(s.Mounts()) != 1 {
		t.Error(s.Mounts())
	}
	if diff := cmp.Diff([]string{filepath.Base(path)}, beside(t, path)); diff != "" {
		t.Error(diff)
	}
}
