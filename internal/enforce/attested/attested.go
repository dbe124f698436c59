// Package attested holds starts of tools to attestations: it compares the policy that is about to be
// applied with the statement that a permitted signer has signed.
//
// The bytes that are compared are those that are applied. A portable statement is about the configuration,
// from which a start compiles for this host: the configuration is compiled portably as well, by the same
// answers of the host, and has to give the signed policy.
package attested

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Start is a start of a configured tool.
type Start struct {
	// Options are those of the compilation, with a View, and Tool is of its result.
	Options hostfacts.Options
	Result  *hostfacts.Result
	Tool    *ir.Tool
	// Artifact is the specification that is about to be applied.
	Artifact []byte
	// Portable is true where the artifact is one that no build has, so that only a portable build can be attested.
	Portable bool
	// File is the attestation, empty for the one that a build leaves in the workspace.
	File string
}

// Check returns an error unless those who may have signed the policy of a start.
func (s Start) Check(p signers.Policy) error {
	root := filepath.FromSlash(s.Result.Resolver.Root)
	if s.File == "" {
		s.File = filepath.Join(root, "access", build.AttestationFile)
	}
	return check(p, s.File, root, s.Tool.Name, s.policy)
}

// policy compares the policy with a statement.
func (s Start) policy(said *attest.Statement) error {
	if said.Build.Form == backends.Resolved.String() {
		if s.Portable {
			return errResolved
		}
		return artifact(said, s.Tool.Name, build.Hash(s.Artifact))
	}
	listed, ok := said.Build.Tool(s.Tool.Name)
	if !ok {
		return fmt.Errorf("it is not about the tool %s", s.Tool.Name)
	}
	if source := s.Tool.Source.String(); listed.Source != source {
		return fmt.Errorf("it is about %s as a tool whose source is %.80q, and this one's is %q", s.Tool.Name, listed.Source, source)
	}
	hash, err := Portable(s.Options, s.Tool.Name)
	if err != nil {
		return err
	}
	if hash != listed.Policy {
		return fmt.Errorf("the layers of this start compile to the policy %s of %s, attested is %s; layers that are not committed count as well, "+
			"and --shared leaves them out", hash, s.Tool.Name, listed.Policy)
	}
	return nil
}

// errResolved is the answer where a statement about artifacts says nothing of the one that is applied.
var errResolved = errors.New("it is about a resolved build, and a start by --means bubblewrap goes by portable builds")

// errMoved is the answer where a host changes while it is asked.
var errMoved = errors.New("the configuration changed while it was compiled; start again")

// Portable is the hash of a tool's portable policy, of the configuration of a compilation. Its View has every answer that
// either compilation had from the host, and knows if two of them differ.
// See decision D290.
func Portable(opts hostfacts.Options, tool string) (string, error) {
	opts.Resolve, opts.Sensitive, opts.Unbounded = false, false, true // the start compares with the maximum
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return "", err
	}
	var found *ir.Tool
	if res.Program != nil {
		found, _ = res.Program.Tool(tool)
	}
	if found == nil {
		return "", fmt.Errorf("the policy of %s does not compile portably; accessc check says why", tool)
	}
	if _, whole := opts.View.Seen(); !whole {
		return "", errMoved
	}
	return build.Policy(found)
}

// Artifact returns an error unless those who may have signed an artifact of a tool with this hash. file is the
// attestation.
func Artifact(p signers.Policy, file, root, tool, hash string) error {
	return check(p, file, root, tool, func(said *attest.Statement) error { return artifact(said, tool, hash) })
}

// artifact compares an artifact with a statement.
func artifact(said *attest.Statement, tool, hash string) error {
	name := tool + "/" + start.Artifact
	switch got := said.Subject(name); got {
	case hash:
		return nil
	case "":
		return fmt.Errorf("it is not about %s", name)
	default:
		return fmt.Errorf("the artifact of this start has the hash %s, attested for %s is %s", hash, name, got)
	}
}

// check reads an attestation, asks who signed it, compares it, and keeps its serial.
func check(p signers.Policy, file, root, tool string, compare func(*attest.Statement) error) error {
	e, err := signers.Envelope(file)
	if err != nil {
		return refused(file, err)
	}
	said, _, err := p.Judge(e, subject(root, tool))
	if err == nil {
		err = compare(said)
	}
	if err == nil && !p.Older() {
		err = remember(root, tool, said.Build.Serial)
	}
	return refused(file, err)
}

func refused(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("an attestation is required: %s: %w", file, err)
}

// remember keeps the serial where no tool can write.
func remember(root, tool string, serial int) error {
	state, err := userdir.For(filepath.ToSlash(root))
	if err != nil {
		return err
	}
	dir := filepath.Dir(state.Attested(tool))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if !start.Keeps(dir, root) {
		return fmt.Errorf("%s would have the serials of attestations, and tools may write there; let XDG_STATE_HOME be elsewhere", dir)
	}
	return signers.Remember(state, tool, serial)
}
