package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// program is a program of accessc that packages have.
type program struct{ name, source string }

// programs are all of them; the first has the manual page and the completions, and is what npx and the image start.
var programs = []program{
	{"accessc", "./cmd/accessc"},
	{"accessc-exec", "./cmd/accessc-exec"},
}

const (
	repository  = "https://github.com/accessc/accessc"
	description = "Policy compiler and sandbox for the tools of AI agents"
)

// downloads is where the files of a release are.
func (r *release) downloads() string { return repository + "/releases/download/" + r.tag }

// release is what the writers of files know.
type release struct {
	// tag is the version with its v, version without.
	tag, version string
	commit       string
	// epoch is the time of every file, in seconds since 1970: that of the commit.
	epoch int64
	// golang is the version of the toolchain.
	golang string
	trial  bool
	key    key
	// built is the directory with the programs and papers, out that of the release.
	built, out string
	// clone is the work tree that is built, env the environment of the commands in it.
	clone string
	env   []string
}

func main() {
	keyFile := flag.String("key", "",
		"sign with this Ed25519 key, PKCS #8 in PEM; with -check the public key that must have signed")
	dist := flag.String("out", "dist", "the directory for the release's directory")
	checkDir := flag.String("check", "", "check the files of a release in this directory instead")
	version := ""
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		version = os.Args[1]
		os.Args = append(os.Args[:1], os.Args[2:]...)
	}
	flag.Parse()
	var err error
	switch {
	case flag.NArg() > 0 || (version == "") == (*checkDir == "") || *checkDir != "" && *keyFile == "":
		flag.Usage()
		os.Exit(2)
	case *checkDir != "":
		err = check(*checkDir, *keyFile)
	default:
		err = run(version, *keyFile, *dist)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// tags are the versions that every kind of package can spell, and that Go takes for a module without /v2 in its path.
var tags = regexp.MustCompile(`^v[01]\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-rc\.[1-9]\d*)?$`)

// run makes a release of the commit that is checked out here.
func run(tag, keyFile, dist string) error {
	if !tags.MatchString(tag) {
		return fmt.Errorf("%q is no version; expected v1.2.3 or v1.2.3-rc.1", tag)
	}
	r := &release{tag: tag, version: tag[1:], trial: keyFile == ""}
	var err error
	if r.key, err = readKey(keyFile); err != nil {
		return err
	}
	r.out = filepath.Join(dist, tag)
	if r.trial {
		r.out += "-trial"
	}
	if _, err := os.Lstat(r.out); err == nil {
		return fmt.Errorf("%s is there; remove it", r.out)
	}
	temp, err := os.MkdirTemp("", "accessc-release")
	if err != nil {
		return err
	}
	defer rmtree.Remove(temp)
	r.built, r.clone = filepath.Join(temp, "built"), filepath.Join(temp, "clone")
	if err := r.build(); err != nil {
		return err
	}
	final := r.out
	r.out = filepath.Join(temp, "out")
	if err := r.write(); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	if err := os.CopyFS(final, os.DirFS(r.out)); err != nil {
		return err
	}
	fmt.Printf("%s: version %s of commit %.12s, signed by %s\n", final, r.version, r.commit, r.key.Public().ID())
	if r.trial {
		fmt.Println("A trial: no -key was given, its key is thrown away. Do not upload it.")
	}
	return nil
}

// write writes every file of the release from what is built.
func (r *release) write() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := all(r.linuxPackages, r.materials); err != nil {
		return err
	}
	return r.plain()
}

// plain writes what needs no other program, and in the end what checks all files.
func (r *release) plain() error {
	return all(r.archives, r.npm, r.wheels, r.image, r.formula, r.scoop,
		r.installer, r.papers, r.checksums, r.provenance)
}

func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
