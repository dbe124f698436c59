package approvals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fullEnv makes this program mount a small file system at the path in its value and fill it
// with a store.
const fullEnv = "APPROVALS_TEST_FULL"

// TestFullDisk: on a file system of a few pages, the update that no longer fits fails with the
// kernel's ENOSPC, and the store is still the one before.
func TestFullDisk(t *testing.T) {
	cmd := again(t, fullEnv, t.TempDir(), "", 0)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.Contains(string(out), "mount:") {
		t.Skipf("no mount namespace here: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func init() {
	dir, _, _ := split(os.Getenv(fullEnv))
	if dir == "" {
		return
	}
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700"),
	); err != nil {
		fmt.Println("mount:", err)
		os.Exit(1)
	}
	if err := fill(filepath.Join(dir, "approvals.json")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func fill(path string) error {
	var held []Mount
	for n := 0; ; n++ {
		m := Mount{fmt.Sprintf("fork%d", n), "/" + strings.Repeat("x", 500), noon, ""}
		_, err := Update(path, func(s *Store) error { return s.Approve(m) })
		if err == nil {
			held = append(held, m)
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) || n == 0 {
			return fmt.Errorf("update %d: %w", n, err)
		}
		fmt.Printf("update %d: %v\n", n, err)
		break
	}
	s, err := Load(path)
	if err != nil {
		return err
	}
	if len(s.Mounts()) != len(held) {
		return fmt.Errorf("the store holds %d of %d", len(s.Mounts()), len(held))
	}
	for _, m := range held {
		if status, _ := s.Lookup(m.RulePath, m.CanonicalTarget); status != Approved {
			return fmt.Errorf("%s is lost", m.RulePath)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"approvals.json", "approvals.json.lock"}, names); diff != "" {
		return errors.New("left over: " + diff)
	}
	// Updates that make room can still be written.
	_, err = Update(path, func(s *Store) error {
		for _, m := range held[1:] {
			s.Forget(m.RulePath)
		}
		return nil
	})
	return err
}
