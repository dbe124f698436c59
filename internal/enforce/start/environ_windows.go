package start

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/ir"
)

// environ builds the tool's environment: the variables that the policy forwards, overridden by
// those that the specification sets. The system wants it sorted by name, without regard to case
// (learn.microsoft.com, "CreateProcessW").
func (r *run) environ() ([]string, error) {
	places, err := r.places()
	if err != nil {
		return nil, fmt.Errorf("the environment: %w", err)
	}
	by := map[string]string{}
	view := envView(&r.launch, ir.Windows)
	for _, kv := range r.req.Environ {
		name, _, ok := strings.Cut(kv, "=")
		key := strings.ToUpper(name)
		if ok && name != "" && !ir.OwnVariable(key, r.spec.Home != "", ir.Windows) && view.Decide(ir.Forward{Name: name}).Allowed() {
			by[key] = kv
		}
	}
	has := func(name string) bool { return by[strings.ToUpper(name)] != "" }
	give(&r.launch, view, has, func(name, value string) { by[strings.ToUpper(name)] = name + "=" + value })
	for _, v := range r.spec.Variables {
		by[strings.ToUpper(v.Name)] = v.Name + "=" + places.Replace(v.Value)
	}
	var out []string
	for _, kv := range by {
		out = append(out, kv)
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(strings.ToUpper(a), strings.ToUpper(b)) })
	return out, nil
}

// architectures are the values of PROCESSOR_ARCHITECTURE.
var architectures = map[string]string{"386": "x86", "amd64": "AMD64", "arm64": "ARM64"}

// places are the symbols of variables and their values, which come from the system: the caller's
// own variables may have others.
func (r *run) places() (*strings.Replacer, error) {
	root, err := windows.GetWindowsDirectory()
	if err != nil {
		return nil, err
	}
	pairs := []string{
		"${home}", r.spec.Home, "${tmp}", r.tmp, "${context}", r.context(), "${SystemRoot}", root,
		"${SystemDrive}", filepath.VolumeName(root),
		"${processors}", strconv.Itoa(runtime.NumCPU()), "${architecture}", architectures[runtime.GOARCH],
	}
	for _, f := range []struct {
		symbol string
		folder *windows.KNOWNFOLDERID
	}{
		{"${ProgramData}", windows.FOLDERID_ProgramData}, {"${ProgramFiles}", windows.FOLDERID_ProgramFiles},
		{"${ProgramFiles(x86)}", windows.FOLDERID_ProgramFilesX86},
	} {
		dir, err := windows.KnownFolderPath(f.folder, windows.KF_FLAG_DONT_VERIFY)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.symbol, err)
		}
		pairs = append(pairs, f.symbol, dir)
	}
	name, err := userName()
	if err != nil {
		return nil, fmt.Errorf("${user}: %w", err)
	}
	return strings.NewReplacer(append(pairs, "${user}", name)...), nil
}

// userName is the name of the user. A look-up of the identifier could ask a server.
func userName() (string, error) {
	buf := make([]uint16, 600)
	n := uint32(len(buf))
	if err := windows.GetUserNameEx(windows.NameSamCompatible, &buf[0], &n); err != nil {
		return "", err
	}
	full := windows.UTF16ToString(buf)
	return full[strings.LastIndexByte(full, '\\')+1:], nil
}
