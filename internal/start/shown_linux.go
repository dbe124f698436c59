package start

import (
	"encoding/json"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/bubblewrap"
)

// shown is a file that must be at a place of the sandbox, or must not be, as bwrap follows symbolic links that another
// process makes of a place between the build and the start (bubblewrap.c, resolve_symlinks_in_ops).
type shown struct {
	Place string `json:"place"`
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Not   bool   `json:"not,omitempty"` // it is covered
}

var errOther = errors.New("is not the place that was opened; another process has replaced it")

// expect opens the places of the options, none of them over a symbolic link. The files are to stay open until the tool has
// started, so that their numbers are not used again. Places for temporary files are accessc's own, as are those of /dev.
func expect(options []bubblewrap.Option) (list []shown, open []*os.File, err error) {
	add := func(from, place string, not bool) error {
		s, f, err := see(from, place, not)
		if f != nil {
			list, open = append(list, s), append(open, f)
		}
		return err
	}
	for _, o := range options {
		name, v := strings.TrimSuffix(o.Name, "-try"), o.Values
		switch {
		case name == "--tmpfs":
			err = add(v[0], v[0], true)
		case !strings.HasSuffix(name, "bind") || strings.HasPrefix(v[0], "${"):
			continue
		default:
			if err = add(v[0], v[1], false); err == nil && v[0] != v[1] {
				err = add(v[1], v[1], true)
			}
		}
		if err != nil {
			return nil, open, err
		}
	}
	return list, open, nil
}

// see opens one file. There is none where a place that is to be covered is absent or of the sandbox alone.
func see(from, place string, not bool) (shown, *os.File, error) {
	if not && strings.HasPrefix(place, "/dev/") {
		return shown{}, nil, nil
	}
	fd, err := openNoLinks(from, unix.O_PATH)
	switch {
	case not && absent(err):
		return shown{}, nil, nil
	case errors.Is(err, unix.ELOOP):
		return shown{}, nil, failed("%s leads over a symlink now; build again", from)
	case err != nil:
		return shown{}, nil, failed("%s: %w", from, err)
	}
	f, st := os.NewFile(uintptr(fd), from), unix.Stat_t{}
	if err := unix.Fstat(fd, &st); err != nil {
		return shown{}, f, failed("%s: %w", from, err)
	}
	return shown{place, st.Dev, st.Ino, not}, f, nil
}

// checkShown reads a list of files from a descriptor and compares it with the sandbox that this process is in.
func checkShown(descriptor uintptr) error {
	f := os.NewFile(descriptor, "places")
	defer f.Close()
	var list []shown
	if err := json.NewDecoder(f).Decode(&list); err != nil {
		return failed("places: %w", err)
	}
	for _, s := range list {
		var st unix.Stat_t
		if err := unix.Lstat(s.Place, &st); err != nil {
			return failed("%s: %w", s.Place, err)
		}
		if (st.Dev == s.Dev && st.Ino == s.Ino) == s.Not {
			return failed("%s %w", s.Place, errOther)
		}
	}
	return nil
}
