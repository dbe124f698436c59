package start

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/bubblewrap"
)

// shown is a mount that must be in the sandbox. bwrap looks places up by their names, several times each (bubblewrap.c,
// resolve_symlinks_in_ops; bind-mount.c, bind_mount), and another process can exchange the files there in between.
// See decision D256.
type shown struct {
	Place string `json:"place"`
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	// Cover is true for an empty directory in memory over the file, and not the file itself.
	Cover    bool `json:"cover,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
	// Devices is true where devices may be opened.
	Devices bool `json:"devices,omitempty"`
}

var (
	errOther   = errors.New("is not the place that was opened; another process has replaced it")
	errNoRoots = errors.New("this kernel does not tell mounts apart (statx(2), Linux 5.8), so the sandbox cannot be checked")
)

// expect opens the places of the options, none of them over a symbolic link, by the index of the option. The files are
// to stay open until the tool has started, so that their numbers are not used again. Directories in memory below /dev
// are of the sandbox alone.
func expect(options []bubblewrap.Option) (list []shown, open map[int]*os.File, err error) {
	open = map[int]*os.File{}
	sealed := map[string]bool{}
	for _, o := range options {
		if o.Name == "--remount-ro" {
			sealed[o.Values[0]] = true
		}
	}
	for i, o := range options {
		name, v := strings.TrimSuffix(o.Name, "-try"), o.Values
		var s shown
		switch {
		case name == "--tmpfs" && !strings.HasPrefix(v[0], "/dev/"):
			s = shown{Place: v[0], Cover: true, ReadOnly: sealed[v[0]]}
		case strings.HasSuffix(name, "bind"):
			s = shown{Place: v[1], ReadOnly: name == "--ro-bind", Devices: name == "--dev-bind"}
		default:
			continue
		}
		f, err := s.see(v[0])
		if f != nil {
			open[i] = f
		}
		if err == nil && v[0] != s.Place {
			err = noLinks(s.Place)
		}
		if err != nil {
			return nil, open, err
		}
		list = append(list, s)
	}
	return list, open, nil
}

// byDescriptor replaces the names of places by the descriptors that they were opened as, in the order in which bwrap
// gets them. So it shows what was opened, whatever is exchanged meanwhile. It takes none for devices, and none for
// places that are covered.
func byDescriptor(options []bubblewrap.Option, open map[int]*os.File) (out []bubblewrap.Option, held []*os.File) {
	for i, o := range options {
		name := strings.TrimSuffix(o.Name, "-try")
		switch f := open[i]; {
		case f == nil:
		case name == "--bind" || name == "--ro-bind":
			o = bubblewrap.Option{Name: name + "-fd", Values: []string{strconv.Itoa(wrapperPlaces + len(held)), o.Values[1]}}
			fallthrough
		default:
			held = append(held, f)
		}
		out = append(out, o)
	}
	return out, held
}

// noLinks returns an error if a place that is to be covered leads over a symbolic link. It may be gone.
func noLinks(place string) error {
	cover := shown{Cover: true}
	f, err := cover.see(place)
	if f != nil {
		_ = f.Close()
	}
	return err
}

// see opens the file of a mount. There is none where a place that is to be covered is gone.
func (s *shown) see(from string) (*os.File, error) {
	fd, err := openNoLinks(from, unix.O_PATH)
	switch {
	case s.Cover && absent(err):
		return nil, nil
	case errors.Is(err, unix.ELOOP):
		return nil, failed("%s leads over a symlink now; build again", from)
	case err != nil:
		return nil, failed("%s: %w", from, err)
	}
	f, st := os.NewFile(uintptr(fd), from), unix.Stat_t{}
	if err := unix.Fstat(fd, &st); err != nil {
		return f, failed("%s: %w", from, err)
	}
	s.Dev, s.Ino = st.Dev, st.Ino
	return f, nil
}

// checkShown reads a list of mounts from a descriptor and compares it with the sandbox that this process is in. Each
// must be at its place and a mount of its own. bwrap makes one for each, so none is left over that could show another
// file elsewhere. The file and the mode of a mount stay as they are once nothing in the sandbox may mount
// (mount_namespaces(7)).
func checkShown(descriptor uintptr) error {
	f := os.NewFile(descriptor, "places")
	defer f.Close()
	var list []shown
	if err := json.NewDecoder(f).Decode(&list); err != nil {
		return failed("places: %w", err)
	}
	seen := map[uint64]bool{}
	for _, s := range list {
		id, err := s.mount()
		if err == nil && seen[id] {
			err = errOther
		}
		if err != nil {
			return failed("%s %w", s.Place, err)
		}
		seen[id] = true
	}
	return nil
}

// mount returns the number of the mount that shows the file, or an error if its place is anything else than the root of
// a mount as it must be.
func (s *shown) mount() (id uint64, err error) {
	fd, err := openNoLinks(s.Place, unix.O_PATH)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errOther, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	var x unix.Statx_t
	var fs unix.Statfs_t
	err = errors.Join(unix.Fstat(fd, &st), unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &x), unix.Fstatfs(fd, &fs))
	same := st.Dev == s.Dev && st.Ino == s.Ino
	switch {
	case err != nil:
		return 0, err
	case !tellsMounts(&x):
		return 0, errNoRoots
	case x.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 || same == s.Cover || s.Cover && fs.Type != unix.TMPFS_MAGIC,
		s.ReadOnly && fs.Flags&unix.ST_RDONLY == 0, !s.Devices && fs.Flags&unix.ST_NODEV == 0:
		return 0, errOther
	}
	return x.Mnt_id, nil
}

// tellsMounts reports whether the kernel has said which mount a file is in, and whether it is the root of that.
func tellsMounts(x *unix.Statx_t) bool {
	return x.Mask&unix.STATX_MNT_ID != 0 && x.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0
}
