package start

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// job is the job object of a run, with the limits that were set on it. Its handle is not
// inheritable and the only one, so the system ends the tool and all it started with this
// process.
type job struct {
	handle windows.Handle
	port   windows.Handle
	limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	ui     windows.JOBOBJECT_BASIC_UI_RESTRICTIONS
}

// newJob makes a job and limits it before anything is in it. A bare one has no user interface
// restrictions.
func newJob(spec winjob.JobObject, bare bool) (_ *job, err error) {
	j := &job{}
	if j.limits, err = extended(spec.Extended); err != nil {
		return nil, err
	}
	if j.ui.UIRestrictionsClass, err = spec.UI.Value(); err != nil {
		return nil, err
	}
	if bare {
		j.ui.UIRestrictionsClass = 0
	}
	if j.handle, err = windows.CreateJobObject(nil, nil); err != nil {
		return nil, fmt.Errorf("CreateJobObject: %w", err)
	}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if err := setJob(j.handle, windows.JobObjectExtendedLimitInformation, &j.limits); err != nil {
		return nil, fmt.Errorf("JOBOBJECT_EXTENDED_LIMIT_INFORMATION: %w", err)
	}
	if !bare {
		if err := setJob(j.handle, windows.JobObjectBasicUIRestrictions, &j.ui); err != nil {
			return nil, fmt.Errorf("JOBOBJECT_BASIC_UI_RESTRICTIONS: %w", err)
		}
	}
	if j.port, err = windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1); err != nil {
		return nil, fmt.Errorf("CreateIoCompletionPort: %w", err)
	}
	assoc := associateCompletionPort{uintptr(j.handle), j.port}
	if err := setJob(j.handle, windows.JobObjectAssociateCompletionPortInformation, &assoc); err != nil {
		return nil, fmt.Errorf("JOBOBJECT_ASSOCIATE_COMPLETION_PORT: %w", err)
	}
	return j, nil
}

// extended writes the limits as the system takes them.
func extended(e winjob.ExtendedLimits) (windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, error) {
	var out windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	flags, err := e.Basic.Flags()
	if err != nil {
		return out, err
	}
	if most := uint64(^uintptr(0)); e.JobMemoryLimit > most {
		return out, fmt.Errorf("JobMemoryLimit %d does not fit", e.JobMemoryLimit)
	}
	out.BasicLimitInformation.LimitFlags = flags
	out.BasicLimitInformation.PerJobUserTimeLimit = e.Basic.PerJobUserTimeLimit
	out.BasicLimitInformation.ActiveProcessLimit = e.Basic.ActiveProcessLimit
	out.JobMemoryLimit = uintptr(e.JobMemoryLimit)
	return out, nil
}

// close closes the job, which ends every process in it. On nil it does nothing.
func (j *job) close() {
	if j == nil {
		return
	}
	for _, h := range []windows.Handle{j.handle, j.port} {
		if h != 0 {
			_ = windows.CloseHandle(h)
		}
	}
	j.handle, j.port = 0, 0
}

// end kills everything in the job.
func (j *job) end(status uint32) { _ = windows.TerminateJobObject(j.handle, status) }

// wait returns true when no process of the job runs any more, false when the deadline is over
// before; a zero deadline never is. The system reports at once that the last process has ended,
// but "delivery is not guaranteed" (JOBOBJECT_ASSOCIATE_COMPLETION_PORT), so wait asks the job
// every second as well.
func (j *job) wait(deadline time.Time) (bool, error) {
	for {
		most := time.Second
		if !deadline.IsZero() {
			most = min(most, time.Until(deadline))
		}
		if most <= 0 {
			return false, nil
		}
		var message uint32
		var key uintptr
		var about *windows.Overlapped
		// A wait may end a tick early.
		err := windows.GetQueuedCompletionStatus(j.port, &message, &key, &about, uint32(most.Milliseconds())+1)
		if err != nil && !errors.Is(err, windows.Errno(windows.WAIT_TIMEOUT)) {
			return false, fmt.Errorf("GetQueuedCompletionStatus: %w", err)
		}
		if err == nil && message == jobMessageActiveZero {
			return true, nil
		}
		var count basicAccounting
		if err := queryJob(j.handle, jobBasicAccounting, &count); err != nil {
			return false, fmt.Errorf("JOBOBJECT_BASIC_ACCOUNTING_INFORMATION: %w", err)
		}
		if count.ActiveProcesses == 0 {
			return true, nil
		}
	}
}

// unlimited reports whether the limits and the user interface restrictions that the job reports
// differ from those set on it.
func (j *job) unlimited() (limits, ui bool) {
	var got windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := queryJob(j.handle, windows.JobObjectExtendedLimitInformation, &got)
	have, want := &got.BasicLimitInformation, &j.limits.BasicLimitInformation
	limits = err != nil || have.LimitFlags != want.LimitFlags || have.ActiveProcessLimit != want.ActiveProcessLimit ||
		have.PerJobUserTimeLimit != want.PerJobUserTimeLimit || got.JobMemoryLimit != j.limits.JobMemoryLimit
	var class windows.JOBOBJECT_BASIC_UI_RESTRICTIONS
	err = queryJob(j.handle, windows.JobObjectBasicUIRestrictions, &class)
	return limits, err != nil || class != j.ui
}
