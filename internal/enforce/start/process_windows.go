package start

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// process is the tool, suspended before its first instruction until it is resumed.
type process struct {
	handle, thread windows.Handle
}

// command is the program to start.
type command struct {
	// file is the absolute path of a program, so that no directory is searched for it.
	file string
	// line is the text that the program splits into its arguments.
	line string
	// dir is the working directory.
	dir string
	env []string
}

// attributes take effect on a process before its first instruction. The list keeps pointers to
// the fields, so this lives until the process is made.
type attributes struct {
	list *windows.ProcThreadAttributeListContainer
	job  windows.Handle
	// standard are copies of the standard handles, 0 for one that the process gets from its
	// pseudo console; given are the others.
	standard [3]windows.Handle
	given    []windows.Handle
	console  windows.Handle
	security securityCapabilities
	children uint32
}

// newAttributes puts the process into the job, onto its console and, with a container, into that,
// and leaves it only the three standard handles.
func newAttributes(j *job, c *container, con *console) (_ *attributes, err error) {
	a := &attributes{job: j.handle}
	if con != nil {
		a.console = con.handle
	}
	if err := a.inherit(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	const most = 5
	if a.list, err = windows.NewProcThreadAttributeList(most); err != nil {
		return nil, err
	}
	if err := a.list.Update(attributeJobList, unsafe.Pointer(&a.job), unsafe.Sizeof(a.job)); err != nil {
		return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_JOB_LIST: %w", err)
	}
	if len(a.given) > 0 {
		size := uintptr(len(a.given)) * unsafe.Sizeof(a.given[0])
		if err := a.list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&a.given[0]), size); err != nil {
			return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_HANDLE_LIST: %w", err)
		}
	}
	if a.console != 0 {
		// The value of this attribute is the handle, not a pointer to one.
		if err := a.list.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, *(*unsafe.Pointer)(unsafe.Pointer(&a.console)), unsafe.Sizeof(a.console)); err != nil {
			return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE: %w", err)
		}
	}
	return a, a.contain(c)
}

// contain puts the process into an AppContainer, if there is one.
func (a *attributes) contain(c *container) error {
	if c == nil {
		return nil
	}
	a.security.sid = c.sid
	if err := a.list.Update(attributeSecurityCapabilities, unsafe.Pointer(&a.security), unsafe.Sizeof(a.security)); err != nil {
		return fmt.Errorf("PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES: %w", err)
	}
	if c.childless {
		a.children = winjob.ChildProcessRestricted()
		if err := a.list.Update(attributeChildProcessPolicy, unsafe.Pointer(&a.children), unsafe.Sizeof(a.children)); err != nil {
			return fmt.Errorf("PROC_THREAD_ATTRIBUTE_CHILD_PROCESS_POLICY: %w", err)
		}
	}
	return nil
}

// inherit makes copies of the standard handles that a process can inherit: different ones, since
// the list must not name one twice. A missing handle becomes the null device. One of the user's
// console is left out, so that the process takes that of its own.
func (a *attributes) inherit() error {
	for i, id := range standard {
		h, err := windows.GetStdHandle(id)
		if err == nil && isConsole(h) {
			continue
		}
		self := windows.CurrentProcess()
		if err == nil && h != 0 && h != windows.InvalidHandle &&
			windows.DuplicateHandle(self, h, self, &a.standard[i], 0, true, windows.DUPLICATE_SAME_ACCESS) == nil {
			continue
		}
		if a.standard[i], err = null(); err != nil {
			a.close()
			return fmt.Errorf("standard handle %d: %w", i, err)
		}
	}
	a.given = slices.DeleteFunc(slices.Clone(a.standard[:]), func(h windows.Handle) bool { return h == 0 })
	return nil
}

func null() (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString("NUL")
	if err != nil {
		return 0, err
	}
	inherit := windows.SecurityAttributes{InheritHandle: 1}
	inherit.Length = uint32(unsafe.Sizeof(inherit))
	return windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, &inherit, windows.OPEN_EXISTING, 0, 0)
}

func (a *attributes) close() {
	if a.list != nil {
		a.list.Delete()
		a.list = nil
	}
	for i, h := range a.standard {
		if h != 0 {
			_ = windows.CloseHandle(h)
			a.standard[i] = 0
		}
	}
}

// create makes the process, suspended, with some flags besides.
func create(t windows.Token, a *attributes, c command, flags uint32) (*process, error) {
	file, err := windows.UTF16PtrFromString(c.file)
	if err != nil {
		return nil, failed("the program: %w", err)
	}
	line, err := windows.UTF16PtrFromString(c.line)
	if err != nil {
		return nil, failed("the arguments: %w", err)
	}
	dir, err := windows.UTF16PtrFromString(c.dir)
	if err != nil {
		return nil, failed("the workspace: %w", err)
	}
	env, err := block(c.env)
	if err != nil {
		return nil, failed("the environment: %w", err)
	}
	si := windows.StartupInfoEx{ProcThreadAttributeList: a.list.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES
	si.StdInput, si.StdOutput, si.StdErr = a.standard[0], a.standard[1], a.standard[2]
	var pi windows.ProcessInformation
	flags |= windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	if a.console == 0 {
		// A console of its own, without a window, in place of the loader's.
		flags |= windows.CREATE_NO_WINDOW
	}
	// Without a list every inheritable handle would be inherited.
	err = windows.CreateProcessAsUser(t, file, line, nil, nil, len(a.given) > 0, flags, &env[0], dir, &si.StartupInfo, &pi)
	runtime.KeepAlive(a)
	if err != nil {
		return nil, notCreated(c.file, err)
	}
	return &process{pi.Process, pi.Thread}, nil
}

// notCreated explains why a process was not made.
func notCreated(file string, err error) error {
	out := fmt.Errorf("%s: %w", file, err)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		out = fmt.Errorf("%w: the policy does not let it be executed", out)
	}
	return &Error{Code: CodeNotRunnable, Err: out}
}

// block writes variables the way CreateProcess takes them: each with a zero behind it
// and one more behind the last.
func block(env []string) ([]uint16, error) {
	var out []uint16
	for _, kv := range env {
		wide, err := windows.UTF16FromString(kv)
		if err != nil {
			return nil, err
		}
		out = append(out, wide...)
	}
	if len(out) == 0 {
		out = append(out, 0)
	}
	return append(out, 0), nil
}

// resume lets the process run.
func (p *process) resume() error {
	if _, err := windows.ResumeThread(p.thread); err != nil {
		return fmt.Errorf("ResumeThread: %w", err)
	}
	return nil
}

// status is the status with which the process ended.
func (p *process) status() (uint32, error) {
	if _, err := windows.WaitForSingleObject(p.handle, windows.INFINITE); err != nil {
		return 0, err
	}
	var code uint32
	err := windows.GetExitCodeProcess(p.handle, &code)
	return code, err
}

func (p *process) close() {
	_ = windows.CloseHandle(p.thread)
	_ = windows.CloseHandle(p.handle)
}
