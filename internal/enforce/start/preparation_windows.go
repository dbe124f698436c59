package start

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// contained calls a function with the rights that a tool has in an AppContainer to which nothing
// is granted: on a thread with the token of one, so no process has to be started and no profile be
// made. Chromium asks in this way as well (AppContainerBase::AccessCheck).
func contained(f func()) error {
	if err := ntCreateLowBoxToken.Find(); err != nil {
		return err
	}
	sid, err := windows.StringToSid(winjob.PackageSID("accessc.doctor"))
	if err != nil {
		return err
	}
	var self, box, copied windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_QUERY, &self); err != nil {
		return err
	}
	defer self.Close()
	attributes := windows.OBJECT_ATTRIBUTES{}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_IMPERSONATE
	r, _, _ := ntCreateLowBoxToken.Call(uintptr(unsafe.Pointer(&box)), uintptr(self), access, uintptr(unsafe.Pointer(&attributes)),
		uintptr(unsafe.Pointer(sid)), 0, 0, 0, 0)
	if r != 0 {
		return fmt.Errorf("NtCreateLowBoxToken: %w", windows.NTStatus(r))
	}
	if box == 0 {
		// Wine reports success and gives none.
		return errors.New("NtCreateLowBoxToken gave no token")
	}
	defer box.Close()
	if err := windows.DuplicateTokenEx(box, 0, nil, windows.SecurityImpersonation, windows.TokenImpersonation, &copied); err != nil {
		return err
	}
	defer copied.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := windows.SetThreadToken(nil, copied); err != nil {
		return err
	}
	f()
	if err := windows.RevertToSelf(); err != nil {
		// The thread must not serve anything else.
		panic(err)
	}
	return nil
}

// preparation is a part of the host that AppContainers are refused by default, and that
// programs ask for.
type preparation struct {
	name string
	// path is opened for access.
	path   string
	access uint32
	// effect says which programs mind.
	effect string
	// fix is the step that an administrator takes by hand; where it is empty, Prepare does it.
	fix string
}

// lookAt are the rights by which size, times and attributes of a directory are asked for.
const lookAt = windows.FILE_READ_ATTRIBUTES | windows.FILE_READ_EA | windows.READ_CONTROL | windows.SYNCHRONIZE

// nullDevice is asked for as programs do that send their output there.
var nullDevice = preparation{
	name: "NUL", path: `\\.\NUL`, access: windows.GENERIC_READ | windows.GENERIC_WRITE,
	effect: "closed to tools: git, go and node open it at their start or for the programs that they start",
}

// preparations lists those that a tool in a directory, with a PATH, has to do with.
func preparations(dir, path string) []preparation {
	all := []preparation{nullDevice}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		all = append(all, preparation{
			name: up, path: up, access: lookAt,
			effect: "tools cannot see that it is there: node fails with EPERM on its main script, and PowerShell before 7.6.2 has no drives",
		})
		if up == filepath.Dir(up) {
			break
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) || slices.ContainsFunc(all, func(p preparation) bool { return strings.EqualFold(p.path, dir) }) {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		all = append(all, preparation{
			name: dir, path: dir, access: windows.FILE_LIST_DIRECTORY | lookAt, effect: "in PATH, and closed to tools",
			fix: "install for all users below Program Files, or write an external rule; an administrator can open it to every AppContainer: " +
				`icacls "` + dir + `" /grant *S-1-15-2-1:(OI)(CI)RX`,
		})
	}
	return all
}

// missing lists those that are refused to a tool.
func missing(all []preparation) ([]preparation, error) {
	var out []preparation
	err := contained(func() {
		for _, p := range all {
			if errors.Is(opens(p), windows.ERROR_ACCESS_DENIED) {
				out = append(out, p)
			}
		}
	})
	return out, err
}

func opens(p preparation) error {
	name, err := windows.UTF16PtrFromString(p.path)
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, p.access, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

// prepared reports, for doctor, the preparations that the host still needs.
func prepared() []Finding {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	refused, err := missing(preparations(dir, os.Getenv("PATH")))
	if err != nil {
		return []Finding{{"preparation", Partial, "cannot be asked for: " + err.Error(), ""}}
	}
	if len(refused) == 0 {
		return []Finding{{"preparation", Present, "NUL, the directories above this one and those in PATH are open to tools", ""}}
	}
	var out []Finding
	for _, p := range refused {
		f := Finding{p.name, Partial, p.effect, p.fix}
		if f.Fix == "" {
			f.Fix = "as administrator, here: accessc doctor --prepare"
		}
		if p.path == nullDevice.path {
			exe, err := os.Executable()
			if err != nil {
				exe = ""
			}
			f.Fix += "; Windows forgets it at every start, so once, as administrator: " + atStart(exe, os.Getenv("ProgramFiles"))
		}
		out = append(out, f)
	}
	return out
}

// Prepare opens to AppContainers, for good, the parts of the host that programs need and that no
// run can grant: NUL, until the system's next start, and the size and times of the directories
// above the current one. It needs the rights of an administrator, and returns the names of the
// parts that it opened.
// See decision D282.
func Prepare() ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	refused, err := missing(preparations(dir, ""))
	if err != nil {
		return nil, err
	}
	var done []string
	for _, p := range refused {
		if err := open(p); err != nil {
			return done, fmt.Errorf("%s: %w", p.path, err)
		}
		done = append(done, p.name)
	}
	return done, nil
}

// open adds entries to the list of one object. Not by SetSecurityInfo, which would go through
// everything below a directory. The null device also gets a label by which processes of low
// integrity may write there, as in MXC's docs/host-prep.md.
func open(p preparation) error {
	name, err := windows.UTF16PtrFromString(p.path)
	if err != nil {
		return err
	}
	rights, info, label := uint32(windows.READ_CONTROL|windows.WRITE_DAC), windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION), ""
	mask := uint32(lookAt)
	if p.path == nullDevice.path {
		rights, info, label = rights|windows.WRITE_OWNER, info|windows.LABEL_SECURITY_INFORMATION, "S:(ML;;NW;;;LW)"
		mask = windows.GENERIC_READ | windows.GENERIC_WRITE | windows.GENERIC_EXECUTE
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, rights, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	sd, err := windows.GetSecurityInfo(h, windows.SE_KERNEL_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	text, err := winjob.Opened(sd.String(), mask)
	if err != nil {
		return err
	}
	if sd, err = windows.SecurityDescriptorFromString(text + label); err != nil {
		return err
	}
	return windows.SetKernelObjectSecurity(h, info, sd)
}
