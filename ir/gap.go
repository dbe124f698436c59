package ir

import "slices"

// Gap is the name of a requirement that some hosts cannot meet. The policy (access.accept)
// or the caller (--accept) accepts a gap by its name; without that the tool does not start
// there.
type Gap string

// The gaps. Effect says what accepting a gap gives up.
const (
	GapCommandsArgs    Gap = "commands.args"
	GapCommandsEnvs    Gap = "commands.envs"
	GapCommandsProgram Gap = "commands.program"
	GapFSCreate        Gap = "fs.create"
	GapFSDefault       Gap = "fs.default"
	GapFSExecute       Gap = "fs.execute"
	GapFSLate          Gap = "fs.late"
	GapFSMetadata      Gap = "fs.metadata"
	GapFSMove          Gap = "fs.move"
	GapFSNames         Gap = "fs.names"
	GapFSPaths         Gap = "fs.paths"
	GapFSProtected     Gap = "fs.protected"
	GapFSReplaced      Gap = "fs.replaced"
	GapFSRevoke        Gap = "fs.revoke"
	GapFSSocket        Gap = "fs.socket"
	GapFSWrite         Gap = "fs.write"
	GapLimitCPUTime    Gap = "limits.cpu_time"
	GapLimitFileSize   Gap = "limits.file_size"
	GapLimitMemory     Gap = "limits.memory"
	GapLimitOpenFiles  Gap = "limits.open_files"
	GapLimitProcesses  Gap = "limits.processes"
	GapLimitWallTime   Gap = "limits.wall_time"
	GapNetAddress      Gap = "net.address"
	GapNetDefault      Gap = "net.default"
	GapNetHost         Gap = "net.host"
	GapNetListen       Gap = "net.listen"
	GapNetPath         Gap = "net.path"
	GapProcessSignal   Gap = "process.signal"
)

// effects says of every gap what is then not enforced.
var effects = map[Gap]string{
	GapCommandsArgs:    "arguments of started programs are not checked",
	GapCommandsEnvs:    "started programs see all of the tool's variables",
	GapCommandsProgram: "a program that may be read can still be run by a loader or an interpreter",
	GapFSCreate:        "a tool can do more or less with files of its own making than the rules say",
	GapFSDefault:       "system files that every confined program can use stay usable, beyond the rules of the base",
	GapFSExecute:       "files that may be read may be started",
	GapFSLate:          "rules do not hold at places that are not there at the start, and are made later",
	GapFSMetadata:      "mode, owner, times and attributes can be changed everywhere",
	GapFSMove:          "a rule's path can be moved, or a moved file keeps the rights of its old place",
	GapFSNames: "names are not told apart as rules mean them: other spellings of a rule's name, " +
		"or names that a pattern matches and that are made later",
	GapFSPaths:        "file rules are not held by the system",
	GapFSProtected:    "protected paths that are not there at the start can be made, and then be changed",
	GapFSReplaced:     "rules no longer hold at a place that another process replaces, as editors do when they save",
	GapFSRevoke:       "files that appear later in directories with an exception stay closed",
	GapFSSocket:       "sockets that may be seen may be connected to",
	GapFSWrite:        "one of create, update and delete gives all three, and reading",
	GapLimitCPUTime:   "the limit counts per process",
	GapLimitFileSize:  "the limit is not held",
	GapLimitMemory:    "the limit counts per process, or is not held",
	GapLimitOpenFiles: "the limit is not held",
	GapLimitProcesses: "the limit counts all of the user's processes",
	GapLimitWallTime:  "the limit is not held",
	GapNetAddress:     "addresses are not opened, or more than the rules name",
	GapNetDefault:     "the network is not closed",
	GapNetHost:        "any host is reached at the ports that the rules name",
	GapNetListen:      "connections are accepted at more addresses or ports than the rules name, or at none",
	GapNetPath:        "paths of https requests are not seen: all or none of the host's are reached",
	GapProcessSignal:  "signals reach processes outside of the sandbox",
}

// Gaps lists every gap by name.
func Gaps() []Gap {
	out := make([]Gap, 0, len(effects))
	for g := range effects {
		out = append(out, g)
	}
	slices.Sort(out)
	return out
}

// Known reports whether there is a gap of this name.
func (g Gap) Known() bool { return effects[g] != "" }

// Effect says what is not enforced where the gap is accepted.
func (g Gap) Effect() string { return effects[g] }

// GapOfLimit is the gap of a limit that a host does not enforce as the policy means it.
func GapOfLimit(k LimitKind) Gap { return Gap("limits." + k.String()) }
