package winjob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Volume evaluates an emitted specification the way NTFS and the access check of an
// AppContainer do, so that the text can be compared with the policy that it was compiled from.
// Every object has an access list of its own: set by an entry, inherited when the object is
// made, carried along when it is moved. Of the list only entries that match the tool's package
// count, and only those that allow.
//
// Two kinds of program ask. Ordinary programs use the generic rights of the Win32 interface: a
// granted operation must work for them. Frugal programs ask for the only bit that an operation
// takes, as the native interface allows: a withheld operation must be withheld from them.
//
// The handles of a loader are left out: they refuse more, and the lists by themselves must withhold
// enough without them. So are the lists of the users, which the system checks as well.
type Volume struct {
	// Frugal says which kind of program asks.
	Frugal bool

	grants  map[Grant]granted
	objects map[string]*object
}

// ErrAbsent is wrapped by errors of Mount where a loader refuses to start.
var ErrAbsent = errors.New("an entry's path is not there")

// object is a file or directory. Its path is in folded form.
type object struct {
	kind ir.NodeKind
	list []ace
}

// ace is an entry for the package of the run, or for all packages.
type ace struct {
	denies      bool
	flags, mask uint32
}

// granted is the meaning of a word, in numbers.
type granted struct {
	directory []ace
	file      uint32
}

// Mount gives the objects of a volume their access lists, as a loader does at the start.
// Objects are by path, spelled as in the specification, with their kind: a File or a Dir. An
// object without a parent in the map has a parent elsewhere, with nothing in its list.
func (s *Spec) Mount(objects map[string]ir.NodeKind) (*Volume, error) {
	v := &Volume{grants: map[Grant]granted{}, objects: map[string]*object{}}
	for word, l := range s.Files.Grants {
		g, err := l.numbers()
		if err != nil {
			return nil, err
		}
		v.grants[word] = g
	}
	found, err := s.Files.Named(listing(objects))
	if err != nil {
		return nil, err
	}
	entries := map[string]Entry{}
	for _, e := range slices.Concat(s.Files.Entries, found) {
		if _, twice := entries[fold(e.Path)]; twice {
			return nil, fmt.Errorf("%s has two entries", e.Path)
		}
		entries[fold(e.Path)] = e
	}
	paths := slices.Sorted(maps.Keys(objects))
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Count(a, `\`) - strings.Count(b, `\`) })
	for _, p := range paths {
		v.mount(s, fold(p), objects[p], entries)
	}
	for _, e := range s.Files.Entries {
		if e.Absent == AbsentRefuse && v.objects[fold(e.Path)] == nil {
			return nil, fmt.Errorf("%w: %s", ErrAbsent, e.Path)
		}
	}
	return v, nil
}

// listing lists the objects of a volume as a loader does a directory.
func listing(objects map[string]ir.NodeKind) func(string) ([]Child, error) {
	return func(dir string) (out []Child, err error) {
		for _, p := range slices.Sorted(maps.Keys(objects)) {
			if name, ok := strings.CutPrefix(fold(p), fold(dir)+`\`); ok && !strings.Contains(name, `\`) {
				out = append(out, Child{Name: p[len(p)-len(name):], Dir: objects[p] == ir.Dir})
			}
		}
		return out, nil
	}
}

// mount adds an object after its directory.
func (v *Volume) mount(s *Spec, key string, kind ir.NodeKind, entries map[string]Entry) {
	o := &object{kind: kind}
	e, has := entries[key]
	if has {
		o.list = v.list(e.Grants, kind)
	}
	if !has || e.DACL == DACLGrant {
		o.list = append(o.list, v.inherited(key, kind)...)
	}
	for _, p := range s.Programs {
		if p.File != "" && fold(p.File) == key && kind == ir.File {
			o.list = append(o.list, v.list(p.Grants, kind)...)
		}
	}
	for _, a := range s.Files.Ambient {
		if fold(a.Path) == key {
			o.list = append(o.list, ambientEntry)
		}
	}
	v.objects[key] = o
}

// ambientEntry is the entry of the system's directories for ALL APPLICATION PACKAGES.
var ambientEntry = ace{
	flags: objectInherit.value | containerInherit.value, mask: fileGenericRead.value | fileGenericExecute.value,
}

func (l Lists) numbers() (granted, error) {
	var g granted
	var err error
	if g.file, err = bits(accessRights, l.File); err != nil {
		return g, err
	}
	for _, a := range l.Directory {
		var n ace
		kind, errT := bits(aceTypes, []string{a.AceType})
		n.denies = kind == accessDenied.value
		var errF, errM error
		n.flags, errF = bits(aceFlags, a.AceFlags)
		n.mask, errM = bits(accessRights, a.AccessMask)
		if err := errors.Join(errT, errF, errM); err != nil {
			return g, err
		}
		g.directory = append(g.directory, n)
	}
	return g, nil
}

// list returns the entries that words put on an object.
func (v *Volume) list(words []Grant, kind ir.NodeKind) []ace {
	var out []ace
	for _, w := range words {
		if kind == ir.Dir {
			out = append(out, v.grants[w].directory...)
		} else {
			out = append(out, ace{mask: v.grants[w].file})
		}
	}
	return out
}

// inherited returns the entries that a new object gets from its directory ([MS-DTYP]
// 2.5.3.4.2): a file those meant for objects, now effective; a directory those meant for
// containers, effective and to be handed on, and those meant for objects, to be handed on only.
func (v *Volume) inherited(key string, kind ir.NodeKind) []ace {
	parent := v.objects[parentOf(key)]
	if parent == nil {
		return nil
	}
	var out []ace
	for _, a := range parent.list {
		forFiles, forDirs := a.flags&objectInherit.value != 0, a.flags&containerInherit.value != 0
		once := a.flags&noPropagateInherit.value != 0
		n := ace{denies: a.denies, mask: a.mask}
		switch {
		case kind != ir.Dir && forFiles, kind == ir.Dir && forDirs && once:
		case kind == ir.Dir && forDirs:
			n.flags = a.flags &^ inheritOnly.value
		case kind == ir.Dir && forFiles && !once:
			n.flags = a.flags | inheritOnly.value
		default:
			continue
		}
		out = append(out, n)
	}
	return out
}

func parentOf(key string) string { return key[:max(strings.LastIndexByte(key, '\\'), 0)] }

// rights are the tool's rights by the list of an object. An entry that denies a package is
// skipped: public projects that tried report it to be without effect.
func (v *Volume) rights(key string) uint32 {
	o := v.objects[key]
	if o == nil {
		return 0
	}
	var out uint32
	for _, a := range o.list {
		if !a.denies && a.flags&inheritOnly.value == 0 {
			out |= a.mask
		}
	}
	return out
}

// opens reports whether an object can be opened: by an ordinary program with the
// rights it asks for and the two that CreateFile adds, by a frugal program with any of the rights that will do. The
// directory above gives two more: DELETE with FILE_DELETE_CHILD, and FILE_READ_ATTRIBUTES where it may be listed
// ([MS-FSA] 2.1.5.1.2.1).
func (v *Volume) opens(key string, asked symbol, will ...symbol) bool {
	have, above := v.rights(key), v.rights(parentOf(key))
	if above&fileDeleteChild.value != 0 {
		have |= deleteObject.value
	}
	if above&fileListDirectory.value != 0 {
		have |= fileReadAttributes.value
	}
	if v.objects[key] == nil {
		return false
	}
	if v.Frugal {
		return slices.ContainsFunc(will, func(s symbol) bool { return have&s.value != 0 })
	}
	all := asked.value | synchronize.value | fileReadAttributes.value
	return have&all == all
}

// Kind returns the kind of node at a path.
func (v *Volume) Kind(path string) ir.NodeKind {
	if o := v.objects[fold(path)]; o != nil {
		return o.kind
	}
	return ir.Absent
}

// Read reports whether a file can be opened for reading, or a directory be listed.
func (v *Volume) Read(path string) bool { return v.opens(fold(path), fileGenericRead, fileReadData) }

// Update reports whether a file can be opened for writing.
func (v *Volume) Update(path string) bool {
	return v.Kind(path) == ir.File && v.opens(fold(path), fileGenericWrite, fileWriteData, fileAppendData)
}

// Metadata reports whether times and attributes can be set, or any other metadata.
func (v *Volume) Metadata(path string) bool {
	return v.opens(fold(path), fileWriteAttributes, fileWriteAttributes, fileWriteEA, writeDAC, writeOwner)
}

// Delete reports whether a name can be removed.
func (v *Volume) Delete(path string) bool { return v.opens(fold(path), deleteObject, deleteObject) }

// Execute reports whether a file can be started. Nothing can where the process may
// have no children; that is not a matter of files, and not looked at here.
func (v *Volume) Execute(path string) bool {
	return v.Kind(path) == ir.File && v.opens(fold(path), fileExecute, fileExecute)
}

// Create reports whether a new name can be made.
func (v *Volume) Create(path string, kind ir.NodeKind) bool {
	return v.Kind(path) == ir.Absent && v.adds(fold(path), kind)
}

// adds reports whether a directory takes a name of some kind. Renaming or linking a file into
// it asks in the same way ("Set File Information Processing" in the driver documentation).
func (v *Volume) adds(key string, kind ir.NodeKind) bool {
	dir := parentOf(key)
	want := fileAddFile.value
	if kind == ir.Dir {
		want = fileAddSubdirectory.value
	}
	if !v.Frugal {
		want |= synchronize.value
	}
	return v.objects[dir] != nil && v.objects[dir].kind == ir.Dir && v.rights(dir)&want == want
}

// Rename reports whether a name can be moved, over a file if a file is there. Windows
// replaces no directory by a rename (learn.microsoft.com, "MoveFileExW").
func (v *Volume) Rename(src, dst string) bool {
	from, to := fold(src), fold(dst)
	if from == to || strings.HasPrefix(to, from+`\`) || !v.opens(from, deleteObject, deleteObject) {
		return false
	}
	if o := v.objects[to]; o != nil && (o.kind == ir.Dir || !v.opens(to, deleteObject, deleteObject)) {
		return false
	}
	return v.adds(to, v.objects[from].kind)
}

// Link reports whether a file can get a further name. For processes in a sandbox the
// system asks for FILE_WRITE_ATTRIBUTES on it (J. Forshaw, "Between a Rock and a Hard
// Link", Project Zero, 2015).
func (v *Volume) Link(src, dst string) bool {
	return v.Kind(src) == ir.File && v.Kind(dst) == ir.Absent &&
		v.opens(fold(src), fileWriteAttributes, fileWriteAttributes) && v.adds(fold(dst), ir.File)
}

// Maker says which list a new object gets.
type Maker uint8

const (
	// Plain leaves the list to inheritance.
	Plain Maker = iota + 1
	// Cunning is a tool that gives its new files a list that allows itself everything, and
	// hands that on.
	Cunning
	// Closed is another program that lets only users in.
	Closed
)

// Make makes an object.
func (v *Volume) Make(path string, kind ir.NodeKind, by Maker) {
	key := fold(path)
	o := &object{kind: kind}
	switch by {
	case Plain:
		o.list = v.inherited(key, kind)
	case Cunning:
		o.list = []ace{{flags: objectInherit.value | containerInherit.value, mask: fileAllAccess.value}}
	case Closed:
	}
	v.objects[key] = o
}

// Alias gives a file a further name. Both names have the one list of the file.
func (v *Volume) Alias(src, dst string) { v.objects[fold(dst)] = v.objects[fold(src)] }

// Remove takes a name away, with everything below it.
func (v *Volume) Remove(path string) {
	key := fold(path)
	maps.DeleteFunc(v.objects, func(k string, _ *object) bool { return k == key || strings.HasPrefix(k, key+`\`) })
}

// Move gives an object another name, with everything below it. The lists stay
// (learn.microsoft.com, "File Security and Access Rights").
func (v *Volume) Move(src, dst string) {
	from, to := fold(src), fold(dst)
	moved := map[string]*object{}
	for k, o := range v.objects {
		if rest, ok := strings.CutPrefix(k, from); ok && (rest == "" || rest[0] == '\\') {
			moved[to+rest] = o
		}
	}
	v.Remove(src)
	v.Remove(dst)
	maps.Copy(v.objects, moved)
}
