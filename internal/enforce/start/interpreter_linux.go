package start

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/accessc/accessc/internal/files/shebang"
	"github.com/accessc/accessc/internal/files/wholefile"
)

// interpreter returns the program that the kernel starts to run a file: that of the "#!" line
// of a script, or the PT_INTERP of a dynamically linked ELF image (elf(5)); empty for a static
// image and for a file that is no program.
func interpreter(file string) (string, error) {
	f, err := wholefile.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, shebang.Size)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("#!")) {
		name, _ := shebang.Parse(head)
		return name, nil
	}
	if !bytes.HasPrefix(head, []byte("\x7fELF")) || n < 64 || head[4] != 2 || head[5] != 1 {
		// Not a 64-bit little-endian image; the architectures that this loader runs on
		// have no other.
		return "", nil
	}
	return elfInterpreter(f, head)
}

// elfInterpreter reads PT_INTERP. Offsets are those of Elf64_Ehdr and Elf64_Phdr.
func elfInterpreter(f io.ReaderAt, head []byte) (string, error) {
	le := binary.LittleEndian
	phoff, phentsize, phnum := int64(le.Uint64(head[32:])), int64(le.Uint16(head[54:])), int64(le.Uint16(head[56:]))
	const ptInterp, phdrSize, maxPath = 3, 56, 4096
	if phentsize < phdrSize {
		return "", nil
	}
	ph := make([]byte, phdrSize)
	for i := range phnum {
		if _, err := f.ReadAt(ph, phoff+i*phentsize); err != nil {
			return "", err
		}
		if le.Uint32(ph) != ptInterp {
			continue
		}
		size := le.Uint64(ph[32:])
		if size > maxPath {
			return "", errors.New("has an interpreter path that is too long")
		}
		name := make([]byte, size)
		if _, err := f.ReadAt(name, int64(le.Uint64(ph[8:]))); err != nil {
			return "", err
		}
		return strings.TrimRight(string(name), "\x00"), nil
	}
	return "", nil
}
