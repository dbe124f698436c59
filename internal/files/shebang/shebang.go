// Package shebang reads the first line of a script as the Linux kernel does (execve(2),
// load_script() in fs/binfmt_script.c).
package shebang

import "bytes"

// Size is how much of a file the kernel reads to find out its format (BINPRM_BUF_SIZE,
// include/uapi/linux/binfmts.h).
const Size = 256

const blanks = " \t"

// Parse returns the interpreter that a script names, and at most one argument: everything
// behind the name. head is the beginning of the file, Size bytes unless the file is shorter. The
// name is empty where the kernel takes the file for no script, or finds the name cut off. A
// carriage return belongs to the name.
func Parse(head []byte) (interpreter string, args []string) {
	var buf [Size]byte // a shorter file is followed by zeros
	copy(buf[:], head)
	line, ok := bytes.CutPrefix(buf[:], []byte("#!"))
	if !ok {
		return "", nil
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	if !ended {
		if !bytes.ContainsAny(bytes.TrimLeft(line, blanks), blanks+"\x00") {
			return "", nil
		}
		line = line[:len(line)-1]
	}
	line = bytes.Trim(line, blanks)
	end := bytes.IndexAny(line, blanks+"\x00")
	if end < 0 {
		return string(line), nil
	}
	if line[end] != 0 {
		argument, _, _ := bytes.Cut(bytes.TrimLeft(line[end:], blanks), []byte{0})
		args = []string{string(argument)}
	}
	return string(line[:end]), args
}
