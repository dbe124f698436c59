package signers

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/lock"
	"github.com/accessc/accessc/internal/files/owned"
	"github.com/accessc/accessc/internal/host/userdir"
)

// maxSeen bounds the file of a serial, in bytes. patience is how long another process may have its lock.
const (
	maxSeen  = 64
	patience = 5 * time.Second
)

// Remember keeps the serial of an attestation by which a tool is about to be started, and refuses a serial
// that is lower than an earlier serial: an attestation that was signed once stays signed, and who can write
// it can put it in the place of a newer attestation. The directory of the file exists.
// All signers count in one order. See decision D276.
func Remember(state userdir.Dir, tool string, serial int) error {
	path := state.Attested(tool)
	take := func() (*lockedfile.File, error) {
		return lockedfile.OpenFile(path, os.O_RDWR|os.O_CREATE|owned.WithoutWaiting, 0o600)
	}
	file, err := lock.Within("the serial "+path, patience, take, func(f *lockedfile.File) { _ = f.Close() })
	if err != nil {
		return err
	}
	return errors.Join(remember(file, serial), file.Close())
}

func remember(file *lockedfile.File, serial int) error {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", file.Name())
	}
	if err != nil {
		return err
	}
	text, err := bounded.Read(file, maxSeen)
	if err != nil {
		return err
	}
	before := 0
	if len(text) > 0 {
		if before, err = strconv.Atoi(strings.TrimSuffix(string(text), "\n")); err != nil || before < 1 {
			return fmt.Errorf("%s does not have the serial of an attestation; remove it if that is not your doing",
				file.Name())
		}
	}
	switch {
	case serial < before:
		return fmt.Errorf("it is a replay: it has the serial %d, and the tool was started with the serial %d before; "+
			"if the older one is meant, remove %s", serial, before, file.Name())
	case serial == before:
		return nil
	}
	// In one write of constant length, so that no mixture of two serials is left by a failure.
	if _, err = file.WriteAt(fmt.Appendf(nil, "%020d\n", serial), 0); err == nil {
		err = file.Sync()
	}
	return err
}
