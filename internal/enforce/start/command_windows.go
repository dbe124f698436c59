package start

import (
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// program returns the file that a request starts and its command line. A command that is text
// for a shell goes to cmd.exe unchanged: cmd.exe has no arguments besides its text, and would
// read any addition as code.
// See decision D95.
func (r *Request) program(l *backends.Launch, env []string) (file, line string, err error) {
	words, forShell, err := r.words(l)
	if err != nil {
		return "", "", err
	}
	if forShell {
		if len(words) > 1 {
			return "", "", failed("the command is text for cmd.exe, which would read the further arguments as code")
		}
		dir, err := windows.GetSystemDirectory()
		if err != nil {
			return "", "", failed("the system directory: %w", err)
		}
		file = filepath.Join(dir, "cmd.exe")
		// With /s the text is everything between the first and the last quote
		// (learn.microsoft.com, "cmd").
		return file, windows.EscapeArg(file) + ` /d /s /c "` + words[0] + `"`, nil
	}
	if file, err = find(words[0], l.Workspace, env); err != nil {
		return "", "", err
	}
	return file, windows.ComposeCommandLine(words), nil
}

// find returns the file of a program: a path is relative to the workspace, a bare name is
// looked up in PATH, never in the current directory.
func find(program, workspace string, env []string) (string, error) {
	if filepath.Base(program) != program {
		if !filepath.IsAbs(program) {
			program = filepath.Join(workspace, program)
		}
		return lookup(filepath.Dir(program), filepath.Base(program))
	}
	path, ok := variable(env, "PATH")
	where := "PATH"
	if !ok {
		path = defaultPath()
		where = path + "; the policy does not let the tool see PATH"
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file, err := lookup(dir, program)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: not found in %s", program, where)}
}

// defaultPath is where programs are looked up when the policy forwards no PATH.
func defaultPath() string {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		return ""
	}
	return dir + ";" + filepath.Dir(dir)
}

// lookup finds a program in a directory, under the names that it may have there.
func lookup(dir, name string) (string, error) {
	for _, n := range append(ir.Windows.ProgramNames(name), name+".bat", name+".cmd") {
		file := filepath.Join(dir, n)
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
			continue
		case errors.Is(err, windows.ERROR_CANT_ACCESS_FILE):
			// A reparse point of the kind IO_REPARSE_TAG_APPEXECLINK answers with this error.
			return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: an alias of the Microsoft Store, which starts a packaged program; "+
				"install the program for all users, or name its file", file)}
		case err != nil:
			return "", &Error{Code: CodeNotRunnable, Err: err}
		}
		return image(file)
	}
	return "", &Error{Code: CodeNotFound, Err: fmt.Errorf("%s: %w", filepath.Join(dir, name), fs.ErrNotExist)}
}

// image returns the final path of a program. It refuses files that CreateProcess would hand to
// cmd.exe, which would read the arguments as code, and files that are no image at all. The
// check is on the file's own name: blanks and dots at the end of a path, which Windows drops,
// do not hide it.
func image(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", &Error{Code: CodeNotRunnable, Err: err}
	}
	defer f.Close()
	final, err := finalPath(windows.Handle(f.Fd()))
	if err != nil {
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: %w", file, err)}
	}
	switch strings.ToLower(filepath.Ext(final)) {
	case ".bat", ".cmd":
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf(
			"%s: a batch file is no program; cmd.exe would read its arguments as code; name the program that it starts", final)}
	}
	if !portableExecutable(f) {
		return "", &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: not a program of Windows", final)}
	}
	return strings.TrimPrefix(final, verbatim), nil
}

// portableExecutable reports whether a file starts as a program does ([MS-PE], "MS-DOS
// Stub" and "Signature").
func portableExecutable(f io.ReaderAt) bool {
	head := make([]byte, 64)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:2]) != "MZ" {
		return false
	}
	const signatureAt = 0x3c
	sign := make([]byte, 4)
	_, err := f.ReadAt(sign, int64(binary.LittleEndian.Uint32(head[signatureAt:])))
	return err == nil && string(sign) == "PE\x00\x00"
}

// posixLayers are the libraries of MSYS and Cygwin. They share memory and pipes with all their
// processes under names that an AppContainer cannot make, and end the program with 0xC0000142 or
// "couldn't create signal pipe" (cImp's issue 80; codex's issues 7031 and 15016).
var posixLayers = []string{"msys-2.0.dll", "msys-1.0.dll", "cygwin1.dll"}

// refusePosix refuses a program that imports one of those. A file whose imports cannot be read is
// left to the system.
func refusePosix(file string) error {
	image, err := pe.Open(file)
	if err != nil {
		return nil
	}
	defer image.Close()
	symbols, err := image.ImportedSymbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		library := strings.ToLower(s[strings.LastIndexByte(s, ':')+1:])
		if slices.Contains(posixLayers, library) {
			return &Error{Code: CodeNotRunnable, Err: fmt.Errorf("%s: a program of MSYS or Cygwin (%s), which ends at its start in an AppContainer; "+
				"use one that is made for Windows itself", file, library)}
		}
	}
	return nil
}

// variable returns the value of a variable, whose name has no case.
func variable(env []string, name string) (string, bool) {
	for _, kv := range env {
		if n, value, ok := strings.Cut(kv, "="); ok && strings.EqualFold(n, name) {
			return value, true
		}
	}
	return "", false
}
