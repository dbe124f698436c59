package sandbox

import (
	"errors"
	"os"
	"syscall"

	"github.com/accessc/accessc/internal/egress"
	egresswire "github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/start"
)

// marker is the first argument of the processes of the host's program that are this package's: a shell,
// which starts some of them, cannot choose argv[0]. againCommand is the word behind it for one that
// becomes a tool.
const (
	marker       = "accessc-sandbox"
	againCommand = "start"
)

func init() {
	if len(os.Args) < 3 || os.Args[1] != marker || elevated() {
		return
	}
	start.Self = []string{marker}
	err := errors.New("not a command: " + os.Args[2])
	switch command := os.Args[2]; {
	case command == againCommand:
		in, out := os.NewFile(3, "question"), os.NewFile(4, "answer")
		syscall.CloseOnExec(4)
		err = serveAgain(in, out)
	case command == start.SweepCommand && len(os.Args) > 3:
		err = start.Sweep(os.Args[3], os.Args[4:]...)
	case command == egresswire.Command:
		err = egress.RunByToken(os.NewFile(3, "control"), os.NewFile(4, "setup"))
	}
	if err != nil {
		os.Exit(start.CodeFailed)
	}
	os.Exit(0)
}

func startAgain(self string, files [3]*os.File, in, out *os.File) (*os.Process, error) {
	return os.StartProcess(self, []string{self, marker, againCommand}, &os.ProcAttr{
		Env: os.Environ(), Files: append(files[:], in, out),
	})
}
