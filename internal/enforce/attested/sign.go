package attested

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// Signing is how a build is attested.
type Signing struct {
	Keys []attest.Private
	// Project, Serial and Revision are those of the statement; Serial is 0 for one by the clock.
	Project  string
	Serial   int
	Revision string
	// Accessc is the version of the program.
	Accessc string
}

// Attest is build.Request's. A statement that says the same already keeps its serial and its signatures,
// so that several can sign one build, and a build that is up to date is left alone.
func (s *Signing) Attest(said *attest.Statement, old []byte) ([]byte, error) {
	b := said.Build
	b.Accessc, b.Project, b.Revision, b.Serial = s.Accessc, s.Project, s.Revision, s.Serial
	if before, err := attest.Read(old); err == nil {
		again := *said.Build
		if s.Serial == 0 {
			again.Serial = before.Serial()
		}
		if data, same, err := before.Cosign(&attest.Statement{Subjects: said.Subjects, Build: &again}, s.Keys...); same ||
			err != nil {
			return data, err
		}
	}
	if b.Serial == 0 {
		b.Serial = int(time.Now().Unix())
	}
	return attest.Sign(said, s.Keys...)
}

// PrivateKeys reads the keys of --sign, which this user alone can read. Findings are about those that lie where the
// tools of this workspace or another could read them.
func PrivateKeys(files []string, root string) ([]attest.Private, diag.List, error) {
	var out []attest.Private
	for _, file := range files {
		var key attest.Private
		data, err := signers.ReadSecret(file)
		if err == nil {
			key, err = attest.ParsePrivate(data)
		}
		if err != nil {
			return nil, nil, usage.Errorf("--sign %s: %v; nothing was written", file, oserr.Reason(err))
		}
		out = append(out, key)
	}
	root = filepath.FromSlash(root)
	return out, signers.Misplaced(files, root, func(file string) string { return start.Exposed(file, root) }), nil
}

// kernelRelease is the version of the running kernel (proc_sys_kernel(5)).
func kernelRelease() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return string(data[:max(len(data)-1, 0)])
}

// Summarize attests which tests this kernel held, of policies that are known by their portable form. accepted are
// gaps of the host.
func (s Signing) Summarize(opts hostfacts.Options, accepted []string, cases []attest.Case) ([]byte, error) {
	said := &attest.Statement{Summary: &attest.Summary{
		Accessc: s.Accessc, Time: time.Now(), Project: s.Project, Cases: cases,
		Host: attest.Host{
			System: runtime.GOOS, Architecture: runtime.GOARCH, Kernel: kernelRelease(), ABI: start.ABI(),
			Accepted: accepted,
		},
	}}
	for _, x := range cases {
		if name := x.Tool + "/policy"; said.Subject(name) == "" {
			hash, err := Portable(opts, x.Tool)
			if err != nil {
				return nil, usage.Error{Err: err}
			}
			said.Subjects = append(said.Subjects, attest.Subject{Name: name, Hash: hash})
		}
	}
	return attest.Sign(said, s.Keys...)
}
