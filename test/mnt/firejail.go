package mnt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/ir"
)

// Firejail returns the mounts that firejail makes of the lines of a profile: first those of the places that are
// shown, then the others in their order (firejail-profile(5)). Symbols stand for directories that are shown.
func Firejail(lines []firejail.Line) []Entry {
	var out []Entry
	set := func(place string, exists bool, change func(ir.CapSet) ir.CapSet) {
		i := slices.IndexFunc(out, func(e Entry) bool { return e.Place == place })
		if i < 0 {
			out = append(out, Entry{Place: place, Exists: exists})
			i = len(out) - 1
		}
		out[i].Gives = change(out[i].Gives)
		if !exists {
			out[i].Exists = false
		}
	}
	for _, l := range lines {
		if l.Word == "whitelist" {
			set(l.Value, false, func(ir.CapSet) ir.CapSet { return ir.All })
		}
	}
	for _, l := range lines {
		switch l.Word {
		case "blacklist":
			if !strings.HasSuffix(l.Value, "/*") {
				set(l.Value, true, func(ir.CapSet) ir.CapSet { return 0 })
			}
		case "read-only":
			set(l.Value, true, func(ir.CapSet) ir.CapSet { return ir.Caps(ir.Read, ir.Execute) })
		case "read-write":
			set(l.Value, true, func(ir.CapSet) ir.CapSet { return ir.All })
		}
	}
	return out
}
