//go:build unix

package start

import (
	"net/url"
	"os"

	"github.com/accessc/accessc/backends"
)

// seatbeltHost is the part of the running system that a start needs.
type seatbeltHost interface {
	// run runs a program to its end, without input and output.
	run(argv, env []string) (ended, error)
	// spelling returns a path as the file system has it, by its first name.
	spelling(path string) (string, error)
	// userDirectories returns the user's directories for temporary files and for caches, as
	// confstr(3) names them.
	userDirectories() ([]string, error)
	// processes counts those of the user.
	processes() (int, error)
	// descriptors closes all but the standard ones at the next exec, and refuses
	// standard ones that reach the network.
	descriptors() error
	// limit sets the resource limits of this process.
	limit([]backends.Limit) error
	// egress starts the proxy of the run. It is no child of this process. It gets some of the
	// caller's variables.
	egress(p *proxied, environ []string) (egressEnd, error)
	// sweepAfter has a directory removed, and files closed that hold a proxy or a home, when this
	// process is gone, whatever program it has become.
	sweepAfter(dir string, holds []*os.File) error
	// become replaces this process. It returns only errors.
	become(file string, argv, env []string) error
}

// egressEnd is the proxy of a run, as the tool reaches it.
type egressEnd struct {
	port uint16
	// url is the proxy as variables of clients name it.
	url *url.URL
	// hold is a descriptor whose end is that of the proxy.
	hold *os.File
}
