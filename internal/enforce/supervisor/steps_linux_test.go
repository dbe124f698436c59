package supervisor

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilesOfChild: a child gets its three standard descriptors from those of its host, and of all others none stays
// once it executes the tool.
func TestFilesOfChild(t *testing.T) {
	files := [3]int{7, 8, 9}
	p := &program{}
	if err := (&Child{Files: &files}).takeFiles(p); err != nil {
		t.Fatal(err)
	}
	if len(p.steps) != 4 {
		t.Fatalf("%d steps", len(p.steps))
	}
	for n, s := range p.steps[:3] {
		if s.nr != unix.SYS_DUP3 || s.args[0] != uintptr(files[n]) || s.args[1] != uintptr(n) || s.args[2] != 0 {
			t.Errorf("descriptor %d: %+v", n, s)
		}
	}
	if s := p.steps[3]; s.nr != unix.SYS_CLOSE_RANGE || s.args != [5]uintptr{3, 1<<32 - 1, unix.CLOSE_RANGE_CLOEXEC} {
		t.Errorf("the others: %+v", s)
	}
}
