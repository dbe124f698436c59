package start

import (
	"syscall"

	"github.com/accessc/accessc/internal/enforce/start/inherited"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// Site is the process that starts tools: this program, which becomes the tool or stays for one, or a
// process that goes on and starts many.
type Site struct {
	// Base is where runs have their directories, where many tools are started.
	Base string
	// Name is argv[0] of the processes of this program that it starts, by which it knows itself.
	Name string
	// Files is the limit of open files that tools get.
	Files syscall.Rlimit
	// Lasts is set in a process that goes on and starts many tools, Crew in one that supervises them.
	Lasts bool
	Crew  *supervisor.Crew

	homes  homes
	places places
}

// Close frees the descriptors that are kept between two starts.
func (s *Site) Close() { s.places.close() }

// turn is that of the watch of kept places, 0 where none are kept.
func (s *Site) turn() uint64 {
	if !s.Lasts {
		return 0
	}
	return s.places.watch.turn()
}

// ownSite is the one of a process of accessc itself.
func ownSite() *Site { return &Site{Name: "accessc"} }

// words are the arguments by which this program does something else.
func (s *Site) words(command string, more ...string) []string {
	return append([]string{s.Name, command}, more...)
}

// files is the limit of open files of tools.
func (s *Site) files() syscall.Rlimit {
	if !s.Lasts {
		return inherited.Files()
	}
	return s.Files
}
