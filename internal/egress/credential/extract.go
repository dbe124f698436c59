// Package credential reads the secrets that the egress proxy puts into requests, and makes the
// stand-ins that tools have in their place. It runs outside of the sandbox, before the tool
// starts.
package credential

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/ir"
)

// Limits of a value in bytes, and of the time in which a command prints it. A shorter value
// could be guessed through the proxy, and would be found in answers by chance.
const (
	minValue = 8
	maxValue = 16 << 10
	maxTime  = 30 * time.Second
)

// A Host is where values are read: the caller's account, not the tool's.
type Host struct {
	Getenv  func(string) string
	Environ []string // of commands
	Home    string
	// Readable and Writable report whether the tool may read a canonical path, or may change,
	// replace or make it.
	Readable, Writable func(path string) bool
	// Messages takes the standard error of commands.
	Messages io.Writer
}

// Reach says by a tool's view, and where its roots are on this host, which files the tool can reach.
func (h *Host) Reach(v *ir.View, b *ir.Bindings) {
	may := func(path string, caps ...ir.Capability) bool {
		return slices.ContainsFunc(caps, func(c ir.Capability) bool {
			return v.Decide(ir.Access{Cap: c, On: ir.Place{At: b.Locate(path)}}).Allowed()
		})
	}
	h.Readable = func(path string) bool { return may(path, ir.Read) }
	h.Writable = func(path string) bool { return may(path, ir.Create, ir.Update, ir.Delete) }
}

// Source names where the value of a credential comes from. Rules with the same source share a
// value.
func Source(c *ir.Credential) string {
	switch {
	case c.Env != "":
		return "env " + c.Env
	case c.File != "":
		return "file " + c.File
	default:
		return fmt.Sprintf("command %q", c.Command)
	}
}

// All extracts the values that rules need, by their sources. A value that cannot be had is an
// error: a request without it would not be the request that the policy's author meant.
func All(ctx context.Context, rules []ir.NetRule, h Host) (map[string]Secret, error) {
	out := map[string]Secret{}
	for i := range rules {
		c := rules[i].Credential
		if c == nil {
			continue
		}
		if _, ok := out[Source(c)]; ok {
			continue
		}
		s, err := Extract(ctx, c, h)
		if err != nil {
			return nil, err
		}
		out[Source(c)] = s
	}
	return out, nil
}

// Environ changes the variables of a tool: variables from which rules take values have the
// stand-ins, whether or not an env rule forwards them, and so has each other variable that shows
// a value.
func Environ(env []string, rules []ir.NetRule, secrets map[string]Secret) []string {
	out := slices.Clone(env)
	for _, s := range secrets {
		m := s.Mask()
		for i, entry := range out {
			if m.Shows(entry) {
				text := []byte(entry)
				m.Replace(text)
				out[i] = string(text)
			}
		}
	}
	for i := range rules {
		c := rules[i].Credential
		if c == nil || c.Env == "" {
			continue
		}
		out = slices.DeleteFunc(out, func(entry string) bool { return strings.HasPrefix(entry, c.Env+"=") })
		out = append(out, c.Env+"="+string(secrets[Source(c)].StandIn))
	}
	return out
}

// Extract reads a value and makes its stand-in. Errors never hold a part of the value.
func Extract(ctx context.Context, c *ir.Credential, h Host) (Secret, error) {
	var value []byte
	var err error
	switch {
	case c.Env != "":
		value = []byte(h.Getenv(c.Env))
	case c.File != "":
		value, err = h.file(c.File)
	default:
		value, err = h.command(ctx, c.Command)
	}
	value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	if err == nil {
		err = check(value)
	}
	var out Secret
	if err == nil {
		out, err = NewSecret(value)
	}
	if err != nil {
		clear(value)
		return Secret{}, fmt.Errorf("the credential of %s: %w", Source(c), err)
	}
	return out, nil
}

// check refuses values that requests cannot carry, or that cannot be kept secret.
func check(value []byte) error {
	switch {
	case len(value) == 0:
		return errors.New("found no value")
	case len(value) < minValue:
		return fmt.Errorf("found fewer than %d bytes, which could be guessed", minValue)
	case len(value) > maxValue:
		return bounded.TooLarge(maxValue)
	case value[0] == ' ' || value[len(value)-1] == ' ' ||
		bytes.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("found a character that no header carries: " +
			"expected printable ASCII, without spaces around it")
	}
	return nil
}

// file reads a file that the tool cannot reach.
func (h Host) file(written string) ([]byte, error) {
	name := written
	if rest, ok := strings.CutPrefix(written, "~/"); ok && h.Home != "" {
		name = filepath.Join(h.Home, rest)
	}
	if !filepath.IsAbs(name) {
		return nil, errors.New("expected a path that begins with / or ~/")
	}
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	if h.Readable(name) || h.changeable(name) {
		return nil, errors.New("the tool may read or replace the file")
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("expected a file")
	}
	f, err := wholefile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded.Read(f, maxValue+2)
}

// changeable reports whether the tool may change the file under a name.
func (h Host) changeable(name string) bool {
	return h.Writable(name) || h.Writable(filepath.Dir(name))
}

// linger is how long a command that was ended may keep its output open, by programs that it has started.
var linger = time.Second

// command runs a program that the tool cannot change, in a directory that is not the workspace,
// so that relative names in its arguments do not lead there.
func (h Host) command(ctx context.Context, words []string) ([]byte, error) {
	if len(words) == 0 {
		return nil, errors.New("found no program")
	}
	program, err := h.look(words[0])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	var out limited
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Args[0] = words[0]
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.Environ, h.Home, &out, h.Messages
	cmd.WaitDelay = linger
	err = cmd.Run()
	switch {
	case out.full:
		err = bounded.TooLarge(maxValue)
	case ctx.Err() != nil:
		err = fmt.Errorf("%s did not end within %v", words[0], maxTime)
	case err != nil:
		err = fmt.Errorf("%s: %w", words[0], err)
	}
	if err != nil {
		clear(out.text)
		return nil, err
	}
	return out.text, nil
}

// look finds a program.
func (h Host) look(name string) (string, error) {
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = []string{name}
	} else if !strings.ContainsRune(name, filepath.Separator) {
		for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
			if filepath.IsAbs(dir) {
				candidates = append(candidates, filepath.Join(dir, name))
			}
		}
	}
	for _, c := range candidates {
		if _, err := exec.LookPath(c); err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(c)
		if err != nil {
			return "", err
		}
		if h.changeable(c) || h.changeable(real) {
			return "", fmt.Errorf("the tool may replace %s", c)
		}
		return c, nil
	}
	return "", fmt.Errorf("found no program %s", name)
}

// limited keeps output up to a limit. Its array never moves, so that clearing it clears all.
type limited struct {
	text []byte
	full bool
}

func (l *limited) Write(b []byte) (int, error) {
	if l.text == nil {
		l.text = make([]byte, 0, maxValue+2)
	}
	if len(l.text)+len(b) > cap(l.text) {
		l.full = true
		return 0, io.ErrShortWrite
	}
	l.text = append(l.text, b...)
	return len(b), nil
}
