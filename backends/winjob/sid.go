package winjob

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Well-known security identifiers (learn.microsoft.com, "Well-known SIDs").
const (
	sidAdministrators        = "S-1-5-32-544"
	sidMediumIntegrity       = "S-1-16-8192"
	sidAllPackages           = "S-1-15-2-1"
	sidAllRestrictedPackages = "S-1-15-2-2"
)

// PackageSID returns the security identifier of an AppContainer: S-1-15-2 and the first seven
// words of the SHA-256 digest of its lower-case name in UTF-16.
// DeriveAppContainerSidFromAppContainerName returns the same outside of any package.
func PackageSID(name string) string {
	var in []byte
	for _, unit := range utf16.Encode([]rune(strings.ToLower(name))) {
		in = binary.LittleEndian.AppendUint16(in, unit)
	}
	sum := sha256.Sum256(in)
	sid := "S-1-15-2"
	for i := range 7 {
		sid += "-" + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(sum[4*i:])), 10)
	}
	return sid
}

// Names of AppContainers have up to 64 characters out of [-_. A-Za-z0-9]
// (learn.microsoft.com, "CreateAppContainerProfile").
const (
	maxContainerName = 64
	maxRunID         = 16
	maxToolPart      = 30
)

// containerName returns the name of a tool's AppContainer: a function of only the tool's name, so that it is the same
// everywhere. The digest keeps tools apart whose names differ in characters that AppContainers cannot have.
func containerName(tool string) string {
	part := strings.Map(func(r rune) rune {
		if r < 0x80 && nameRune(byte(r)) {
			return r
		}
		return '-'
	}, tool)
	sum := sha256.Sum256([]byte(tool))
	return "accessc." + part[:min(len(part), maxToolPart)] + "." + hex.EncodeToString(sum[:4])
}

// RunName returns the name of the AppContainer of one run. Runs must not share an
// identifier: the end of one run would take away the access lists of the other. run is
// up to 16 lower-case letters and digits.
func RunName(container, run string) (string, error) {
	name := container + "." + run
	valid := run != "" && len(run) <= maxRunID && len(name) <= maxContainerName
	for i := range len(run) {
		valid = valid && nameRune(run[i]) && run[i] != '.' && run[i] == lowered(run[i])
	}
	if !valid {
		return "", fmt.Errorf("run %q: expected up to %d lower-case letters and digits", run, maxRunID)
	}
	return name, nil
}

func nameRune(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
