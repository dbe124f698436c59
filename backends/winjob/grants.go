package winjob

import "github.com/accessc/accessc/ir"

// Grant is a word that stands for entries of an access list: the capabilities, and two that
// protect nothing but are needed to use them. The table below is the whole vocabulary by which
// a specification opens anything.
type Grant string

const (
	// GrantEnter lets a directory be the current directory, and nothing below it.
	GrantEnter Grant = "enter"
	// GrantOpen covers the rights that opening anything by the Win32 interface takes besides the wanted right, and the
	// rights for making a directory the current directory.
	GrantOpen Grant = "open"
)

// grantOf returns the word of a capability.
func grantOf(c ir.Capability) Grant { return Grant(c.String()) }

// Entry lists are the same for every object, so they are written once.
type (
	// Lists are the entries for one word.
	Lists struct {
		// Directory lists the entries for a directory; their flags carry them further down.
		Directory []ACE `json:"directory"`
		// File are the rights of the only effective entry that goes on a file.
		File []string `json:"file"`
	}
	// ACE is an entry of an access list, for the package of the run.
	ACE struct {
		AceType    string   `json:"AceType"`    // the header's symbol
		AceFlags   []string `json:"AceFlags"`   // how the entry is inherited
		AccessMask []string `json:"AccessMask"` // the rights, by their symbols
	}
)

// Grants returns the table. Reasons, line by line:
//
//   - enter, open: CreateFile always asks for SYNCHRONIZE and FILE_READ_ATTRIBUTES,
//     its generic rights for READ_CONTROL as well, and a rename or link opens the
//     target's directory with SYNCHRONIZE. The current directory is opened for
//     FILE_TRAVERSE; as an entry for files the same bit would be execute, hence
//     containers only. None of it is a thing that a policy protects.
//   - create: containers only, since on a file the same bits are write and append.
//   - update: files only, inherited; on a directory its bits would be create.
//   - delete: inherited only, so that the object that carries the entry, the path of
//     a rule, cannot itself be removed or renamed. FILE_DELETE_CHILD is never given:
//     with it on a directory, whatever is in it can be deleted or moved, denied
//     things included ([MS-FSA] 2.1.5.1.2.1).
//   - execute: files only, inherited.
func Grants() map[Grant]Lists {
	return map[Grant]Lists{
		GrantEnter: {[]ACE{
			allow(nil, fileReadAttributes, fileTraverse, synchronize),
		}, []string{}},
		GrantOpen: {[]ACE{
			allow([]symbol{containerInherit}, fileTraverse),
			allow([]symbol{containerInherit, objectInherit}, fileReadAttributes, readControl, synchronize),
		}, names(fileReadAttributes, readControl, synchronize)},
		grantOf(ir.Read): {[]ACE{
			allow([]symbol{containerInherit, objectInherit}, fileGenericRead),
		}, names(fileGenericRead)},
		grantOf(ir.Create): {[]ACE{
			allow([]symbol{containerInherit}, fileAddFile, fileAddSubdirectory),
		}, []string{}},
		grantOf(ir.Update): {[]ACE{
			allow([]symbol{inheritOnly, objectInherit}, fileAppendData, fileWriteAttributes, fileWriteData,
				fileWriteEA),
		}, names(fileAppendData, fileWriteAttributes, fileWriteData, fileWriteEA)},
		grantOf(ir.Delete): {[]ACE{
			allow([]symbol{containerInherit, inheritOnly, objectInherit}, deleteObject),
		}, []string{}},
		grantOf(ir.Execute): {[]ACE{
			allow([]symbol{inheritOnly, objectInherit}, fileExecute),
		}, names(fileExecute)},
	}
}

func allow(flags []symbol, rights ...symbol) ACE {
	return ACE{accessAllowed.name, names(flags...), names(rights...)}
}

// wordsFor lists the words that give a set of capabilities. Where the policy lists
// programs, the right to execute goes to their files instead.
func wordsFor(c ir.CapSet, listed bool) []Grant {
	out := []Grant{}
	if listed {
		c = c.Without(ir.Execute)
	}
	if c != 0 {
		out = append(out, GrantOpen)
	}
	for _, have := range c.List() {
		out = append(out, grantOf(have))
	}
	return out
}
