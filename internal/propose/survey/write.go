package survey

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// File is the policy of a directory that is to be written, in the layers that the flags have besides.
type File struct {
	Dir    string
	Config config.Flags
}

// fileName is the file in its directory.
const fileName = "accessc.toml"

// Path is the file.
func (f File) Path() string { return filepath.Join(f.Dir, fileName) }

// fits reports why a text must not become the policy of a directory: other layers have a tool of one of the names,
// and would change it, or all layers together have mistakes then. The text is compiled in place of the file.
// See decision D416.
func (f File) fits(text []byte, names []string) error {
	now, path, err := f.compiled(nil)
	if err != nil {
		return err
	}
	if now.Program == nil {
		return mistaken(now, "the layers have these mistakes without it; nothing was changed")
	}
	for _, name := range names {
		if t, ok := now.Program.Tool(name); ok {
			return usage.Errorf(
				"the tool %s is there already, by %s, and would be joined with it; nothing was changed. "+
					"Next: accessc explain %s",
				name,
				t.Source.Origin,
				name,
			)
		}
	}
	then, _, err := f.compiled(map[string][]byte{path: text})
	if err != nil {
		return err
	}
	if then.Program == nil {
		return mistaken(then, "the layers would have these mistakes with it; nothing was changed")
	}
	return nil
}

// compiled compiles all layers of a directory, with texts in place of files. The path is that of its policy.
func (f File) compiled(edited map[string][]byte) (*hostfacts.Result, string, error) {
	opts, err := f.Config.Options(false)
	if err != nil {
		return nil, "", err
	}
	root, err := filepath.Abs(f.Dir)
	if err != nil {
		return nil, "", err
	}
	opts.Root, opts.Layers.Edited = workspace.Canonical(root), edited
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, "", usage.Errorf("%s: %v", f.Dir, oserr.Reason(err))
	}
	return res, filepath.Join(opts.Root, fileName), nil
}

// Write writes a policy that is not there yet, unless the layers would have mistakes with it.
func (f File) Write(text string) error {
	if _, err := os.Lstat(f.Path()); err != nil {
		names, err := toolsOf(text)
		if err == nil {
			err = f.fits([]byte(text), names)
		}
		if err != nil {
			return err
		}
	}
	return WriteNew(f.Path(), text, "accessc init --print shows what it would be")
}

// toolsOf are the tools that a text defines.
func toolsOf(text string) ([]string, error) {
	t, err := layerfile.Parse(fileName, []byte(text))
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	return t.Tools(), nil
}

// WriteNew writes a file that is not there yet, and leaves none after an error. hint is for a user who has one.
func WriteNew(path, text, hint string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usage.Errorf("%s is there already; %s", path, hint)
	}
	if err == nil {
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return usage.Errorf("%s: %v", path, oserr.Reason(err))
	}
	return nil
}

// Add writes the tool for the agent behind the text of the policy that is there.
// It is false where the tool is there already, and reads the file of the login, as linked wants. preset is that of the
// agent.
// See decision D416.
func (f File) Add(agent *Tool, preset string, linked bool) (added bool, err error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return false, usage.Errorf("%s: %v", f.Dir, oserr.Reason(err))
	}
	defer root.Close()
	file, err := layerfile.Open(root, ".", fileName)
	if err != nil {
		return false, usage.Errorf("%s: %v", fileName, oserr.Reason(err))
	}
	defer file.Close()
	old, err := layerfile.Parse(fileName, file.Data)
	switch {
	case err != nil:
		return false, usage.Errorf("%w; nothing was changed", err)
	case slices.Contains(old.Tools(), agent.Name) && linked && agent.Reads(string(file.Data)):
		return false, nil
	case slices.Contains(old.Tools(), agent.Name):
		return false, usage.Errorf("%s has a tool %s already; nothing was changed. Next: accessc exec %s", fileName,
			agent.Name, agent.Name)
	}
	text := append(bytes.TrimRight(file.Data, "\n"), '\n')
	text = append(text, agent.Block(preset)...)
	if _, err := layerfile.Parse(fileName, text); err != nil {
		return false, usage.Errorf("%w; nothing was changed. Its tools have to be tables of their own, such as "+
			"[tools.NAME]",
			err)
	}
	if err := f.fits(text, []string{agent.Name}); err != nil {
		return false, err
	}
	if err := file.Write(text); err != nil {
		return false, usage.Errorf("%s: %v", fileName, oserr.Reason(err))
	}
	return true, nil
}

// mistaken are the errors of a configuration, and why they end the call.
func mistaken(res *hostfacts.Result, why string) error {
	l := slices.DeleteFunc(slices.Clone(res.Findings), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	l.Sort()
	return &config.Mistakes{Findings: l, Files: res.Files, Last: why}
}
