package winjob

import (
	"fmt"
	"slices"
)

// symbol is a constant of the Windows headers. The variables below are the only
// place where its name and its value are written; everything else refers to them.
type symbol struct {
	name  string
	value uint32
}

// Rights of files and directories (winnt.h; learn.microsoft.com, "File Access Rights
// Constants"). On a directory the bits of writing, appending and executing a file
// mean adding a file, adding a subdirectory and traversing.
var (
	fileReadData        = symbol{"FILE_READ_DATA", 0x1}
	fileListDirectory   = symbol{"FILE_LIST_DIRECTORY", 0x1}
	fileWriteData       = symbol{"FILE_WRITE_DATA", 0x2}
	fileAddFile         = symbol{"FILE_ADD_FILE", 0x2}
	fileAppendData      = symbol{"FILE_APPEND_DATA", 0x4}
	fileAddSubdirectory = symbol{"FILE_ADD_SUBDIRECTORY", 0x4}
	fileReadEA          = symbol{"FILE_READ_EA", 0x8}
	fileWriteEA         = symbol{"FILE_WRITE_EA", 0x10}
	fileExecute         = symbol{"FILE_EXECUTE", 0x20}
	fileTraverse        = symbol{"FILE_TRAVERSE", 0x20}
	fileDeleteChild     = symbol{"FILE_DELETE_CHILD", 0x40}
	fileReadAttributes  = symbol{"FILE_READ_ATTRIBUTES", 0x80}
	fileWriteAttributes = symbol{"FILE_WRITE_ATTRIBUTES", 0x100}
	deleteObject        = symbol{"DELETE", 0x10000}
	readControl         = symbol{"READ_CONTROL", 0x20000}
	writeDAC            = symbol{"WRITE_DAC", 0x40000}
	writeOwner          = symbol{"WRITE_OWNER", 0x80000}
	synchronize         = symbol{"SYNCHRONIZE", 0x100000}
	fileGenericRead     = symbol{"FILE_GENERIC_READ", 0x120089}
	fileGenericWrite    = symbol{"FILE_GENERIC_WRITE", 0x120116}
	fileGenericExecute  = symbol{"FILE_GENERIC_EXECUTE", 0x1200a0}
	fileAllAccess       = symbol{"FILE_ALL_ACCESS", 0x1f01ff}
)

var accessRights = []symbol{
	fileReadData, fileListDirectory, fileWriteData, fileAddFile, fileAppendData, fileAddSubdirectory, fileReadEA,
	fileWriteEA, fileExecute, fileTraverse, fileDeleteChild, fileReadAttributes, fileWriteAttributes, deleteObject,
	readControl, writeDAC, writeOwner, synchronize, fileGenericRead, fileGenericWrite, fileGenericExecute,
	fileAllAccess,
}

// Entries of access lists (winnt.h, ACE_HEADER).
var (
	accessAllowed = symbol{"ACCESS_ALLOWED_ACE_TYPE", 0}
	accessDenied  = symbol{"ACCESS_DENIED_ACE_TYPE", 1}

	objectInherit      = symbol{"OBJECT_INHERIT_ACE", 0x1}
	containerInherit   = symbol{"CONTAINER_INHERIT_ACE", 0x2}
	noPropagateInherit = symbol{"NO_PROPAGATE_INHERIT_ACE", 0x4}
	inheritOnly        = symbol{"INHERIT_ONLY_ACE", 0x8}
)

var (
	aceTypes = []symbol{accessAllowed, accessDenied}
	aceFlags = []symbol{objectInherit, containerInherit, noPropagateInherit, inheritOnly}
)

// Limits of a job object (winnt.h; learn.microsoft.com, "JOBOBJECT_BASIC_LIMIT_INFORMATION").
var (
	limitJobTime        = symbol{"JOB_OBJECT_LIMIT_JOB_TIME", 0x4}
	limitActiveProcess  = symbol{"JOB_OBJECT_LIMIT_ACTIVE_PROCESS", 0x8}
	limitJobMemory      = symbol{"JOB_OBJECT_LIMIT_JOB_MEMORY", 0x200}
	limitDieOnException = symbol{"JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION", 0x400}
	limitKillOnClose    = symbol{"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE", 0x2000}
)

var limitFlags = []symbol{limitJobTime, limitActiveProcess, limitJobMemory, limitDieOnException, limitKillOnClose}

// uiRestrictions are the user interface limits of a job object (winnt.h). Handles and global atoms are left as they
// are: with them, shells fail to initialise, as the MXC project documents.
var uiRestrictions = []symbol{
	{"JOB_OBJECT_UILIMIT_READCLIPBOARD", 0x2},
	{"JOB_OBJECT_UILIMIT_WRITECLIPBOARD", 0x4},
	{"JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS", 0x8},
	{"JOB_OBJECT_UILIMIT_DISPLAYSETTINGS", 0x10},
	{"JOB_OBJECT_UILIMIT_DESKTOP", 0x40},
	{"JOB_OBJECT_UILIMIT_EXITWINDOWS", 0x80},
}

// consoleUpdates are the revisions of builds that have the update of 12 October 2021, which keeps processes of
// AppContainers from typing into consoles (CVE-2021-41346; KB5006672, KB5006667, KB5006670, KB5006699, KB5006674).
// Build 18362 was out of service by then.
var consoleUpdates = [...]struct{ build, least uint32 }{
	{17763, 2237}, {18363, 1854}, {19041, 1288}, {19042, 1288}, {19043, 1288}, {20348, 288}, {22000, 258},
}

// ConsoleUpdated reports whether a build of Windows, in a revision, has that update. Builds that came later have it
// from the beginning.
// See decision D282.
func ConsoleUpdated(build, revision uint32) bool {
	for _, u := range consoleUpdates {
		if u.build == build {
			return revision >= u.least
		}
	}
	return build > 19043
}

// tokenFlags are the flags for CreateRestrictedToken (securitybaseapi.h): all privileges but traversing go, and the
// token counts as a limited user's.
var tokenFlags = []symbol{{"DISABLE_MAX_PRIVILEGE", 0x1}, {"LUA_TOKEN", 0x4}}

// Opening a file so that no process can rename, delete or replace it meanwhile (fileapi.h;
// learn.microsoft.com, "CreateFileW": without FILE_SHARE_DELETE no process can open the file
// for delete access, which renaming needs as well).
var (
	shareModes = []symbol{{"FILE_SHARE_READ", 0x1}, {"FILE_SHARE_WRITE", 0x2}}
	openFlags  = []symbol{{"FILE_FLAG_BACKUP_SEMANTICS", 0x02000000}, {"FILE_FLAG_OPEN_REPARSE_POINT", 0x00200000}}
)

// childProcessRestricted is the value of the attribute that keeps a process from
// making others (winbase.h). Its documentation calls it effective in AppContainers only.
var childProcessRestricted = symbol{"PROCESS_CREATION_CHILD_PROCESS_RESTRICTED", 0x1}

// names lists symbols the way a specification does: by name, in order.
func names(symbols ...symbol) []string {
	out := make([]string, 0, len(symbols))
	for _, s := range symbols {
		out = append(out, s.name)
	}
	slices.Sort(out)
	return out
}

// bits combines named symbols. A name that the table lacks is an error.
func bits(table []symbol, names []string) (uint32, error) {
	var v uint32
	for _, n := range names {
		i := slices.IndexFunc(table, func(s symbol) bool { return s.name == n })
		if i < 0 {
			return 0, fmt.Errorf("%w: unknown symbol %q", ErrSpec, n)
		}
		v |= table[i].value
	}
	return v, nil
}
