package bubblewrap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// format identifies the document.
const format = "accessc/bubblewrap"

// formatVersion is the version of the document.
const formatVersion = 1

// The symbols of an argument that a start replaces, in a resolved artifact as well.
const (
	Temp   = "${tmp}"    // the directory for temporary files
	Filter = "${filter}" // the number of the descriptor with the filter
)

// Spec is the arguments for one tool, with the rest that a start needs.
type Spec struct {
	backends.Header
	backends.Launch
	// Args are the arguments of bwrap, without the tool's own.
	Args []string `json:"args"`
	// Calls is the version of the closed list of system calls, which the filter begins with. Blocks are the
	// further refusals.
	Calls  int              `json:"calls"`
	Blocks []landlock.Block `json:"filter"`
	// Ledger says how bubblewrap holds every cell.
	Ledger []backends.Row `json:"ledger"`
}

// ErrSpec is wrapped by every refusal of a document.
var ErrSpec = errors.New("not usable arguments for bubblewrap")

// Parse reads a document. Unknown fields, options and versions are refused.
func Parse(data []byte) (*Spec, error) {
	if err := backends.CheckHeader(ErrSpec, data, format, formatVersion); err != nil {
		return nil, err
	}
	s := &Spec{}
	if err := strictjson.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	if s.Calls != landlock.CallsVersion {
		return nil, fmt.Errorf("%w: found version %d of the list of system calls, expected %d; build again", ErrSpec,
			s.Calls, landlock.CallsVersion)
	}
	if err := landlock.CheckFilter(s.Blocks); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	if len(s.Args) < len(frame) || !slices.Equal(s.Args[:len(frame)], frame) {
		return nil, fmt.Errorf("%w: the arguments do not begin with those that confine every tool", ErrSpec)
	}
	_, err := s.Options()
	return s, err
}

// Option is one option of bwrap with its values.
type Option struct {
	Name   string   // with its dashes
	Values []string // as many as the option takes
}

// values is the number of values of an option that the arguments may have.
func values(option string) (n int, known bool) {
	switch option {
	case "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--disable-userns", "--die-with-parent", "--new-session", "--clearenv":
		return 0, true
	case "--cap-drop", "--perms", "--dir", "--tmpfs", "--dev", "--proc", "--remount-ro", "--chdir", "--seccomp":
		return 1, true
	case "--setenv", "--chmod", "--symlink", "--bind", "--bind-try", "--ro-bind", "--ro-bind-try", "--dev-bind",
		"--dev-bind-try":
		return 2, true
	}
	return 0, false
}

// Options takes the arguments apart. It refuses options that no artifact has.
func (s *Spec) Options() ([]Option, error) {
	var out []Option
	for args := s.Args; len(args) > 0; {
		n, known := values(args[0])
		if !known || len(args) <= n {
			return nil, fmt.Errorf("%w: found the option %q with %d values", ErrSpec, args[0], len(args)-1)
		}
		out = append(out, Option{args[0], slices.Clone(args[1 : n+1])})
		args = args[n+1:]
	}
	return out, nil
}
