package build

import (
	"fmt"
	"os"
	"strings"

	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// maxManifest bounds the size of a manifest that is read, in bytes.
const maxManifest = 64 << 20

// ReadManifest reads a manifest that is given by name, and returns its text as well.
func ReadManifest(name string) (*Manifest, []byte, error) {
	info, err := os.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxManifest) {
		err = fmt.Errorf("not a file of at most %d bytes", maxManifest)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, nil, usage.Errorf("%s: %v", name, oserr.Reason(err))
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, nil, usage.Errorf("%s: %v", name, strings.TrimSpace(err.Error()))
	}
	return m, data, nil
}
