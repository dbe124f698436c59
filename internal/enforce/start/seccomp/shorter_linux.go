package seccomp

import "golang.org/x/sys/unix"

// isEnd reports whether an instruction ends a program.
func isEnd(f unix.SockFilter) bool { return f.Code == unix.BPF_RET|unix.BPF_K }

// shortened makes a program one that says the same with fewer instructions, in the same memory: a jump to an end of the
// program leads to the last such end that it can reach, and instructions to which nothing leads any more are left out.
// The kernel translates a supervised tool's filter at each start, which takes time for each instruction.
// See decision D104.
func shortened(p []unix.SockFilter) []unix.SockFilter {
	needed := make([]bool, len(p))
	needed[0] = true
	var last ends
	seen := 0 // instructions that some jump so far could reach
	for i := range p {
		for ; seen < min(i+2+maxTests, len(p)); seen++ {
			last.note(p[seen], seen)
		}
		switch f := &p[i]; {
		case !needed[i] || isEnd(*f):
		case f.Code == unix.BPF_JMP|unix.BPF_JA:
			needed[i+1+int(f.K)] = true
		case f.Code&0x07 == unix.BPF_JMP:
			f.Jt, f.Jf = last.farther(p, i, f.Jt), last.farther(p, i, f.Jf)
			needed[i+1+int(f.Jt)], needed[i+1+int(f.Jf)] = true, true
		default:
			needed[i+1] = true
		}
	}
	return needing(p, needed)
}

// ends has the last place of each different end in a part of a program.
type ends []struct {
	end   unix.SockFilter
	place int
}

// note takes the next instruction in.
func (e *ends) note(f unix.SockFilter, place int) {
	if !isEnd(f) {
		return
	}
	for i := range *e {
		if (*e)[i].end == f {
			(*e)[i].place = place
			return
		}
	}
	*e = append(*e, struct {
		end   unix.SockFilter
		place int
	}{f, place})
}

// farther is a jump from an instruction to the last end that it can reach and that is like the one it leads to.
func (e ends) farther(p []unix.SockFilter, from int, by uint8) uint8 {
	to := p[from+1+int(by)]
	for _, last := range e {
		if last.end == to {
			return uint8(last.place - from - 1)
		}
	}
	return by
}

// needing leaves the other instructions out. Jumps become shorter with that, and none longer.
func needing(p []unix.SockFilter, needed []bool) []unix.SockFilter {
	place := make([]int, len(p)+1)
	for i := range p {
		place[i+1] = place[i]
		if needed[i] {
			place[i+1]++
		}
	}
	out := p[:0]
	for i, f := range p {
		to := func(by uint32) uint32 { return uint32(place[i+1+int(by)] - place[i] - 1) }
		switch {
		case !needed[i]:
			continue
		case f.Code == unix.BPF_JMP|unix.BPF_JA:
			f.K = to(f.K)
		case f.Code&0x07 == unix.BPF_JMP:
			f.Jt, f.Jf = uint8(to(uint32(f.Jt))), uint8(to(uint32(f.Jf)))
		}
		out = append(out, f)
	}
	return out
}
