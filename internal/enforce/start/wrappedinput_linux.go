package start

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start/seccomp"
	"github.com/accessc/accessc/ir"
)

// prepare makes the directories of the run, and the files and arguments that bwrap gets.
func (w *wrapped) prepare() (files []*os.File, entry []string, err error) {
	site := ownSite()
	if w.home, err = site.home(&w.launch); err != nil {
		return nil, nil, err
	}
	if w.directories, err = site.directories(&w.launch, "", false); err != nil {
		return nil, nil, err
	}
	env := forwarded(&w.launch, envView(&w.launch, ir.Linux), ir.Linux, w.req.Environ, w.tmp, w.tmp+contextFile)
	argv, err := w.req.argv(&w.launch)
	if err != nil {
		return nil, nil, err
	}
	file, err := find(argv[0], w.spec.Workspace, env)
	if err != nil {
		return nil, nil, err
	}
	options, err := w.options()
	if err != nil {
		return nil, nil, err
	}
	rules := seccomp.Rules{Blocks: slices.Concat(landlock.Always(), w.spec.Blocks)}
	filter, err := seccomp.Assemble(rules, landlock.MaxABI)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	limits, err := json.Marshal(w.spec.Limits)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	code, err := binary.Append(nil, binary.NativeEndian, filter)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	list, open, err := expect(options)
	if err != nil {
		return nil, nil, err
	}
	places, err := json.Marshal(list)
	if err != nil {
		return nil, nil, failed("%w", err)
	}
	files = []*os.File{nil, nil, self, nil}
	held := slices.Collect(maps.Values(open))
	if w.by.descriptors {
		options, held = byDescriptor(options, open)
	}
	args := w.arguments(options, env)
	w.words = len(args)
	for i, text := range map[int][]byte{0: []byte(strings.Join(args, "\x00") + "\x00"), 1: code, 3: places} {
		if files[i], err = inMemory(text); err != nil {
			return nil, nil, failed("%w", err)
		}
	}
	files = append(files, held...)
	_, pwd := lookupEnv(env, "PWD")
	entry = []string{
		"/proc/self/fd/" + strconv.Itoa(enterSelf), EnterCommand, w.canary(), w.req.place(w.spec.Workspace),
		strconv.FormatBool(pwd), string(limits), file,
	}
	return files, append(entry, argv...), nil
}

// canary is a directory that the tool must not be able to list; empty where it may list all.
func (w *wrapped) canary() string {
	for i, a := range w.spec.Args {
		if strings.HasSuffix(a, "bind") && i+2 < len(w.spec.Args) && w.spec.Args[i+2] == "/" {
			return ""
		}
	}
	return "/"
}

// inMemory is a file that is nowhere on the disk.
func inMemory(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("accessc", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "accessc")
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return f, err
}

// options are those of the artifact with the symbols replaced.
func (w *wrapped) options() ([]bubblewrap.Option, error) {
	options, err := w.spec.Options()
	if err != nil {
		return nil, failed("%w", err)
	}
	for _, o := range options {
		for i, v := range o.Values {
			switch {
			case strings.HasPrefix(v, bubblewrap.Temp):
				o.Values[i] = w.tmp + strings.TrimPrefix(v, bubblewrap.Temp)
			case v == bubblewrap.Filter:
				o.Values[i] = strconv.Itoa(wrapperFilter)
			case strings.HasPrefix(v, "${"):
				return nil, failed("this host does not say what is at %s", v)
			}
		}
	}
	return options, nil
}

// arguments are those of the options, and the tool's variables.
func (w *wrapped) arguments(options []bubblewrap.Option, env []string) []string {
	var out []string
	for _, o := range options {
		if strings.HasPrefix(o.Name, "--bind") && o.Values[1] == w.tmp {
			out = append(out, leading(w.tmp)...)
		}
		out = append(append(out, o.Name), o.Values...)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		out = append(out, "--setenv", name, value)
	}
	return out
}

// leading makes the directories that lead to one, which cannot be listed. Where they are there
// already nothing is made (bwrap(1), --dir).
func leading(dir string) []string {
	var out []string
	for at := path.Dir(dir); at != "/"; at = path.Dir(at) {
		out = append([]string{"--perms", "0111", "--dir", at}, out...)
	}
	return out
}
