//go:build unix && !darwin

package userdir

// machineDirs are the directories of the administrator's files. New files go to the first.
func machineDirs() []string { return []string{"/etc/accessc"} }
