package seccomp

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// call is one system call as a filter sees it.
type call struct {
	nr, arch uint32
	args     [6]uint64
}

// machine prepares a program to be run the way the kernel does.
func machine(t interface{ Fatal(...any) }, filter []unix.SockFilter) *bpf.VM {
	ins := make([]bpf.Instruction, len(filter))
	for i, f := range filter {
		ins[i] = bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K}.Disassemble()
	}
	m, err := bpf.NewVM(ins)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// vm runs a program on one call. The library's machine reads packets in network order, so
// every word of the record is written that way.
func vm(t interface{ Fatal(...any) }, m *bpf.VM, c call) uint32 {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offNr:], c.nr)
	binary.BigEndian.PutUint32(data[offArch:], c.arch)
	for i, a := range c.args {
		binary.BigEndian.PutUint32(data[offArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[offArgs+8*i+4:], uint32(a>>32))
	}
	got, err := m.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// naiveFilter is the meaning of blocks, from their documentation.
func naiveFilter(r Rules, abi int, c call) uint32 {
	if c.arch != auditArch {
		return unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	}
	if c.nr >= x32Bit {
		return unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	}
	for _, b := range r.Blocks {
		if abi < b.From || b.To != 0 && abi > b.To {
			continue
		}
		if naiveMatch(b.Syscalls, b.When, c) {
			number, _ := errno(b.Errno)
			return unix.SECCOMP_RET_ERRNO | number
		}
	}
	for _, t := range r.Traps {
		if naiveMatch(t.Syscalls, t.When, c) {
			return unix.SECCOMP_RET_USER_NOTIF
		}
	}
	for _, g := range landlock.Allowed() {
		if naiveMatch(g.Calls, nil, c) {
			return unix.SECCOMP_RET_ALLOW
		}
	}
	return unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
}

func naiveMatch(names []string, when []landlock.Condition, c call) bool {
	named := slices.ContainsFunc(names, func(n string) bool { nr, ok := number(n); return ok && nr == c.nr })
	return named && !slices.ContainsFunc(when, func(w landlock.Condition) bool { return !w.Holds(c.args) })
}

// TestFilterAgainstBlocks runs the assembled program in the library's machine and compares it
// with the blocks.
func TestFilterAgainstBlocks(t *testing.T) {
	t.Parallel()
	interesting := []uint64{0, 1, 2, 3, 4, 5, 10, 16, 6, 17, 262, 0x5412, 0x541c, 0x40086602, 0x200, 0x241, 0o10000000, 0o20000000, 0x10000000, 0x20000000, 0x20000, 1 << 32, 0x5412 | 1<<40}
	const per = 50
	irtest.Check(t, 2000, per, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 3)
		if rapid.Bool().Draw(rt, "address") {
			tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: 80, Allow: true}}
		}
		spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		on := Terms{ABI: rapid.IntRange(1, landlock.MaxABI).Draw(rt, "abi")}
		on.Supervised = spec.Supervision != nil && rapid.Bool().Draw(rt, "supervised")
		if rapid.Bool().Draw(rt, "open network") {
			spec.Ports, on.Ports = []landlock.Port{{Port: 443}}, true
		}
		if rapid.IntRange(0, 2).Draw(rt, "traced") == 0 {
			if err := spec.Trace(tool, backends.Target{Form: backends.Resolved}); err != nil {
				rt.Fatal(err)
			}
			on.Traced, on.Supervised = true, true
		}
		r := Of(spec, on)
		filter, err := Assemble(r, on.ABI)
		if err != nil {
			rt.Fatal(err)
		}
		program := machine(rt, filter)
		blocks, traps, err := Divide(r, on.ABI)
		if err != nil {
			rt.Fatal(err)
		}
		first, second := machine(rt, blocks), machine(rt, traps)
		for range per {
			c := call{nr: rapid.SampledFrom(sysno[:]).Draw(rt, "call").nr, arch: auditArch}
			switch rapid.IntRange(0, 20).Draw(rt, "odd") {
			case 0:
				c.arch = unix.AUDIT_ARCH_I386
			case 1:
				c.nr |= x32Bit
			case 2:
				c.nr = rapid.Uint32().Draw(rt, "number")
			case 3:
				c.nr = rapid.Uint32Range(0, 1000).Draw(rt, "number")
			}
			for i := range c.args {
				c.args[i] = rapid.SampledFrom(interesting).Draw(rt, "arg")
			}
			if got, want := vm(rt, program, c), naiveFilter(r, on.ABI, c); got != want {
				rt.Fatalf("%+v: the program says %#x, the blocks %#x", c, got, want)
			}
			// The kernel takes the answer with the smallest action (seccomp_run_filters() in kernel/seccomp.c), of two
			// alike that of the latest filter.
			got := vm(rt, second, c)
			if other := vm(rt, first, c); other&unix.SECCOMP_RET_ACTION_FULL < got&unix.SECCOMP_RET_ACTION_FULL {
				got = other
			}
			if want := naiveFilter(r, on.ABI, c); got != want {
				rt.Fatalf("%+v: two programs say %#x, the blocks %#x", c, got, want)
			}
			if on.Traced && c.arch == auditArch && c.nr < x32Bit {
				heldByTrace(rt, spec, on, c, vm(rt, program, c))
			}
		}
	})
}

// TestMember runs the test of an argument for random values, of which many follow each other, in the library's machine.
func TestMember(t *testing.T) {
	t.Parallel()
	near := rapid.OneOf(rapid.Uint32Range(0, 24), rapid.Uint32Range(1<<32-8, 1<<32-1), rapid.Uint32())
	irtest.Check(t, 20000, 1, func(rt *rapid.T) {
		values := rapid.SliceOfN(near, 1, 30).Draw(rt, "values")
		want := rapid.Bool().Draw(rt, "want")
		mask := rapid.SampledFrom([]uint32{0, 0, 3, 0xf, 0xffffff00}).Draw(rt, "mask")
		// Behind the test: the end of calls for which it holds, one instruction that it must skip, and the other end.
		tests := append(member(offArgs, mask, slices.Clone(values), 2, want), end(1), end(3), end(2))
		program := machine(rt, tests)
		for range 20 {
			arg := near.Draw(rt, "argument")
			compared := arg
			if mask != 0 {
				compared &= mask
			}
			is := uint32(2)
			if slices.Contains(values, compared) == want {
				is = 1
			}
			if got := vm(rt, program, call{args: [6]uint64{uint64(arg)}}); got != is {
				rt.Fatalf("%#x among %#x, mask %#x, want %v: the program ends in %d", arg, values, mask, want, got)
			}
		}
	})
}

// TestShortFilter: filters have few instructions, each of which the kernel translates at every
// start, and no end of a program stands twice in it.
func TestShortFilter(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS[0].Caps = ir.All
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	if spec.Supervision == nil {
		t.Fatal("the tool needs no supervisor")
	}
	on := Terms{ABI: landlock.MaxABI, Supervised: true}
	_, traps, err := Divide(Of(spec, on), on.ABI)
	if err != nil {
		t.Fatal(err)
	}
	on.Supervised = false
	whole, err := Assemble(Of(spec, on), on.ABI)
	if err != nil {
		t.Fatal(err)
	}
	if most := 420; len(whole) > most {
		t.Errorf("the filter of a tool without a supervisor takes %d instructions, more than %d", len(whole), most)
	}
	if most := 140; len(traps) > most {
		t.Errorf("the traps take %d instructions, more than %d", len(traps), most)
	}
	ends := map[unix.SockFilter]int{}
	for _, f := range traps {
		if ends[f]++; isEnd(f) && ends[f] > 1 {
			t.Errorf("an end with %#x stands twice", f.K)
		}
	}
	if again := shortened(slices.Clone(traps)); !slices.Equal(again, traps) {
		t.Errorf("a short program of %d instructions is made one of %d", len(traps), len(again))
	}
}

// heldByTrace: a call that the blocks refuse reaches the supervisor under a trace, which finds
// a block that refuses it; no other call does by a block.
func heldByTrace(t *rapid.T, spec *landlock.Spec, on Terms, c call, got uint32) {
	refuses := func(e unix.Errno) bool {
		return naiveFilter(Rules{Blocks: on.blocks(spec)}, on.ABI, c) == unix.SECCOMP_RET_ERRNO|uint32(e)
	}
	want := refuses(unix.EACCES) || refuses(unix.EPERM)
	found := slices.ContainsFunc(Of(spec, on).Answered, func(b landlock.Block) bool {
		return b.Refuses(CallNames()[c.nr], c.args)
	})
	if want != found || want && got != unix.SECCOMP_RET_USER_NOTIF {
		t.Fatalf("%+v: refused %v, the supervisor finds it refused %v, the program says %#x", c, want, found, got)
	}
}

// TestFilterRefusesWhatItDoesNotKnow: a call, constant or condition that this loader
// does not know stops the start instead of being skipped.
func TestFilterRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, b := range map[string]landlock.Block{
		"call":      {Errno: "EPERM", Syscalls: []string{"mind_read"}},
		"errno":     {Errno: "EWHAT", Syscalls: []string{"bpf"}},
		"constant":  {Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []landlock.Condition{{Arg: 1, In: []string{"TIOCWHAT"}}}},
		"condition": {Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []landlock.Condition{{Arg: 1}}},
		"argument":  {Errno: "EPERM", Syscalls: []string{"ioctl"}, When: []landlock.Condition{{Arg: 6, NonZero: true}}},
	} {
		if _, err := Assemble(Rules{Blocks: []landlock.Block{b}}, 7); err == nil {
			t.Errorf("an unknown %s was accepted", name)
		}
		trap := landlock.Trap{Syscalls: b.Syscalls, When: b.When}
		if _, err := Assemble(Rules{Traps: []landlock.Trap{trap}}, 7); err == nil && name != "errno" {
			t.Errorf("an unknown %s was accepted in a trap", name)
		}
	}
}

// TestEveryNamedCallIsKnown: the loader can assemble everything that the compiler can write, at
// every ABI version and with the network closed or open.
func TestEveryNamedCallIsKnown(t *testing.T) {
	all := Rules{Blocks: landlock.Network()}
	for _, caps := range []ir.CapSet{0, ir.All, ir.Caps(ir.Create)} {
		tool := ir.NewTool("t")
		tool.FS[0].Caps = caps
		spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		all.Blocks = append(all.Blocks, spec.Filter...)
		if s := spec.Supervision; s != nil {
			all.Blocks, all.Traps = append(all.Blocks, s.Filter...), append(all.Traps, s.Traps...)
		}
	}
	for abi := 1; abi <= landlock.MaxABI; abi++ {
		if _, err := Assemble(all, abi); err != nil {
			t.Errorf("ABI %d: %v", abi, err)
		}
	}
}
