package folding_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/enforce/start/folding"
	"github.com/accessc/accessc/ir"
)

// folded is a directory in which every name is looked up in lower case.
type folded struct{ fs.LoopbackNode }

func (n *folded) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.LoopbackNode.Lookup(ctx, strings.ToLower(name), out)
}

// fold mounts a file system that folds case and has .env in it.
func fold(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and FUSE")
	}
	from, at := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(from, ".env"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := &fs.LoopbackRoot{Path: from}
	// Attributes are asked for by the name that was looked up, so they are kept.
	kept := time.Hour
	server, err := fs.Mount(at, &folded{fs.LoopbackNode{RootData: root}}, &fs.Options{
		AttrTimeout: &kept, EntryTimeout: &kept, MountOptions: fuse.MountOptions{DirectMountStrict: true},
	})
	if err != nil {
		t.Skip("no FUSE here: ", err)
	}
	t.Cleanup(func() { _ = server.Unmount() })
	return at
}

// TestFolds: in a directory that folds case the name of a file is found in another case.
func TestFolds(t *testing.T) {
	at, plain := fold(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(at, ".ENV")); err != nil {
		t.Fatalf("the mount does not fold: %v", err)
	}
	for dir, want := range map[string]bool{at: true, plain: false, t.TempDir(): false, filepath.Join(plain, "none"): false} {
		if got := folding.Folds(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// TestStartIsRefused: a rule that denies .env, by its path or by its name, does not deny .ENV where both are one file.
// Cause: the supervisor judges a file by the name that it was looked up by, and of rules by name no directory was tried.
func TestStartIsRefused(t *testing.T) {
	if start.ABI() < 1 || !start.ThisHost().Supervises {
		t.Skip("needs a supervisor")
	}
	at := fold(t)
	for what, rule := range map[string]ir.FSRule{
		"a path":         {Written: ".env", At: ir.In(".env")},
		"a name":         {Written: ".", At: ir.In(""), Names: []string{".env"}},
		"a name, opened": {Written: ".", At: ir.In(""), Names: []string{".env"}, Caps: ir.Caps(ir.Read)},
	} {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.All}, rule}
		tool.Command = &ir.Command{Program: "true"}
		out, err := landlock.Backend{}.Compile(tool, backends.Target{
			Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: at, Home: t.TempDir()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		spec, err := landlock.Parse(out.Data)
		if err != nil {
			t.Fatal(err)
		}
		err = start.Start(start.Request{Spec: spec, Messages: io.Discard})
		var e *start.Error
		if !errors.As(err, &e) || len(e.Unmet) != 1 || e.Unmet[0].Name != ir.GapFSNames {
			t.Errorf("%s: got %v", what, err)
		}
	}
}
