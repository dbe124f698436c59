package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
)

// Go asks bcryptprimitives.dll for ProcessPrng before anything else of a program runs,
// and Wine 8 has no such library. This one has no code: its one export forwards to the
// function of advapi32.dll that does the same ([MS-PE], "The .edata Section").
const (
	forwarderName   = "bcryptprimitives.dll"
	forwarderExport = "ProcessPrng"
	forwarderTarget = "advapi32.SystemFunction036"
)

// The layout of the file: headers, then one section, each a page in memory.
const (
	fileAlignment = 0x200
	page          = 0x1000
	sectionAt     = page
)

// exports is IMAGE_EXPORT_DIRECTORY, and behind it one entry of each of its tables.
type exports struct {
	Flags, Time, Version, Name, Base, Functions, Names uint32
	FunctionTable, NameTable, OrdinalTable             uint32
	Function, NamePointer                              uint32
	Ordinal                                            uint16
	_                                                  uint16
}

// forwarder returns the library.
func forwarder() []byte {
	var text bytes.Buffer
	at := uint32(sectionAt + binary.Size(exports{}))
	address := func(s string) uint32 {
		here := at + uint32(text.Len())
		text.WriteString(s + "\x00")
		return here
	}
	table := func(field int) uint32 { return sectionAt + uint32(field) }
	// The tables follow the ten words of the directory.
	const words = 10 * 4
	e := exports{
		Name: address(forwarderName), Base: 1, Functions: 1, Names: 1,
		FunctionTable: table(words), NameTable: table(words + 4), OrdinalTable: table(words + 8),
		NamePointer: address(forwarderExport),
		// An address within the directory is a name to forward to.
		Function: address(forwarderTarget),
	}
	section := image(e, text.Bytes())
	size := uint32(len(section))
	header := pe.OptionalHeader64{
		Magic: 0x20b, ImageBase: 0x180000000, SectionAlignment: page, FileAlignment: fileAlignment,
		SizeOfInitializedData: fileAlignment, MajorOperatingSystemVersion: 10, MajorSubsystemVersion: 10,
		SizeOfImage: 2 * page, SizeOfHeaders: fileAlignment, Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI,
		DllCharacteristics:  pe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE | pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT,
		NumberOfRvaAndSizes: 16,
	}
	header.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: sectionAt, Size: size}
	data := pe.SectionHeader32{
		Name: [8]uint8{'.', 'e', 'd', 'a', 't', 'a'}, VirtualSize: size, VirtualAddress: sectionAt,
		SizeOfRawData: fileAlignment, PointerToRawData: fileAlignment,
		Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ,
	}
	file := pe.FileHeader{
		Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(header)),
		Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
	}
	return append(padded(image(dosHeader(), []byte("PE\x00\x00"), file, header, data)), padded(section)...)
}

// dosHeader is the start of the file: two letters, and at its end the offset of the next
// header.
func dosHeader() []byte {
	const size = 0x40
	h := make([]byte, size)
	copy(h, "MZ")
	binary.LittleEndian.PutUint32(h[size-4:], size)
	return h
}

// image is values as they lie in memory.
func image(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		// Nothing here has a size of its own, so nothing can fail.
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}

func padded(b []byte) []byte {
	return append(b, make([]byte, (fileAlignment-len(b)%fileAlignment)%fileAlignment)...)
}
