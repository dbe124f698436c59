package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// TestBlocksOfLevels: a block is in the filter from its first level to its last one, both included.
func TestBlocksOfLevels(t *testing.T) {
	for _, b := range []landlock.Block{{To: 2}, {From: 3}, {From: 2, To: 4}, {}} {
		b.Errno, b.Syscalls = "EACCES", []string{"fsync"}
		for abi := 1; abi <= 6; abi++ {
			table, err := Rules{Blocks: []landlock.Block{b}}.tests(abi,
				func(uint32) unix.SockFilter { return unix.SockFilter{} })
			if err != nil {
				t.Fatal(err)
			}
			if got := len(table[unix.SYS_FSYNC]) > 0; got != b.Applies(abi) || got != (abi >= b.From &&
				(b.To == 0 || abi <= b.To)) {
				t.Errorf("a block from %d to %d at level %d: %v", b.From, b.To, abi, got)
			}
		}
	}
}

// TestManyConditions: a block refuses a call if all of its conditions are true, however many it has and of
// whatever kinds.
func TestManyConditions(t *testing.T) {
	one := []landlock.Condition{
		{Arg: 0, In: []string{"O_WRONLY"}}, {Arg: 1, AnyBit: []string{"O_WRONLY"}}, {Arg: 2, NonZero: true},
		{Arg: 3, NotIn: []string{"O_RDWR"}},
		{Arg: 4, Mask: 3, In: []string{"O_WRONLY", "O_RDWR"}},
	}
	for n := range len(one) {
		r := Rules{Blocks: []landlock.Block{{Errno: "EACCES", Syscalls: []string{"fsync"}, When: one[:n+1]}}}
		filter, err := Assemble(r, 1)
		if err != nil {
			t.Fatal(err)
		}
		program := machine(t, filter)
		for bits := range 1 << 10 {
			c := call{nr: unix.SYS_FSYNC, arch: auditArch}
			for i := range 5 {
				c.args[i] = uint64(bits >> (2 * i) & 3)
			}
			if got, want := vm(t, program, c), naiveFilter(r, 1, c); got != want {
				t.Fatalf("%d conditions, %v: the program says %#x, the block %#x", n+1, c.args, got, want)
			}
		}
	}
}
