package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

//go:embed files/init.py
var pythonInit []byte

// wheels writes a wheel for each platform (https://packaging.python.org/specifications/binary-distribution-format): the
// programs as scripts, and the client for accessc serve as the package accessc.
func (r *release) wheels() error {
	client, err := r.paper("accessc_serve.py")
	if err != nil {
		return err
	}
	license, err := r.paper("LICENSE")
	if err != nil {
		return err
	}
	third, err := r.paper("THIRD-PARTY-LICENSES")
	if err != nil {
		return err
	}
	readme, err := r.paper("README.md")
	if err != nil {
		return err
	}
	version := strings.Replace(r.version, "-rc.", "rc", 1) // PEP 440
	info := "accessc-" + version + ".dist-info/"
	for _, p := range platforms {
		tags := ""
		for _, tag := range strings.Split(p.wheel, ".") {
			tags += "Tag: py3-none-" + tag + "\n"
		}
		entries := []entry{
			{"accessc/__init__.py", 0o644, pythonInit}, {"accessc/serve.py", 0o644, client},
			{"accessc/py.typed", 0o644, nil},
			{info + "licenses/LICENSE", 0o644, license}, {info + "licenses/THIRD-PARTY-LICENSES", 0o644, third},
			{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: accessc\nRoot-Is-Purelib: false\n" + tags)},
			{info + "METADATA", 0o644, []byte("Metadata-Version: 2.4\nName: accessc\nVersion: " + version +
				"\nSummary: " + description + "\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE" +
				"\nLicense-File: THIRD-PARTY-LICENSES\nProject-URL: Source, " + repository +
				"\nRequires-Python: >=3.10\nDescription-Content-Type: text/markdown\n\n" + string(readme))},
		}
		for _, of := range programs {
			data, err := os.ReadFile(r.binary(p, of))
			if err != nil {
				return err
			}
			entries = append(entries, entry{"accessc-" + version + ".data/scripts/" + of.name + p.exe(), 0o755, data})
		}
		record := ""
		for _, e := range sorted(entries) {
			sum := sha256.Sum256(e.data)
			hash := base64.RawURLEncoding.EncodeToString(sum[:])
			record += fmt.Sprintf("%s,sha256=%s,%d\n", e.name, hash, len(e.data))
		}
		record += info + "RECORD,,\n"
		data, err := r.zipped(append(entries, entry{info + "RECORD", 0o644, []byte(record)}))
		if err != nil {
			return err
		}
		if err := r.put("accessc-"+version+"-py3-none-"+p.wheel+".whl", data); err != nil {
			return err
		}
	}
	return nil
}
