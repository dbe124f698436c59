package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
)

// TestClosedArguments: whatever the policy says, every filter refuses the arguments by which an allowed call would
// reach out of the sandbox, each at its place, and takes the same call without them.
func TestClosedArguments(t *testing.T) {
	value := func(names ...string) (v uint64) {
		for _, n := range names {
			one, ok := landlock.Constant(n)
			if !ok {
				t.Fatalf("there is no constant %s", n)
			}
			v |= uint64(one)
		}
		return v
	}
	refused := func(call string, args [6]uint64) bool {
		return slices.ContainsFunc(landlock.Always(), func(b landlock.Block) bool { return b.Refuses(call, args) })
	}
	at := func(arg int, v uint64) (args [6]uint64) { args[arg] = v; return args }
	for _, tt := range []struct {
		call  string
		arg   int
		names []string
	}{
		{"sendto", 3, []string{"MSG_FASTOPEN"}}, {"sendmsg", 2, []string{"MSG_FASTOPEN"}}, {"sendmmsg", 3,
			[]string{"MSG_FASTOPEN"}},
		{"renameat2", 4, []string{"RENAME_WHITEOUT"}}, {"clone", 0, []string{"CLONE_PARENT"}}, {"clone", 0,
			[]string{"CLONE_NEWUSER"}},
		{"unshare", 0, []string{"CLONE_NEWTIME"}}, {"unshare", 0, []string{"CLONE_NEWNS"}},
		{"creat", 1, []string{"S_ISUID"}}, {"mknod", 1, []string{"S_ISGID"}}, {"mknodat", 2, []string{"S_ISUID"}},
	} {
		if !refused(tt.call, at(tt.arg, value(tt.names...))) || refused(tt.call, [6]uint64{}) {
			t.Errorf("%s with %v", tt.call, tt.names)
		}
	}
	for _, request := range []string{"TIOCSTI", "TIOCLINUX", "TIOCSETD", "TIOCCONS"} {
		if !refused("ioctl", at(1, value(request))) {
			t.Errorf("ioctl with %s", request)
		}
	}
	for _, makes := range []string{"O_CREAT", "__O_TMPFILE"} {
		for _, bit := range []string{"S_ISUID", "S_ISGID"} {
			for call, first := range map[string]int{"open": 1, "openat": 2} {
				args := at(first, value(makes))
				if refused(call, args) {
					t.Errorf("%s with %s", call, makes)
				}
				if args[first+1] = value(bit); !refused(call, args) {
					t.Errorf("%s with %s and %s", call, makes, bit)
				}
			}
		}
	}
}
