package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The archives, by the origin that their indexes claim.
const (
	debian = "Debian"
	ubuntu = "Ubuntu"
)

// apt keeps package lists of its own under dir, so that suites can be read that the
// system does not use. Its settings, such as a proxy, are the system's.
type apt struct{ dir string }

// open makes the directories and the configuration.
func open(dir string) (*apt, error) {
	for _, d := range []string{"state/lists/partial", "cache/archives/partial", "sources", "keyrings"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	config := fmt.Sprintf("Dir::State %q;\nDir::Cache %q;\nDir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts %q;\n",
		dir+"/state", dir+"/cache", dir+"/sources")
	// As root, apt would fetch as a user without write access here.
	config += "APT::Architecture \"amd64\";\nAPT::Sandbox::User \"root\";\n"
	return &apt{dir}, os.WriteFile(dir+"/apt.conf", []byte(config), 0o644)
}

// run runs one of apt's programs on these lists and returns its output.
func (a *apt) run(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "APT_CONFIG="+a.dir+"/apt.conf", "LC_ALL=C")
	return output(cmd)
}

// output runs a command; the error contains the last line of its error output.
func output(cmd *exec.Cmd) (string, error) {
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, lines[len(lines)-1])
	}
	return string(out), err
}

// add reads the lists of some suites of an archive.
func (a *apt) add(archive string, suites []string) error {
	uri, err := a.mirror(archive)
	if err != nil {
		return err
	}
	keys, err := a.keyring(archive)
	if err != nil {
		return err
	}
	slices.Sort(suites)
	source := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nTargets: Packages\nSigned-By: %s\n",
		uri, strings.Join(slices.Compact(suites), " "), keys)
	if err := os.WriteFile(filepath.Join(a.dir, "sources", archive+".sources"), []byte(source), 0o644); err != nil {
		return err
	}
	_, err = a.run("", "apt-get", "update", "--quiet", "--error-on=any")
	return err
}

// mirror returns the address from which the system fetches an archive; for an archive that it
// does not use, the address in debootstrap's scripts.
func (a *apt) mirror(archive string) (string, error) {
	out, err := output(exec.Command("apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if uri, ok := strings.CutPrefix(strings.TrimSpace(line), archive+"|"+archive+"|"); ok {
			return uri, nil
		}
	}
	file := filepath.Join(a.dir, "keyrings", "mirror-"+archive)
	script := map[string]string{debian: "sid", ubuntu: "gutsy"}[archive]
	if err := a.fetch("debootstrap", regexp.MustCompile(`/scripts/`+script+`$`), file); err != nil {
		return "", fmt.Errorf("apt's lists are of no mirror of %s (apt-get update reads them): %w", archive, err)
	}
	data, err := os.ReadFile(file)
	if m := regexp.MustCompile(`\bdefault_mirror (\S+)`).FindSubmatch(data); m != nil {
		return string(m[1]), nil
	}
	return "", errors.Join(fmt.Errorf("neither apt nor debootstrap names a mirror of %s", archive), err)
}

// keyring is the file of an archive's keys, installed or fetched.
func (a *apt) keyring(archive string) (string, error) {
	name := strings.ToLower(archive)
	installed, _ := filepath.Glob("/usr/share/keyrings/" + name + "-archive-keyring.*")
	if len(installed) > 0 {
		return installed[0], nil
	}
	pkg := map[string]string{debian: "debian-archive-keyring", ubuntu: "ubuntu-keyring"}[archive]
	file := filepath.Join(a.dir, "keyrings", name+".gpg")
	return file, a.fetch(pkg, regexp.MustCompile(`/`+name+`-archive-keyring\.gpg$`), file)
}

// packages lists the names that start with a prefix.
func (a *apt) packages(prefix string) ([]string, error) {
	out, err := a.run("", "apt-cache", "pkgnames", prefix)
	return strings.Fields(out), err
}

// fetch downloads a package, which apt verifies, and keeps one file of it.
func (a *apt) fetch(pkg string, name *regexp.Regexp, to string) error {
	dir, err := os.MkdirTemp(a.dir, "download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := a.run(dir, "apt-get", "download", "--quiet", pkg); err != nil {
		return err
	}
	debs, _ := filepath.Glob(dir + "/*.deb")
	if len(debs) != 1 {
		return fmt.Errorf("apt-get download %s left %d files", pkg, len(debs))
	}
	return extract(debs[0], name, to)
}

// extract writes the first file of a package whose name matches, completely or not at all.
func extract(deb string, name *regexp.Regexp, to string) error {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer func() {
		_ = pipe.Close() // the rest of the archive is not needed
		_ = cmd.Wait()
	}()
	for files := tar.NewReader(pipe); ; {
		h, err := files.Next()
		if err != nil {
			return fmt.Errorf("%s: no file matches %s: %w", filepath.Base(deb), name, err)
		}
		if h.Typeflag != tar.TypeReg || !name.MatchString(h.Name) {
			continue
		}
		data, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(to+".part", data, 0o644)
		}
		if err != nil {
			return err
		}
		return os.Rename(to+".part", to)
	}
}
