package mount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// symlink makes a symlink in a directory. Without the privilege for that (developer mode
// or an administrator has it), a directory is reached by a junction instead, which
// needs none; nothing like it exists for files.
func symlink(dir *os.Root, target, name string) error {
	target = filepath.FromSlash(target)
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	err = makeSymlink(dir, target, name, info.IsDir())
	if !errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) {
		return err
	}
	if info.IsDir() {
		return makeJunction(dir, target, name)
	}
	return fmt.Errorf("a symlink to a file needs developer mode (Settings, System, For developers) "+
		"or an administrator; mount the directory %s instead", filepath.Dir(target))
}

// makeSymlink and makeJunction make links to an absolute path. os.Root.Symlink takes every
// absolute target for a file.
func makeSymlink(dir *os.Root, target, name string, directory bool) error {
	defer acquire("SeCreateSymbolicLinkPrivilege")()
	return makeReparse(dir, name, directory, symlinkData(target))
}

func makeJunction(dir *os.Root, target, name string) error {
	return makeReparse(dir, name, true, junctionData(target))
}

// symlinkData is a REPARSE_DATA_BUFFER with a SymbolicLinkReparseBuffer
// (https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_reparse_data_buffer):
// two names, and flags that are 0 for an absolute target.
func symlinkData(target string) []byte {
	return reparseData(windows.IO_REPARSE_TAG_SYMLINK, utf16.Encode([]rune(`\??\`+target)),
		utf16.Encode([]rune(target)), 4, 0)
}

// junctionData is a reparse point with a MountPointReparseBuffer, whose names end in NUL.
func junctionData(target string) []byte {
	return reparseData(windows.IO_REPARSE_TAG_MOUNT_POINT, utf16.Encode([]rune(`\??\`+target)),
		utf16.Encode([]rune(target)), 0, 1)
}

func reparseData(tag uint32, substitute, print []uint16, flags, nul int) []byte {
	le := binary.LittleEndian
	names := append(append(append([]uint16{}, substitute...), make([]uint16, nul)...),
		append(print, make([]uint16, nul)...)...)
	b := le.AppendUint32(nil, tag)
	b = le.AppendUint16(b, uint16(8+flags+2*len(names)))
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, uint16(2*len(substitute)))
	b = le.AppendUint16(b, uint16(2*(len(substitute)+nul)))
	b = le.AppendUint16(b, uint16(2*len(print)))
	b = append(b, make([]byte, flags)...)
	for _, u := range names {
		b = le.AppendUint16(b, u)
	}
	return b
}

// makeReparse makes a file or directory below a directory's handle, never following an existing
// file, and turns it into a reparse point. On failure it is removed.
func makeReparse(dir *os.Root, name string, directory bool, data []byte) error {
	parent, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer parent.Close()
	objectName, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return err
	}
	attributes := windows.OBJECT_ATTRIBUTES{RootDirectory: windows.Handle(parent.Fd()), ObjectName: objectName}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	options := uint32(windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT |
		windows.FILE_SYNCHRONOUS_IO_NONALERT)
	if directory {
		options |= windows.FILE_DIRECTORY_FILE
	} else {
		options |= windows.FILE_NON_DIRECTORY_FILE
	}
	var h windows.Handle
	var status windows.IO_STATUS_BLOCK
	access := uint32(windows.SYNCHRONIZE | windows.FILE_WRITE_ATTRIBUTES | windows.DELETE)
	err = windows.NtCreateFile(&h, access, &attributes, &status, nil,
		windows.FILE_ATTRIBUTE_NORMAL, 0, windows.FILE_CREATE, options, 0, 0)
	runtime.KeepAlive(parent)
	var nt windows.NTStatus
	if errors.As(err, &nt) {
		err = nt.Errno()
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var n uint32
	err = windows.DeviceIoControl(h, windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &n, nil)
	if err != nil {
		return errors.Join(err, dispose(h))
	}
	return nil
}

// dispose removes the file of a handle.
func dispose(h windows.Handle) error {
	remove := byte(1) // FILE_DISPOSITION_INFO
	return windows.SetFileInformationByHandle(h, windows.FileDispositionInfo, &remove, 1)
}

// acquire enables a privilege for this thread if its user has it, as CreateSymbolicLink does,
// and returns a function that disables it again.
func acquire(privilege string) (restore func()) {
	runtime.LockOSThread()
	if windows.ImpersonateSelf(windows.SecurityImpersonation) != nil {
		return runtime.UnlockOSThread
	}
	restore = func() {
		// A thread that stays impersonated is not used again: it ends with its goroutine.
		if windows.RevertToSelf() == nil {
			runtime.UnlockOSThread()
		}
	}
	var token windows.Token
	const access = windows.TOKEN_QUERY | windows.TOKEN_ADJUST_PRIVILEGES
	if windows.OpenThreadToken(windows.CurrentThread(), access, false, &token) != nil {
		return restore
	}
	defer token.Close()
	state := windows.Tokenprivileges{PrivilegeCount: 1}
	state.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	name, err := windows.UTF16PtrFromString(privilege)
	if err == nil && windows.LookupPrivilegeValue(nil, name, &state.Privileges[0].Luid) == nil {
		// Without the privilege, making the symlink fails and says so.
		_ = windows.AdjustTokenPrivileges(token, false, &state, 0, nil, nil)
	}
	return restore
}
