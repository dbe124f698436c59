package start

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/test/await"
)

// attempts are single operations that a tool tries: OPERATION ARG...
var attempts map[string]func(a []string) error

func init() {
	attempts = map[string]func([]string) error{
		"read":    func(a []string) error { _, err := os.ReadFile(a[0]); return err },
		"open":    func(a []string) error { return opened(os.OpenFile(a[0], os.O_RDWR, 0)) },
		"create":  func(a []string) error { return opened(os.OpenFile(a[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)) },
		"update":  func(a []string) error { return opened(os.OpenFile(a[0], os.O_WRONLY, 0)) },
		"delete":  func(a []string) error { return os.Remove(a[0]) },
		"stat":    func(a []string) error { _, err := os.Lstat(a[0]); return err },
		"rename":  func(a []string) error { return os.Rename(a[0], a[1]) },
		"link":    func(a []string) error { return os.Link(a[0], a[1]) },
		"symlink": func(a []string) error { return os.Symlink(a[0], a[1]) },
		"times":   func(a []string) error { return os.Chtimes(a[0], time.Now(), time.Now()) },
		"start":   func(a []string) error { return ran(a[0], roleCommand, "exit", "0") },
		"shell":   func([]string) error { return ran("cmd.exe", "/d", "/c", "exit 0") },
		"program": func(a []string) error { return ran(a[0], a[1:]...) },
		"library": func(a []string) error { _, err := windows.LoadLibrary(a[0]); return err },
		"connect": connects,
		"resolve": resolves,
		"process": opensProcess,
		"list":    setsList,
		"own":     makesItsOwn,
		"memory":  allocates,
		"spin":    spins,
		"look":    looks,
		"pipe":    makesPipe,
		"attach":  attaches,
		"break":   breaks,
		"rename-update": func(a []string) error {
			if err := os.Rename(a[0], a[1]); err != nil {
				return err
			}
			return opened(os.OpenFile(a[1], os.O_WRONLY, 0))
		},
	}
}

func try(a []string) int {
	if err := attempts[a[0]](a[1:]); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// waitAndTry reports that it waits, and tries when a file has come: FILE OPERATION ARG...
func waitAndTry(a []string) int {
	_ = os.WriteFile(filepath.Join(os.Getenv("TMP"), "waiting"), nil, 0o644)
	await.Until(child{}, a[0]+" is there", func() bool { _, err := os.Lstat(a[0]); return err == nil })
	return try(a[1:])
}

// child is the test to a tool, which has no deadline of its own: it is killed with the test.
type child struct{ testing.TB }

func (child) Helper() {}

// ran runs a program with the streams of this one: without any the null device would be opened, which AppContainers
// are refused.
func ran(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func opened(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

func connects(a []string) error {
	c, err := net.Dial(a[0], a[1])
	if err != nil {
		return err
	}
	return c.Close()
}

func resolves(a []string) error {
	_, err := net.DefaultResolver.LookupHost(context.Background(), a[0])
	return err
}

func opensProcess(a []string) error {
	h, err := windows.OpenProcess(uint32(number(a[1])), false, uint32(number(a[0])))
	if err != nil {
		return err
	}
	return windows.CloseHandle(h)
}

const everybody = "D:P(A;;FA;;;WD)(A;;FA;;;AC)"

func setsList(a []string) error {
	sd, err := windows.SecurityDescriptorFromString(everybody)
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(a[0], windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
}

// makesItsOwn makes a file with a list that grants everyone access, and reads it.
func makesItsOwn(a []string) error {
	sd, err := windows.SecurityDescriptorFromString(everybody)
	if err != nil {
		return err
	}
	sa := windows.SecurityAttributes{SecurityDescriptor: sd}
	sa.Length = uint32(unsafe.Sizeof(sa))
	name, err := windows.UTF16PtrFromString(a[0])
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, &sa, windows.CREATE_NEW, 0, 0)
	if err != nil {
		return err
	}
	if err := windows.CloseHandle(h); err != nil {
		return err
	}
	_, err = os.ReadFile(a[0])
	return err
}

func allocates(a []string) error {
	size := uintptr(number(a[0]))
	at, err := windows.VirtualAlloc(0, size, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return err
	}
	return windows.VirtualFree(at, 0, windows.MEM_RELEASE)
}

// spins uses the processor until it is killed.
func spins([]string) error {
	for {
		runtime.Gosched()
	}
}
