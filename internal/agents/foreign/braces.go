package foreign

import (
	"slices"
	"strings"
)

// mostAlternatives bounds the paths that a path with braces becomes.
const mostAlternatives = 256

// Braces are the paths that a path means if braces hold alternatives. Programs differ on whether they do, so the path
// itself is among them if something has that name.
func (h *Host) Braces(abs string) []string {
	out := alternatives(abs)
	if len(out) == 0 {
		return []string{abs}
	}
	begin := abs
	if i := strings.LastIndexByte(abs, '}'); i >= 0 {
		end, _, _ := strings.Cut(abs[i:], "/")
		begin = abs[:i] + end
	}
	if h.Exists(begin) {
		out = append(out, abs)
	}
	return out
}

// alternatives are the texts that a text with alternatives in braces stands for; none for a text without, or with too
// many.
func alternatives(text string) []string {
	out, done := []string{text}, []string(nil)
	for len(out) > 0 {
		first := out[0]
		out = out[1:]
		before, inside, after, ok := braced(first)
		if !ok {
			done = append(done, first)
			continue
		}
		for _, part := range inside {
			out = append(out, before+part+after)
		}
		if len(out)+len(done) > mostAlternatives {
			return nil
		}
	}
	if len(done) == 1 && done[0] == text {
		return nil
	}
	slices.Sort(done)
	return slices.Compact(done)
}

// braced takes a text apart at its first innermost braces with a comma in them.
func braced(text string) (before string, inside []string, after string, ok bool) {
	open := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = i
		case '}':
			if open >= 0 && strings.Contains(text[open:i], ",") {
				return text[:open], strings.Split(text[open+1:i], ","), text[i+1:], true
			}
			open = -1
		}
	}
	return "", nil, "", false
}
