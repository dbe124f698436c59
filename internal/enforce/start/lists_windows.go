package start

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// verbatim is the prefix by which the system takes a path as it stands.
const verbatim = `\\?\`

// object is a file or directory whose access list a run changes. The loader keeps the handle
// for as long as the tool runs, opened so that no other process can rename, replace or remove
// the object.
type object struct {
	entry  winjob.Entry
	handle windows.Handle
	id     identity
	dir    bool
	// list is the list when the object was opened.
	list winjob.List
}

// identity tells an object from another that took its name.
type identity struct {
	Volume uint32 `json:"volume"`
	File   uint64 `json:"file"`
}

var errAbsent = errors.New("not there")

// openHeld opens a path as it stands, and not the target of a reparse point there.
func openHeld(path string, hold winjob.Hold) (windows.Handle, error) {
	access, share, flags, err := hold.Values()
	if err != nil {
		return 0, err
	}
	if strings.Contains(path, "${") || len(path) < 3 || path[1:3] != `:\` {
		return 0, errors.New("not an absolute path on a drive")
	}
	name, err := windows.UTF16PtrFromString(verbatim + path)
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(name, access, share, nil, windows.OPEN_EXISTING, flags, 0)
	switch {
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND), errors.Is(err, windows.ERROR_PATH_NOT_FOUND):
		return 0, errAbsent
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return 0, fmt.Errorf("its access list is not yours to change: %w", err)
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return 0, fmt.Errorf("another process has it open for renaming or removal: %w", err)
	}
	return h, err
}

// examine refuses an object whose list would not be that of its path alone.
func (o *object) examine() error {
	final, err := finalPath(o.handle)
	if err != nil {
		return err
	}
	// A reparse point on the way, a drive that stands for a directory or for a network
	// path, and a short name all lead to another path than the one that was asked for.
	if !strings.EqualFold(final, verbatim+o.entry.Path) {
		return fmt.Errorf("it leads to %s; name that", strings.TrimPrefix(final, verbatim))
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(o.handle, &info); err != nil {
		return err
	}
	o.dir = info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0
	o.id = identity{info.VolumeSerialNumber, uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
	reparse := info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
	switch {
	case reparse && !o.entry.ReparsePoint:
		return errors.New("it is a link or another reparse point, expected a file or directory at the path itself")
	case !o.dir && info.NumberOfLinks > 1:
		return fmt.Errorf("the file has %d names, and one access list for all of them", info.NumberOfLinks)
	}
	if err := o.volume(); err != nil {
		return err
	}
	if err := o.owned(); err != nil {
		return err
	}
	if o.list, err = listOf(o.handle); err != nil {
		return err
	}
	if o.list.Null {
		return errors.New("it has no access list; everybody may do everything")
	}
	return nil
}

// volume refuses a file system without access lists, such as FAT, exFAT or a share of a virtual
// machine.
func (o *object) volume() error {
	var flags uint32
	name := make([]uint16, windows.MAX_PATH+1)
	err := windows.GetVolumeInformationByHandle(o.handle, nil, 0, nil, nil, &flags, &name[0], uint32(len(name)))
	if err != nil {
		return fmt.Errorf("its file system: %w", err)
	}
	fs := windows.UTF16ToString(name)
	if flags&windows.FILE_PERSISTENT_ACLS == 0 || fs != "NTFS" && fs != "ReFS" {
		return fmt.Errorf("its file system is %s, which does not enforce access lists", fs)
	}
	return nil
}

// owned refuses an object that belongs to another user, who can change the list at any time.
// Objects that an administrator makes with full rights belong to the group.
func (o *object) owned() error {
	sd, err := windows.GetSecurityInfo(o.handle, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("its owner: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("its owner: %w", err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	if owner.Equals(user.User.Sid) || owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) || owner.IsWellKnown(windows.WinLocalSystemSid) {
		return nil
	}
	return fmt.Errorf("it belongs to %s, not to you", owner)
}

// finalPath is the one name of a handle's object.
func finalPath(h windows.Handle) (string, error) {
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}

// listOf reads the access list of an object.
func listOf(h windows.Handle) (winjob.List, error) {
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return winjob.List{}, fmt.Errorf("its access list: %w", err)
	}
	return winjob.ParseList(sd.String())
}

// setList replaces the access list of an object; the objects below it inherit anew. setList
// hands over the object's own entries only, the system adds those that it inherits.
func setList(h windows.Handle, l winjob.List) error {
	sd, err := windows.SecurityDescriptorFromString(l.Explicit().String())
	if err != nil {
		return fmt.Errorf("its access list: %w", err)
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return fmt.Errorf("its access list: %w", err)
	}
	if dacl == nil {
		// An object without a list would let everyone do everything.
		return errors.New("its access list: there is none to set")
	}
	info := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION)
	if l.Protected {
		info |= windows.PROTECTED_DACL_SECURITY_INFORMATION
	} else {
		info |= windows.UNPROTECTED_DACL_SECURITY_INFORMATION
	}
	if err := windows.SetSecurityInfo(h, windows.SE_FILE_OBJECT, info, nil, nil, dacl, nil); err != nil {
		return fmt.Errorf("its access list: %w", err)
	}
	return nil
}
