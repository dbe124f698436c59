// Command release makes the files of a release, for a maintainer who then uploads them and does nothing else.
//
//	go tool -modfile=tools/go.mod task release -- v0.2.0 -key ../release.key
//
// It builds the commit that is checked out, in a clone of its own that carries the release's tag, and writes
// dist/v0.2.0: archives, packages of Debian, RPM and Alpine, npm packages, Python wheels, an OCI image, a Homebrew
// formula, a Scoop manifest, an SBOM of each program, the notes, checksums and install.sh. The checksums are signed as
// OpenSSH signs files, and an in-toto statement (DSSE) says from which commit all of it is made. The key is Ed25519,
// whose signatures draw nothing: two people with the key, the commit and the version of Go write the same bytes, and
// without the key everything but the signatures, and what names the key.
//
// Without -key the release is a trial: its key is made for it and thrown away, and it is written to dist/v0.2.0-trial.
// With -check it reads the files of a release instead, and says what does not hold.
package main
