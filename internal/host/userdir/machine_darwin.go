package userdir

// machineDirs are the directories of the administrator's files. New files go to the first; earlier versions had
// the files of signers in the second.
func machineDirs() []string { return []string{"/Library/Application Support/accessc", "/etc/accessc"} }
