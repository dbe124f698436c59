package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// linuxPackages writes the packages of Debian, RPM and Alpine by nfpm (https://nfpm.goreleaser.com/configuration),
// whose configuration may be JSON.
func (r *release) linuxPackages() error {
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		config := filepath.Join(r.built, "nfpm-"+p.arch+".json")
		if err := r.nfpm(config, p); err != nil {
			return err
		}
		for packager, name := range map[string]string{
			"deb": "accessc_" + r.version + "_" + p.arch + ".deb",
			"rpm": "accessc-" + r.version + "-1." + rpmArch[p.arch] + ".rpm",
			"apk": "accessc_" + r.version + "_" + rpmArch[p.arch] + ".apk",
		} {
			target, err := filepath.Abs(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			_, err = r.run("nfpm", "package", "--config", config, "--packager", packager, "--target", target)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rpmArch are the names of architectures that RPM and Alpine have.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

func (r *release) nfpm(file string, p platform) error {
	var contents []object
	add := func(src, dst string, mode int) {
		contents = append(contents, object{"src": src, "dst": dst,
			"file_info": object{"mode": mode, "owner": "root", "group": "root", "mtime": r.when()}})
	}
	for _, of := range programs {
		add(r.binary(p, of), "/usr/bin/"+of.name, 0o755)
	}
	for _, x := range papers {
		add(filepath.Join(r.built, "papers", x.name), "/usr/share/"+x.at, 0o644)
	}
	add(filepath.Join(r.built, "papers", "LICENSE"), "/usr/share/doc/accessc/copyright", 0o644)
	contents[len(contents)-1]["packager"] = "deb" // its policy asks for the name (Debian Policy, 12.5)
	data, err := json.MarshalIndent(object{
		"name": "accessc", "arch": p.arch, "platform": "linux", "version": r.version,
		"version_schema": "semver", "mtime": r.when(),
		"section": "utils", "priority": "optional",
		"maintainer":  "The accessc maintainers <accessc@users.noreply.github.com>",
		"description": description, "vendor": "accessc", "homepage": repository, "license": "Apache-2.0",
		"rpm": object{"buildhost": "accessc", "compression": "gzip", "summary": description}, "contents": contents,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// run runs a tool of tools/go.mod, as the commit of the release has it.
func (r *release) run(args ...string) (string, error) {
	return output(r.clone, r.env, "go", append([]string{"tool", "-modfile=tools/go.mod"}, args...)...)
}

// materials writes an SBOM of each program of each platform (CycloneDX, https://cyclonedx.org). It has the modules that
// the program itself says that it has.
func (r *release) materials() error {
	for _, p := range platforms {
		for _, of := range programs {
			target, err := filepath.Abs(filepath.Join(r.out, of.name+"-"+r.version+"-"+p.os+"-"+p.arch+".cdx.json"))
			if err != nil {
				return err
			}
			_, err = r.run("cyclonedx-gomod", "bin", "-json", "-noserial", "-std", "-version", r.tag,
				"-output", target, r.binary(p, of))
			if err != nil {
				return err
			}
			if err := r.settle(target); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle takes from an SBOM what the machine decides that made it: the time, and the hashes of the tool's own program.
func (r *release) settle(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var bom object
	if err := json.Unmarshal(data, &bom); err != nil {
		return err
	}
	about, ok := bom["metadata"].(object)
	if !ok {
		return fmt.Errorf("%s has no metadata", file)
	}
	about["timestamp"] = r.when()
	if tools, ok := about["tools"].([]any); ok {
		for _, tool := range tools {
			if tool, ok := tool.(object); ok {
				delete(tool, "hashes")
			}
		}
	}
	if data, err = json.MarshalIndent(bom, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// when is the time of all files.
func (r *release) when() string { return time.Unix(r.epoch, 0).UTC().Format(time.RFC3339) }
