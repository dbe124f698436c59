package supervisor

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGiven: a standard descriptor is the file that the tool got, with the mode that it got it with. When the file has
// lost its name no other one gets its number. A descriptor without a right is none.
func TestGiven(t *testing.T) {
	dir := t.TempDir()
	name := dir + "/input"
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(flags int) int {
		t.Helper()
		fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	bare := open(unix.O_PATH)
	defer unix.Close(bare)
	if g := asGiven(bare); g.known {
		t.Errorf("a descriptor without a right: %+v", g)
	}
	fd := open(unix.O_WRONLY | unix.O_APPEND)
	r := &resolver{caller: &caller{box: &sandbox{}}}
	r.box.given[2] = asGiven(fd)
	g := r.asStandard(2, fd)
	if g == nil || g.mode != unix.O_WRONLY || r.asStandard(0, fd) != nil || r.asStandard(3, fd) != nil {
		t.Fatalf("%+v", r.box.given)
	}
	defer unix.Close(g.held)
	// The supervisor lets go of it, the tool closes its own, and the host removes the file.
	_ = unix.Close(fd)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if at, known := inode(g.held); !known || at != g.file {
		t.Error("another file can get the number of the inode")
	}
}
