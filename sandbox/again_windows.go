package sandbox

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/internal/enforce/start"
)

// marker is the first argument of the processes of the host's program that are this package's,
// againCommand the word behind it for one that starts a tool and stays with it. Two handles follow.
const (
	marker       = "accessc-sandbox"
	againCommand = "start"
)

func init() {
	if len(os.Args) < 3 || os.Args[1] != marker {
		return
	}
	err := errors.New("not a command: " + os.Args[2])
	if os.Args[2] == againCommand && len(os.Args) == 5 {
		in, err1 := strconv.ParseUint(os.Args[3], 10, 64)
		out, err2 := strconv.ParseUint(os.Args[4], 10, 64)
		if err = errors.Join(err1, err2); err == nil {
			err = serveAgain(os.NewFile(uintptr(in), "question"), os.NewFile(uintptr(out), "answer"))
		}
	}
	if err != nil {
		os.Exit(start.CodeFailed)
	}
	os.Exit(0)
}

func startAgain(self string, files [3]*os.File, in, out *os.File) (*os.Process, error) {
	handles := []syscall.Handle{syscall.Handle(in.Fd()), syscall.Handle(out.Fd())}
	words := []string{self, marker, againCommand}
	for _, h := range handles {
		if err := windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, err
		}
		words = append(words, strconv.FormatUint(uint64(h), 10))
	}
	return os.StartProcess(self, words, &os.ProcAttr{
		Env: os.Environ(), Files: files[:], Sys: &syscall.SysProcAttr{AdditionalInheritedHandles: handles},
	})
}
