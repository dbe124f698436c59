package supervisor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/files/shebang"
	"github.com/accessc/accessc/ir"
)

// maxInterpreters is how many scripts may interpret each other (exec_binprm() in fs/exec.c).
const maxInterpreters = 5

// format is the kind of program that the kernel takes a file for.
type format struct {
	elf bool
	// interpreter runs the file, with the arguments of its first line.
	interpreter string
	args        []string
}

// formatOf looks at the head of a file.
func formatOf(obj int) (format, unix.Errno) {
	f, err := os.Open(self(obj))
	if err != nil {
		// Nor could the supervisor inspect its process (PR_SET_DUMPABLE, proc(5)).
		return format{}, unix.EACCES
	}
	defer f.Close()
	head := make([]byte, shebang.Size)
	n, _ := f.ReadAt(head, 0)
	k := format{elf: bytes.HasPrefix(head, []byte("\x7fELF"))}
	k.interpreter, k.args = shebang.Parse(head[:n])
	return k, 0
}

// interpreted finds the interpreters that the scripts among listed files have at the start of
// the tool, and theirs, each at its canonical path.
func interpreted(programs []landlock.Program) map[string]string {
	out := map[string]string{}
	for _, p := range programs {
		file := p.File
		for range maxInterpreters {
			fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				break
			}
			here, _ := readlink(unix.AT_FDCWD, self(fd))
			k := format{}
			if regular(fd) == 0 {
				k, _ = formatOf(fd)
			}
			_ = unix.Close(fd)
			if len(k.interpreter) == 0 || k.interpreter[0] != '/' {
				break
			}
			next, err := filepath.EvalSymlinks(k.interpreter)
			if err != nil {
				break
			}
			out[here], file = next, next
		}
	}
	return out
}

// mayInterpret judges the interpreters of a listed script. The interpreters that it had when
// the tool started are granted with it. A tool that may write to the script can name another
// interpreter. That is judged as if it were started by itself, with the arguments that it gets.
// See decision D56.
func (c programs) mayInterpret(b *becoming) bool {
	for i := 1; i < len(b.chain); i++ {
		if was, ok := c.interpreters[where(b.chain[i-1])]; ok && was == where(b.chain[i]) {
			continue
		}
		if i < len(b.chain)-1 {
			c.deny("the script is interpreted by another script than at the start of the tool")
			return false
		}
		rule, ok := c.mayStart(b.chain[i], b.argv[0], b.argv)
		if !ok {
			return false
		}
		b.rule = narrower(b.rule, rule)
	}
	return true
}

// narrower is the first rule, restricted to the variables that both rules grant.
func narrower(a, b *ir.CommandRule) *ir.CommandRule {
	if a == nil || b == nil || b.AllEnvs {
		return a
	}
	both := *a
	both.Envs, both.AllEnvs = b.Envs, false
	if !a.AllEnvs {
		both.Envs = slices.DeleteFunc(slices.Clone(a.Envs), func(name string) bool {
			return !slices.Contains(b.Envs, name)
		})
	}
	return &both
}

// invoked is the kernel's name for a file that execveat(2) starts, as an interpreter sees it
// (alloc_bprm() in fs/exec.c).
func invoked(dir int, path string) string {
	if dir == unix.AT_FDCWD || path != "" && path[0] == '/' {
		return path
	}
	if path == "" {
		return "/dev/fd/" + strconv.Itoa(dir)
	}
	return "/dev/fd/" + strconv.Itoa(dir) + "/" + path
}
