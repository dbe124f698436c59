package sandbox

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
)

// Unmet returns what of a specification's needs a host at the given ABI version
// does not meet, one entry per cell. This loader supervises nothing, so cells that
// a supervisor would hold are unmet as well.
func Unmet(s *landlock.Spec, abi int) []landlock.Need {
	var out []landlock.Need
	for _, n := range s.Needs {
		if abi < n.From || abi > n.To && n.To < landlock.MaxABI {
			continue
		}
		i := slices.IndexFunc(out, func(o landlock.Need) bool { return o.Cell == n.Cell })
		if i < 0 {
			out = append(out, n)
			continue
		}
		if !strings.Contains(out[i].Why, n.Why) {
			out[i].Why += "; " + n.Why
		}
	}
	return out
}

// settle refuses a start with unmet cells that nobody accepts, and says once which
// of them are accepted.
func settle(req *Request, abi int) ([]string, error) {
	var missing []landlock.Need
	var accepted []string
	for _, n := range Unmet(req.Spec, abi) {
		if slices.Contains(req.Accept, n.Cell) || slices.Contains(req.Spec.Accept, n.Cell) {
			accepted = append(accepted, n.Cell)
		} else {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return nil, &Error{
			Code: CodeFailed, Unmet: missing, Err: fmt.Errorf("this host does not hold %s of this policy", cells(len(missing))),
		}
	}
	if len(accepted) > 0 {
		_, _ = io.WriteString(req.Messages, "accessc: accepted, not enforced: "+strings.Join(accepted, ", ")+"\n")
	}
	return accepted, nil
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}
