package ir

// Every AppContainer may read and run files with an access entry for ALL APPLICATION
// PACKAGES; on a default installation these trees have such an entry.
// See decision D53.
var windowsSystem = []BaseEntry{
	{"${SystemRoot}", readExecute, "programs and libraries of the system"},
	{"${ProgramFiles}", readExecute, "installed programs"},
	{"${ProgramFiles(x86)}", readExecute, "installed programs"},
}
