package live

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/usage"
)

// Running are those of this user that answer, one of them by --run.
func Running(dir string, pid int) (map[string]*Reply, error) {
	sockets, err := Runs(dir)
	if err != nil {
		return nil, usage.Error{Err: err}
	}
	out := map[string]*Reply{}
	for _, s := range sockets {
		if pid != 0 && !strings.HasPrefix(filepath.Base(s), strconv.Itoa(pid)+"-") {
			continue
		}
		if reply, err := Talk(s, Request{Command: "list"}); err == nil {
			out[s] = reply
		}
	}
	return out, nil
}

// Socket is that of the one run that is meant.
func Socket(dir string, pid int) (string, error) {
	all, err := Running(dir, pid)
	if err != nil {
		return "", err
	}
	switch len(all) {
	case 0:
		return "", usage.Errorf("no tool is running under exec --ask")
	case 1:
	default:
		return "", usage.Errorf("%s are running under exec --ask; name one by --run", plural.Count(len(all), "tool"))
	}
	for s := range all {
		return s, nil
	}
	return "", nil
}
