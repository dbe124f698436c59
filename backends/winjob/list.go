package winjob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// List is the access list of an object, in the order of evaluation. It is read from and written
// in the security descriptor definition language ([MS-DTYP] 2.5.1), so that a loader's change
// of a list is a function of text, and a journal can record it.
type List struct {
	// Null is true where there is no list: then every user may do everything.
	Null bool
	// Protected is true where nothing is inherited.
	Protected bool
	ACEs      []ListACE // in the order of evaluation
}

// ListACE is one entry: its six fields or more, as they are written.
type ListACE struct {
	Type, Flags, Rights, Object, Inherited, SID string // the six fields, separated by semicolons
	// Further is the rest, such as a condition, with its semicolon.
	Further string
}

// ParseList reads the DACL of a security descriptor.
func ParseList(sddl string) (List, error) {
	bad := fmt.Errorf("%w: access list %q", ErrSpec, sddl)
	var l List
	rest, ok := strings.CutPrefix(sddl, "D:")
	if !ok {
		// Without the part there is no list.
		return List{Null: true}, nil
	}
	flags, rest, _ := strings.Cut(rest, "(")
	switch {
	case strings.Contains(flags, "NO_ACCESS_CONTROL"):
		return List{Null: true}, nil
	case strings.Trim(flags, "PARI") != "":
		return l, bad
	}
	l.Protected = strings.Contains(flags, "P")
	if len(flags)+len("D:") < len(sddl) {
		rest = "(" + rest
	}
	for rest != "" {
		end := aceEnd(rest)
		if end < 0 {
			return l, bad
		}
		fields := strings.SplitN(rest[1:end], ";", 7)
		if len(fields) < 6 {
			return l, bad
		}
		a := ListACE{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], ""}
		if len(fields) == 7 {
			a.Further = ";" + fields[6]
		}
		l.ACEs, rest = append(l.ACEs, a), rest[end+1:]
	}
	return l, nil
}

// aceEnd is the offset of the parenthesis that closes the entry at the start of s, -1 if there
// is none. Conditions nest them and contain strings.
func aceEnd(s string) int {
	depth, quoted := 0, false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i] == '(':
			depth++
		case s[i] == ')':
			if depth--; depth == 0 {
				return i
			}
		case depth == 0:
			return -1
		}
	}
	return -1
}

// String writes the list.
func (l List) String() string {
	if l.Null {
		return "D:NO_ACCESS_CONTROL"
	}
	var b strings.Builder
	b.WriteString("D:")
	if l.Protected {
		b.WriteString("P")
	}
	for _, a := range l.ACEs {
		fmt.Fprintf(&b, "(%s;%s;%s;%s;%s;%s%s)", a.Type, a.Flags, a.Rights, a.Object, a.Inherited, a.SID, a.Further)
	}
	return b.String()
}

const inheritedFlag = "ID"

// aceFlags splits the flags of an entry, which are two letters each.
func (a ListACE) aceFlags() []string {
	var out []string
	for s := a.Flags; len(s) >= 2; s = s[2:] {
		out = append(out, s[:2])
	}
	return out
}

// IsInherited reports whether an entry came from the directory above.
func (a ListACE) IsInherited() bool { return slices.Contains(a.aceFlags(), inheritedFlag) }

// own returns the entry in the form of the object's own entries.
func (a ListACE) own() ListACE {
	a.Flags = strings.Join(slices.DeleteFunc(a.aceFlags(), func(f string) bool { return f == inheritedFlag }), "")
	return a
}

// Explicit returns the list in the form that is handed to the system, which adds inherited
// entries: only the object's own entries.
func (l List) Explicit() List {
	out := List{Null: l.Null, Protected: l.Protected}
	for _, a := range l.ACEs {
		if !a.IsInherited() {
			out.ACEs = append(out.ACEs, a)
		}
	}
	return out
}

func (a ListACE) isFor(sids ...string) bool {
	sid := a.SID
	if sid == "AC" { // the two letters that this language has for it
		sid = sidAllPackages
	}
	return slices.Contains(sids, sid)
}

// Without returns the list with no entry for the identifiers.
func (l List) Without(sids ...string) List {
	out := List{Null: l.Null, Protected: l.Protected}
	for _, a := range l.ACEs {
		if !a.isFor(sids...) {
			out.ACEs = append(out.ACEs, a)
		}
	}
	return out
}

// With returns the list that an entry makes of a list, for the package of a run and in
// the form that is handed to the system. A list that lets groups in to which the package
// belongs is refused where nothing cuts it off, and so is none at all, which would let
// in the package as well.
func (l List) With(e Entry, f FileAccess, dir bool, pkg string) (List, error) {
	if l.Null {
		return List{}, fmt.Errorf("%s has no access list; everybody may do everything", e.Path)
	}
	out := List{Protected: l.Protected}
	for _, a := range l.ACEs {
		matches := a.isFor(append([]string{pkg}, f.Strip...)...)
		switch {
		case e.DACL == DACLGrant && matches && !a.isFor(pkg):
			return List{}, fmt.Errorf("%s is open to every AppContainer, which a grant there would leave so", e.Path)
		case matches, e.DACL == DACLGrant && a.IsInherited():
		default:
			out.ACEs = append(out.ACEs, a.own())
		}
	}
	out.Protected = out.Protected || e.DACL == DACLProtected
	granted, err := f.aces(e, dir, pkg)
	out.ACEs = append(out.ACEs, granted...)
	return out, err
}

// aces are the entries that the words of an entry stand for.
func (f FileAccess) aces(e Entry, dir bool, sid string) ([]ListACE, error) {
	var out []ListACE
	var file uint32
	for _, word := range e.Grants {
		lists := f.Grants[word]
		mask, err := bits(accessRights, lists.File)
		if err != nil {
			return nil, err
		}
		file |= mask
		for _, a := range lists.Directory {
			if !dir {
				continue
			}
			mask, err := bits(accessRights, a.AccessMask)
			if err != nil {
				return nil, err
			}
			flags, err := sddlFlags(a.AceFlags)
			if err != nil {
				return nil, err
			}
			out = append(out, ListACE{Type: "A", Flags: flags, Rights: hexMask(mask), SID: sid})
		}
	}
	if !dir && file != 0 {
		out = append(out, ListACE{Type: "A", Rights: hexMask(file), SID: sid})
	}
	return out, nil
}

func hexMask(mask uint32) string { return "0x" + strconv.FormatUint(uint64(mask), 16) }

// sddlFlags writes the flags of an entry as the language does, in its order.
func sddlFlags(names []string) (string, error) {
	v, err := bits(aceFlags, names)
	var out string
	for _, f := range []struct {
		symbol symbol
		text   string
	}{{objectInherit, "OI"}, {containerInherit, "CI"}, {noPropagateInherit, "NP"}, {inheritOnly, "IO"}} {
		if v&f.symbol.value != 0 {
			out += f.text
		}
	}
	return out, err
}

// rightsOf are the two-letter words for rights that the system writes instead of numbers
// ([MS-DTYP] 2.5.1.1).
func rightsOf() map[string]uint32 {
	return rightsOfOnce.Get(func() map[string]uint32 {
		return map[string]uint32{
			"GA": 0x10000000, "GR": 0x80000000, "GW": 0x40000000, "GX": 0x20000000,
			"RC": readControl.value, "SD": deleteObject.value, "WD": writeDAC.value, "WO": writeOwner.value,
			"FA": fileAllAccess.value, "FR": fileGenericRead.value, "FW": fileGenericWrite.value,
			"FX": fileGenericExecute.value,
			"CC": 0x1, "DC": 0x2, "LC": 0x4, "SW": 0x8, "RP": 0x10, "WP": 0x20, "DT": 0x40, "LO": 0x80, "CR": 0x100,
		}
	})
}

var rightsOfOnce once.Value[map[string]uint32]

// mask is the number of an entry's rights, and false where they cannot be read.
func (a ListACE) mask() (uint32, bool) {
	if digits, ok := strings.CutPrefix(a.Rights, "0x"); ok {
		v, err := strconv.ParseUint(digits, 16, 32)
		return uint32(v), err == nil
	}
	var out uint32
	for s := a.Rights; s != ""; s = s[2:] {
		if len(s) < 2 {
			return 0, false
		}
		v, ok := rightsOf()[s[:2]]
		if !ok {
			return 0, false
		}
		out |= v
	}
	return out, true
}

// Holds reports whether a list that was read back has, for an identifier, exactly the entries
// of a list that was set, and is protected where that is.
func (l List) Holds(set List, sids ...string) bool {
	if l.Null || set.Protected && !l.Protected {
		return false
	}
	return slices.Equal(l.entriesFor(sids), set.entriesFor(sids))
}

// entriesFor writes the entries for identifiers so that equal ones are equal: sorted,
// rights as numbers, rights with the same flag joined, as the system may do.
func (l List) entriesFor(sids []string) []string {
	joined := map[string]uint32{}
	for _, a := range l.ACEs {
		if !a.isFor(sids...) {
			continue
		}
		mask, ok := a.mask()
		flags := a.aceFlags()
		slices.Sort(flags)
		key := fmt.Sprintf("%s %s %s%s %v", a.SID, a.Type, strings.Join(flags, ""), a.Further, ok)
		joined[key] |= mask
	}
	var out []string
	for key, mask := range joined {
		out = append(out, key+" "+hexMask(mask))
	}
	slices.Sort(out)
	return out
}

// Allows reports whether an AppContainer with a package has all the rights of a mask by a list: by
// entries for it or for all packages that allow. Entries that deny are without effect on a package.
func (l List) Allows(mask uint32, pkg string) bool {
	if l.Null {
		return true
	}
	var have uint32
	for _, a := range l.ACEs {
		if a.Type != "A" || a.Further != "" || !a.isFor(pkg, sidAllPackages) || slices.Contains(a.aceFlags(), "IO") {
			continue
		}
		if m, ok := a.mask(); ok {
			have |= concrete(m)
		}
	}
	return have&mask == mask
}

// AllowsExecute reports whether an AppContainer with a package may start the file of a list.
func (l List) AllowsExecute(pkg string) bool { return l.Allows(fileExecute.value, pkg) }

// concrete writes the generic rights of a mask as rights of a file
// (learn.microsoft.com, "File Security and Access Rights").
func concrete(mask uint32) uint32 {
	for _, g := range []struct{ generic, rights uint32 }{
		{rightsOf()["GA"], fileAllAccess.value}, {rightsOf()["GR"], fileGenericRead.value},
		{rightsOf()["GW"], fileGenericWrite.value}, {rightsOf()["GX"], fileGenericExecute.value},
	} {
		if mask&g.generic != 0 {
			mask = mask&^g.generic | g.rights
		}
	}
	return mask
}

// Opened returns a DACL that grants all packages some rights on one object besides, and nothing on
// those below it, in the form that is handed to the system without having it look at those: with
// the inherited entries, before which entries of the object's own stand.
func Opened(sddl string, mask uint32) (string, error) {
	l, err := ParseList(sddl)
	if err != nil {
		return "", err
	}
	if l.Null {
		return "", fmt.Errorf("%w: there is no access list; everybody may do everything", ErrSpec)
	}
	at := slices.IndexFunc(l.ACEs, ListACE.IsInherited)
	if at < 0 {
		at = len(l.ACEs)
	}
	for _, sid := range strip() {
		l.ACEs = slices.Insert(l.ACEs, at, ListACE{Type: "A", Rights: hexMask(mask), SID: sid})
	}
	text := l.String()
	if flags, _, _ := strings.Cut(sddl, "("); strings.Contains(flags, "AI") {
		// The system keeps the mark only where a caller asks for it (SE_DACL_AUTO_INHERIT_REQ).
		text = strings.Replace(text, "D:", "D:ARAI", 1)
	}
	return text, nil
}
