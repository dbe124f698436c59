package broker

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Limits of scripts: how much of their first line is read (BINPRM_BUF_SIZE less one,
// include/uapi/linux/binfmts.h), and how many of them may interpret each other
// (exec_binprm() in fs/exec.c).
const (
	scriptHead      = 255
	maxInterpreters = 5
)

// format is what the kernel takes a file for.
type format struct {
	elf bool
	// interpreter runs the file, with argument where that is not empty.
	interpreter, argument string
}

// formatOf looks at the head of a file.
func formatOf(obj int) (format, unix.Errno) {
	f, err := os.Open(self(obj))
	if err != nil {
		// Nor could its process be looked at (PR_SET_DUMPABLE, proc(5)).
		return format{}, unix.EACCES
	}
	defer f.Close()
	head := make([]byte, scriptHead)
	n, _ := f.ReadAt(head, 0)
	return parseHead(head[:n]), 0
}

// parseHead reads the first line of a script as load_script() in fs/binfmt_script.c
// does: one word, and everything behind it as one argument.
func parseHead(head []byte) format {
	if bytes.HasPrefix(head, []byte("\x7fELF")) {
		return format{elf: true}
	}
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return format{}
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	const blanks = " \t"
	line = bytes.TrimLeft(line, blanks)
	end := bytes.IndexAny(line, blanks+"\x00")
	if end < 0 {
		if !ended && len(head) == scriptHead {
			return format{} // the name is cut off
		}
		return format{interpreter: string(line)}
	}
	argument, _, _ := bytes.Cut(bytes.Trim(line[end:], blanks), []byte{0})
	return format{interpreter: string(line[:end]), argument: string(argument)}
}

// invoked is the name that the kernel gives to what execveat(2) starts, which an
// interpreter gets to see (alloc_bprm() in fs/exec.c).
func invoked(dir int, path string) string {
	if dir == unix.AT_FDCWD || path != "" && path[0] == '/' {
		return path
	}
	if path == "" {
		return "/dev/fd/" + strconv.Itoa(dir)
	}
	return "/dev/fd/" + strconv.Itoa(dir) + "/" + path
}
