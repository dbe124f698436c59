package approvals

import (
	"os"

	"golang.org/x/sys/windows"
)

// openPlain opens the file at path itself: a reparse point is opened as such and is then no
// regular file.
func openPlain(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// openDir opens a directory.
func openDir(path string) (*os.File, error) { return os.Open(path) }

// private refuses files that another user owns. Files that an administrator makes belong to the
// group of administrators, so membership counts
// (https://learn.microsoft.com/windows/win32/secauthz/owner-of-a-new-object). Write access of
// others is left to the access lists of the user's profile.
func private(f *os.File, _ os.FileInfo) error {
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	if user, err := windows.GetCurrentProcessToken().GetTokenUser(); err != nil {
		return err
	} else if owner.Equals(user.User.Sid) {
		return nil
	}
	if member, err := windows.Token(0).IsMember(owner); err != nil || !member {
		return &unfitError{"belongs to another user"}
	}
	return nil
}

// sheltered refuses nothing: the access lists of the user's profile decide who writes above.
func sheltered(string) error { return nil }
