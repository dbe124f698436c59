// Command recording runs the commands of the README's first example in a copy of examples/project, and writes what they
// say as docs/recording.svg: a picture that shows one line after the other, and all of them at once to who wants no
// motion. Each run writes the same.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/test/testbuild"
)

// commands are those that a person types.
var commands = []string{
	"cat .env",
	`accessc run --deny .env sh -c 'cat .env; echo "int two;" >>src/main.c; tail -n 1 src/main.c'`,
	"accessc can edit read .env",
	"accessc can edit update src/main.c",
}

// picture is where the recording is, from the root of the repository.
const picture = "docs/recording.svg"

func main() {
	dir, err := os.MkdirTemp("", "accessc-recording-*")
	if err == nil {
		err = record(".", dir)
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// record writes the picture of a repository, by the help of an empty directory.
func record(root, dir string) error {
	svg, err := run(root, dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, picture), svg, 0o644)
}

// run runs the commands and draws them.
func run(root, dir string) ([]byte, error) {
	project, bin := filepath.Join(dir, "project"), filepath.Join(dir, "bin")
	for _, made := range []string{bin, filepath.Join(dir, "home")} {
		if err := os.Mkdir(made, 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.CopyFS(project, os.DirFS(filepath.Join(root, "examples", "project"))); err != nil {
		return nil, err
	}
	if err := testbuild.Program(filepath.Join(bin, "accessc"), "cmd/accessc"); err != nil {
		return nil, err
	}
	var lines []line
	for _, c := range commands {
		cmd := exec.Command("sh", "-c", c)
		cmd.Dir = project
		// No variable of who records it.
		cmd.Env = []string{
			"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
			"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "NO_COLOR=1", "LC_ALL=C",
		}
		out, _ := cmd.CombinedOutput() // a refusal has a status, too
		if strings.Contains(string(out), dir) {
			return nil, fmt.Errorf("%s names a place of this machine:\n%s", c, out)
		}
		lines = append(lines, line{Command: true, Text: c})
		for said := range strings.Lines(string(out)) {
			lines = append(lines, line{Text: strings.TrimRight(said, "\n")})
		}
	}
	return draw(lines)
}

// line is a line of the terminal.
type line struct {
	Command bool
	Text    string
	Y       int     // in pixels
	At      float64 // in seconds from the begin
}

//go:embed recording.svg.tmpl
var drawing string

// Layout, in pixels and seconds.
const (
	margin = 20
	height = 21
	column = 8 // of a character, at 13 pixels
	typing = 1.2
	output = 0.25
)

// draw places the lines below each other, and each after the one before.
func draw(lines []line) ([]byte, error) {
	t, err := template.New("recording").Parse(drawing)
	if err != nil {
		return nil, err
	}
	at, y, widest := 0.5, margin+height-6, 0
	for i := range lines {
		if lines[i].Command && i > 0 {
			y += height / 3
		}
		lines[i].At, lines[i].Y = at, y
		y += height
		at += output
		if lines[i].Command {
			at += typing
		}
		widest = max(widest, len(lines[i].Text)+2)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Lines": lines, "Width": widest*column + 2*margin, "Height": y + margin - height/2})
	return b.Bytes(), err
}
