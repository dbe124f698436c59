package kerneltest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// Attempt is one operation for a process under a policy to try. A and B are paths,
// relative to the workspace where the question's are; a host and port; a variable and
// its value; a program, which is started as Argv.
type Attempt struct {
	Op, A, B string
	Argv     []string `json:",omitempty"`
}

// need is the node that an operation needs at one of its paths.
type need uint8

const (
	// file is a file at the end of the path; entry is one at the path itself, which may be a
	// symlink.
	file need = iota + 1
	entry
	// none is nothing at the end of the path, noEntry nothing at the path itself.
	none
	noEntry
	// either is a file or nothing, in a directory.
	either
)

// onPaths are the operations on paths: the needs at each path, and whether the operation changes
// something where it is allowed.
var onPaths = map[string]struct {
	needs   []need
	changes bool
}{
	"read": {[]need{file}, false}, "create": {[]need{none}, true}, "update": {[]need{file}, false}, "delete": {[]need{entry}, true},
	"execute": {[]need{file}, false}, "copy": {[]need{file, either}, true}, "rename": {[]need{entry, either}, true},
	"link": {[]need{entry, noEntry}, true}, "exchange": {[]need{entry, entry}, true}, "dial": {[]need{file}, false},
	"symlink": {[]need{noEntry}, true},
}

// attempt prepares the stage for a question and returns the attempt, or the reason why there is
// none.
func (t *Trial) attempt(s *stage, q resolve.Question) (a Attempt, why string, err error) {
	a = Attempt{Op: q.Verb, A: q.Operands[0], Argv: slices.Concat(q.Operands[:1], q.Args)}
	switch q.Verb {
	case "connect":
		a.A, a.B, err = endpoint(a.A)
		return a, "", err
	case "listen":
		a.A, a.B, err = local(q)
		return a, "", err
	case "env":
		value, ok := os.LookupEnv(a.A)
		if !ok {
			value = marker
		}
		a.B = value
		return a, "", nil
	case "run":
		return t.program(s, a)
	}
	for i, operand := range q.Operands {
		if strings.HasPrefix(operand, "${") {
			return a, "it is about a directory of the tool's own, which each run has anew", nil
		}
		abs, staged := s.path(operand)
		if !staged && onPaths[q.Verb].changes {
			return a, "it would change something outside of the workspace", nil
		}
		if err := s.mirrorPath(abs); err != nil {
			return a, "", err
		}
		if err := s.prepare(abs, onPaths[q.Verb].needs[i]); err != nil {
			return a, "", err
		}
		if info, err := os.Stat(abs); q.Verb == "execute" && err == nil && info.IsDir() {
			return a, "it is about a directory, which the kernel starts for nobody (execve(2))", nil
		}
		_, _, outside := resolve.Outside(operand, "", s.here)
		if _, err := resolve.Lexical(operand); err == nil && !outside {
			abs = operand // as it is spelled, from the workspace
		}
		if i == 0 {
			a.A = abs
		} else {
			a.B = abs
		}
	}
	return a, "", nil
}

// program resolves a name to its file.
func (t *Trial) program(s *stage, a Attempt) (Attempt, string, error) {
	if strings.Contains(a.A, "/") {
		abs, _ := s.path(a.A)
		if err := s.mirrorPath(abs); err != nil {
			return a, "", err
		}
		return a, "", s.prepare(abs, file)
	}
	abs, ok := t.Lookup(a.A)
	if !ok {
		return a, "there is no " + a.A + " here", nil
	}
	a.A = abs
	return a, "", nil
}

func endpoint(url string) (host, port string, err error) {
	to, err := resolve.URL(url)
	if err != nil {
		return "", "", err
	}
	if to.Host.Kind == ir.HostAddr {
		return to.Host.Addr.String(), fmt.Sprint(to.Port), nil
	}
	return to.Host.Name, fmt.Sprint(to.Port), nil
}

// local is the address and the port of a question about listening.
func local(q resolve.Question) (addr, port string, err error) {
	op, err := resolve.Asker{}.Operation(q)
	at, ok := op.(ir.Listen)
	switch {
	case err != nil || !ok:
		return "", "", err
	case at.Host.Kind == ir.HostAddr:
		return at.Host.Addr.String(), fmt.Sprint(at.Port), nil
	default:
		return "127.0.0.1", fmt.Sprint(at.Port), nil
	}
}

// open starts the listener that an attempt to dial needs.
func (a Attempt) open(s *stage) (done func(), err error) {
	if a.Op != "dial" {
		return func() {}, nil
	}
	abs, staged := s.path(a.A)
	if !staged {
		return func() {}, nil
	}
	found, err := resolve.Through(hostview.Now).Follow(abs)
	if err != nil {
		return nil, err
	}
	// A socket's name is short (unix(7)), and that of a stage may be long.
	short := s.dir + "/s"
	l, err := net.Listen("unix", short)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(short, found.Abs); err != nil {
		_ = l.Close()
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}
