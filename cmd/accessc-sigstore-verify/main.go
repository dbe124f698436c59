// Command accessc-sigstore-verify checks offline that a sigstore bundle is about the manifest of a build, and that an
// identity has signed it.
//
// It is a module of its own, so that the modules that sigstore needs are no part of accessc. The bundle is one that
// cosign sign-blob or an attestation of a build server has made for manifest.json. All that the check needs beside it
// is in the file of the trusted root: nothing is fetched.
//
// With -attest the build gets an attestation.json that is signed with a key of this host: its owner then says that the bundle
// was checked, and accessc exec --require-attestation goes by that key.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
)

// version is that of the statement's field.
const version = "accessc-sigstore-verify"

// Bounds of the files that are read, in bytes.
const (
	maxBundle   = 16 << 20
	maxManifest = 64 << 20
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the flags.
type options struct{ bundle, trusted, identity, issuer, attest, project string }

// run is the program without its process. The status is 0 if the bundle holds, 1 if not, 2 for a mistake of the call.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("accessc-sigstore-verify", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: accessc-sigstore-verify -bundle FILE -trusted-root FILE -identity NAME -issuer URL [-attest KEY [-project NAME]] DIR")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.bundle, "bundle", "", "the sigstore bundle about DIR/manifest.json")
	flags.StringVar(&o.trusted, "trusted-root", "", "the trusted root of the sigstore instance, trusted_root.json")
	flags.StringVar(&o.identity, "identity", "", "the identity that must have signed, as the certificate has it, in full")
	flags.StringVar(&o.issuer, "issuer", "", "the issuer of the identity, in full")
	flags.StringVar(&o.attest, "attest", "", "write DIR/attestation.json, signed with this private key")
	flags.StringVar(&o.project, "project", "", "with -attest: the project of the attestation")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if o.bundle == "" || o.trusted == "" || o.identity == "" || o.issuer == "" || flags.NArg() != 1 || o.attest == "" && o.project != "" {
		flags.Usage()
		return 2
	}
	if err := o.check(flags.Arg(0)); err != nil {
		fmt.Fprintf(stderr, "accessc-sigstore-verify: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%s: signed by %s of %s\n", filepath.Join(flags.Arg(0), build.ManifestFile), o.identity, o.issuer)
	return 0
}

// check verifies the bundle, then the build, and attests it. The manifest is read once.
func (o options) check(dir string) error {
	manifest, err := signers.ReadFile(filepath.Join(dir, build.ManifestFile), maxManifest)
	if err != nil {
		return err
	}
	signed, err := readBundle(o.bundle)
	if err != nil {
		return fmt.Errorf("%s: %w", o.bundle, err)
	}
	text, err := signers.ReadFile(o.trusted, maxBundle)
	if err != nil {
		return err
	}
	trusted, err := root.NewTrustedRootFromJSON(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.trusted, err)
	}
	when, err := verified(signed, trusted, o.identity, o.issuer, verify.WithArtifact(bytes.NewReader(manifest)), required()...)
	if err != nil {
		return err
	}
	m, err := build.ParseManifest(manifest)
	if err != nil {
		return err
	}
	problems, err := build.Verify(m, dir, registry.Every)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the files do not match the manifest: %s: %s", problems[0].Class, problems[0].Detail)
	}
	if o.attest == "" {
		return nil
	}
	return o.write(dir, m, manifest, when)
}

// readBundle reads a bundle in the form of JSON.
func readBundle(file string) (*bundle.Bundle, error) {
	data, err := signers.ReadFile(file, maxBundle)
	if err != nil {
		return nil, err
	}
	var b bundle.Bundle
	return &b, b.UnmarshalJSON(data)
}

// required lists the facts that a bundle must prove beside the signature: that the certificate was logged,
// that the signature was, and that a log or an authority has seen it while the certificate was valid.
func required() []verify.VerifierOption {
	return []verify.VerifierOption{
		verify.WithSignedCertificateTimestamps(1), verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1),
	}
}

// verified checks a bundle, and returns the earliest time at which a log or an authority has seen it. Identity and
// issuer are compared as they stand, no pattern.
func verified(signed verify.SignedEntity, trusted root.TrustedMaterial, identity, issuer string, about verify.ArtifactPolicyOption, need ...verify.VerifierOption) (time.Time, error) {
	verifier, err := verify.NewVerifier(trusted, need...)
	if err != nil {
		return time.Time{}, err
	}
	who, err := verify.NewShortCertificateIdentity(issuer, "", identity, "")
	if err != nil {
		return time.Time{}, err
	}
	result, err := verifier.Verify(signed, verify.NewPolicy(about, verify.WithCertificateIdentity(who)))
	if err != nil {
		return time.Time{}, err
	}
	if len(result.VerifiedTimestamps) == 0 {
		return time.Time{}, errors.New("no log and no authority says when it was signed")
	}
	first := slices.MinFunc(result.VerifiedTimestamps, func(a, b verify.TimestampVerificationResult) int { return a.Timestamp.Compare(b.Timestamp) })
	return first.Timestamp, nil
}

// write signs the build with a key of this host. Its serial is the time at which the bundle was signed. By the
// present time an earlier manifest that is put back with its bundle would be attested as the newest.
// See decision D276.
func (o options) write(dir string, m *build.Manifest, manifest []byte, when time.Time) error {
	data, err := signers.ReadSecret(o.attest)
	if err != nil {
		return fmt.Errorf("%s: %w", o.attest, err)
	}
	key, err := attest.ParsePrivate(data)
	if err != nil {
		return fmt.Errorf("%s: %w", o.attest, err)
	}
	said := m.Statement(build.Hash(manifest))
	said.Build.Accessc, said.Build.Project, said.Build.Serial = version, o.project, int(when.Unix())
	if data, err = attest.Sign(said, key); err != nil {
		return err
	}
	return replace(filepath.Join(dir, build.AttestationFile), data)
}

// replace writes a file whole or not at all.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".attestation-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
