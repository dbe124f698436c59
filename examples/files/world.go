package main

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/tool"
)

// world is the environment of the tool. The methods on files are those of package os, by paths
// relative to the workspace; a *tool.Policy has them as well.
type world interface {
	ReadFile(path string) ([]byte, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	WriteFile(path string, data []byte, perm fs.FileMode) error
	OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error)
	Mkdir(path string, perm fs.FileMode) error
	Remove(path string) error

	Run(program string, args ...string) (string, error)
	Getenv(name string) (string, error)
	Connect(url string) error
}

// checked asks the policy before it acts. Files need nothing more than its openers.
type checked struct{ *tool.Policy }

func (c checked) Run(program string, args ...string) (string, error) {
	if err := c.CheckRun(program, args...); err != nil {
		return "", err
	}
	return run(c.Root(), program, args)
}

func (c checked) Getenv(name string) (string, error) {
	if err := c.CheckEnv(name); err != nil {
		return "", err
	}
	return getenv(name)
}

func (c checked) Connect(url string) error {
	if err := c.CheckConnect(url); err != nil {
		return err
	}
	return connect(url)
}

// unchecked acts.
type unchecked struct{ root string }

func (u unchecked) at(path string) string { return filepath.Join(u.root, path) }

func (u unchecked) ReadFile(path string) ([]byte, error) { return os.ReadFile(u.at(path)) }

func (u unchecked) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(u.at(path)) }

func (u unchecked) WriteFile(path string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(u.at(path), data, perm)
}

func (u unchecked) OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(u.at(path), flag, perm)
}

func (u unchecked) Mkdir(path string, perm fs.FileMode) error { return os.Mkdir(u.at(path), perm) }

func (u unchecked) Remove(path string) error { return os.Remove(u.at(path)) }

func (u unchecked) Run(program string, args ...string) (string, error) {
	return run(u.root, program, args)
}

func (u unchecked) Getenv(name string) (string, error) { return getenv(name) }

func (u unchecked) Connect(url string) error { return connect(url) }

func run(root, program string, args []string) (string, error) {
	if strings.Contains(program, "/") {
		program = filepath.Join(root, program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return string(out), err
}

// getenv returns an error for a variable that is not set.
func getenv(name string) (string, error) {
	value, ok := os.LookupEnv(name)
	if !ok {
		return "", fs.ErrPermission
	}
	return value, nil
}

// connect reports whether a connection may be made; no listener is needed.
func connect(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(u.Hostname(), port), 5*time.Second)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil
	case err != nil:
		return err
	default:
		return conn.Close()
	}
}
