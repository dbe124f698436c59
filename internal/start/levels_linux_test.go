package start

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
			table, err := rules{blocks: []landlock.Block{b}}.tests(abi, func(uint32) unix.SockFilter { return unix.SockFilter{} })
			if err != nil {
				t.Fatal(err)
			}
			if got := len(table[unix.SYS_FSYNC]) > 0; got != b.Applies(abi) || got != (abi >= b.From && (b.To == 0 || abi <= b.To)) {
				t.Errorf("a block from %d to %d at level %d: %v", b.From, b.To, abi, got)
			}
		}
	}
}
