package start

import (
	"errors"
	"fmt"
	"runtime"
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
	list     *windows.ProcThreadAttributeListContainer
	job      windows.Handle
	standard [3]windows.Handle
	security securityCapabilities
	children uint32
}

// newAttributes puts the process into the job and, with a container, into that, and leaves it
// only the three standard handles.
func newAttributes(j *job, c *container) (_ *attributes, err error) {
	a := &attributes{job: j.handle}
	if err := a.inherit(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	const most = 4
	if a.list, err = windows.NewProcThreadAttributeList(most); err != nil {
		return nil, err
	}
	if err := a.list.Update(attributeJobList, unsafe.Pointer(&a.job), unsafe.Sizeof(a.job)); err != nil {
		return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_JOB_LIST: %w", err)
	}
	if err := a.list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&a.standard), unsafe.Sizeof(a.standard)); err != nil {
		return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_HANDLE_LIST: %w", err)
	}
	if c == nil {
		return a, nil
	}
	a.security.sid = c.sid
	if err := a.list.Update(attributeSecurityCapabilities, unsafe.Pointer(&a.security), unsafe.Sizeof(a.security)); err != nil {
		return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES: %w", err)
	}
	if c.childless {
		a.children = winjob.ChildProcessRestricted
		if err := a.list.Update(attributeChildProcessPolicy, unsafe.Pointer(&a.children), unsafe.Sizeof(a.children)); err != nil {
			return nil, fmt.Errorf("PROC_THREAD_ATTRIBUTE_CHILD_PROCESS_POLICY: %w", err)
		}
	}
	return a, nil
}

// inherit makes copies of the standard handles that a process can inherit: three different
// ones, since the list must not name one twice. A missing handle becomes the null device.
func (a *attributes) inherit() error {
	for i, id := range [...]uint32{windows.STD_INPUT_HANDLE, windows.STD_OUTPUT_HANDLE, windows.STD_ERROR_HANDLE} {
		h, err := windows.GetStdHandle(id)
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

// create makes the process, suspended.
func create(t windows.Token, a *attributes, c command) (*process, error) {
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
	const flags = windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	err = windows.CreateProcessAsUser(t, file, line, nil, nil, true, flags, &env[0], dir, &si.StartupInfo, &pi)
	runtime.KeepAlive(a)
	if err != nil {
		return nil, notCreated(c.file, err)
	}
	return &process{pi.Process, pi.Thread}, nil
}

// notCreated explains why a process was not made. A job with user interface restrictions
// cannot stand in another (learn.microsoft.com, "AssignProcessToJobObject").
func notCreated(file string, err error) error {
	out := fmt.Errorf("%s: %w", file, err)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		out = fmt.Errorf("%w: the policy does not let it be executed", out)
		if nested, e := inJob(windows.CurrentProcess(), 0); e == nil && nested {
			out = fmt.Errorf("%w, or accessc is in a job itself, in which there can be none like the tool's", out)
		}
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
