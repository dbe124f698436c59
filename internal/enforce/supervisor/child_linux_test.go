package supervisor

import (
	"errors"
	"runtime"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refusing is a filter that refuses setns(2) if told so, and nothing else.
func refusing(t *testing.T, setns bool) []unix.SockFilter {
	t.Helper()
	refuse := uint32(unix.SECCOMP_RET_ALLOW)
	if setns {
		refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SETNS, SkipFalse: 1},
		bpf.RetConstant{Val: refuse}, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []unix.SockFilter
	for _, i := range raw {
		out = append(out, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return out
}

// TestCanaries: neither a clone nor this process becomes the tool where the ruleset or the filter
// refuses too little.
func TestCanaries(t *testing.T) {
	if abi, err := ll.LandlockGetABIVersion(); err != nil || abi < 1 {
		t.Skip("no Landlock here")
	}
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: ll.AccessFSMakeBlock}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ruleset)
	become := func(c Child) error {
		end := make(chan error)
		go func() {
			runtime.LockOSThread() // the thread, which is confined, ends with the function
			end <- Become(c)
		}()
		return <-end
	}
	cloned := func(c Child) error {
		tool, err := Clone(c)
		if err == nil {
			_, err = tool.Attend()
			_, _ = unix.Wait4(tool.pid, nil, 0, nil)
		}
		return err
	}
	for step, c := range map[string]Child{
		"canary of the ruleset (open)":   {Canary: "/", Filter: refusing(t, true)},
		"canary of the filter (setns)":   {Filter: refusing(t, false)},
		"canary of the network (socket)": {Filter: refusing(t, true)},
	} {
		c.Ruleset, c.Unsupervised, c.File, c.Argv = ruleset, true, "/bin/false", []string{"false"}
		for by, start := range map[string]func(Child) error{"this process": become, "a clone": cloned} {
			var e *StartError
			if err := start(c); !errors.As(err, &e) || e.Step != step {
				t.Errorf("%s ended with %v, want %s", by, err, step)
			}
		}
	}
}
