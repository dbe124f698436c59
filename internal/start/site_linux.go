package start

import (
	"syscall"

	"github.com/accessc/accessc/internal/start/inherited"
	"github.com/accessc/accessc/internal/supervisor"
)

// Site is the process that starts tools: this program, which becomes the tool or stays for one, or a
// process that goes on and starts many.
type Site struct {
	// Base is where runs have their directories, empty for the place of temporary files.
	Base string
	// Name is argv[0] of the processes of this program that it starts, by which it knows itself.
	Name string
	// Files is the limit of open files that tools get.
	Files syscall.Rlimit
	// Spawner starts tools that nothing supervises, Crew those that it supervises. Both are nil in
	// a process that becomes the tool.
	Spawner *supervisor.Spawner
	Crew    *supervisor.Crew
}

// ownSite is the one of a process of accessc itself.
func ownSite() *Site { return &Site{Name: "accessc"} }

// words are the arguments by which this program does something else.
func (s *Site) words(command string, more ...string) []string {
	return append([]string{s.Name, command}, more...)
}

// files is the limit of open files of tools.
func (s *Site) files() syscall.Rlimit {
	if s.Spawner == nil && s.Crew == nil {
		return inherited.Files()
	}
	return s.Files
}

// mark draws the mark of a run.
func (s *Site) mark() *supervisor.Mark {
	if s.Crew != nil {
		return s.Crew.Mark()
	}
	return supervisor.NewMark()
}
