// Package userdir computes the paths of accessc's files for one user and one workspace:
// approvals, the tools' private homes, the directories of single runs.
//
// None of them is ever inside the workspace, where a tool could write them or a commit could
// carry them to another user. The package computes paths and names, and locks and removes private homes.
package userdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir is the state of one user and workspace.
type Dir string

// For returns the state directory of a workspace, given by its canonical root:
// below $XDG_STATE_HOME/accessc (~/.local/state/accessc), or %LocalAppData%\accessc
// on Windows. The name ends in a digest of the root, so that equal names in
// different places stay apart.
func For(root string) (Dir, error) {
	all, err := Root()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	id := label(filepath.Base(root)) + "-" + hex.EncodeToString(sum[:6])
	return Dir(filepath.Join(all, "workspaces", id)), nil
}

// Root returns the directory of the state of all of a user's workspaces.
func Root() (string, error) {
	base, err := base()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "accessc"), nil
}

func base() (string, error) {
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return d, nil
	}
	if runtime.GOOS == "windows" {
		if d := os.Getenv("LocalAppData"); d != "" {
			return d, nil
		}
		return "", errors.New("no state directory: %LocalAppData% is not set")
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("no state directory: neither $XDG_STATE_HOME nor $HOME is set to an absolute path")
	}
	return filepath.Join(home, ".local", "state"), nil
}

// label keeps the characters of a name that are safe in a file name anywhere.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		default:
			return '_'
		}
	}, name)
	return name[:min(len(name), 40)]
}

// Live returns the directory of the sockets by which grants of running tools are given and
// revoked.
func Live() (string, error) {
	root, err := Root()
	return filepath.Join(root, "live"), err
}

// Approvals is the path of the approval store.
func (d Dir) Approvals() string { return filepath.Join(string(d), "approvals.json") }

// Allowed is the path of the changes of layers that can be taken back.
func (d Dir) Allowed() string { return filepath.Join(string(d), "allowed.json") }

// Home is the private home directory of a tool, which must have a checked name.
func (d Dir) Home(tool string) string { return filepath.Join(string(d), "home", tool) }

// SharedHome is the name, which no tool has, of the home that tools with access.home = "shared" have.
// See decision D7.
const SharedHome = "@shared"

// HomeOf is the home of a tool that has a private or a shared home.
func (d Dir) HomeOf(tool string, shared bool) string {
	if shared {
		tool = SharedHome
	}
	return d.Home(tool)
}

// Builds returns the directory of resolved builds, which no tool may write.
func (d Dir) Builds() string { return filepath.Join(string(d), "access") }

// Compiled returns the directory of the compilations that starts of tools left for later
// starts, which no tool may write.
func (d Dir) Compiled() string { return filepath.Join(string(d), "compiled") }

// Variables are the variables of the environment by which this package finds its paths.
func Variables() []string {
	return []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}
}

// Built is the path of the record of the last build of a directory, given by its absolute path.
func (d Dir) Built(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(string(d), "built", hex.EncodeToString(sum[:12]))
}

// Fleet is the path of the record of the last look at the builds below some directories, given by their absolute paths.
func Fleet(dirs []string) (string, error) {
	root, err := Root()
	sum := sha256.Sum256([]byte(strings.Join(dirs, "\x00")))
	return filepath.Join(root, "fleet", hex.EncodeToString(sum[:12])), err
}

// Reports returns the directory of the reports about commands that a hook has rewritten.
func (d Dir) Reports() string { return filepath.Join(string(d), "reports") }

// Denials is the path of the file that keeps the refusals of a tool's last run. The empty name
// stands for commands that no configuration names; no tool has it.
func (d Dir) Denials(tool string) string { return filepath.Join(string(d), "denials", tool+".json") }

// Learned is the directory of the evidence that runs of a tool left. The empty name stands for
// commands that no configuration names.
func (d Dir) Learned(tool string) string { return filepath.Join(string(d), "learned", tool+".runs") }

// Undo is the directory of the originals of files that runs have changed, which no tool may reach.
func (d Dir) Undo() string { return filepath.Join(string(d), "undo") }

// Sessions returns the directory in which the invocations of agents' sessions are counted.
func (d Dir) Sessions() string { return filepath.Join(string(d), "sessions") }

// UserConfig is the path of the user's own layer, empty if there is none to be
// had: $XDG_CONFIG_HOME/accessc/config.toml or the platform's equivalent. A variable with a relative path counts as not
// set (https://specifications.freedesktop.org/basedir-spec/latest/): os.UserConfigDir has no directory then.
func UserConfig() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir, _ = os.UserConfigDir()
	}
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "accessc", "config.toml")
}

// Attestation is a file that says who may sign.
type Attestation struct {
	Path string
	// Machine is true for the administrator's.
	Machine bool
}

// Attestations are the files that say who may sign: the administrator's, and the user's own beside the
// user's layer, if it can be had. They are no layers. See decision D275.
func Attestations() []Attestation {
	var out []Attestation
	for _, dir := range machineDirs() {
		out = append(out, Attestation{filepath.Join(dir, "attestation.toml"), true})
	}
	if own := UserConfig(); own != "" {
		out = append(out, Attestation{filepath.Join(filepath.Dir(own), "attestation.toml"), false})
	}
	return out
}

// Attests reports whether there may be a file that says who may sign.
func Attests() bool { return Attesting() != "" }

// Attesting is the first path at which there may be a file that says who may sign, empty for none.
func Attesting() string {
	for _, a := range Attestations() {
		if _, err := os.Lstat(a.Path); !errors.Is(err, fs.ErrNotExist) {
			return a.Path
		}
	}
	return ""
}

// Maximum is the path of the administrator's file that bounds all tools of the machine. No variable and no flag is
// asked.
func Maximum() string { return filepath.Join(machineDirs()[0], "maximum.toml") }

// Attested is the path of the file that keeps the highest serial of an attestation by which a tool was started.
func (d Dir) Attested(tool string) string { return filepath.Join(string(d), "attested", tool) }

// Journals returns the directory where loaders record changes outside of themselves, to undo
// them afterwards. It is one directory per user: runs in different workspaces may change the
// same object.
func Journals() (string, error) {
	base, err := base()
	return filepath.Join(base, "accessc", "journal"), err
}
