package main

import (
	"fmt"

	"golang.org/x/sys/windows/registry"
)

// identify asks the registry for the edition and the build. Not for the product's name, which is
// that of Windows 10 on Windows 11 as well.
func identify() (machine, error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Windows NT\CurrentVersion`, registry.QUERY_VALUE)
	if err != nil {
		return machine{}, err
	}
	defer k.Close()
	kind, _, err := k.GetStringValue("InstallationType")
	if err != nil {
		return machine{}, fmt.Errorf("InstallationType: %w", err)
	}
	edition, _, err := k.GetStringValue("EditionID")
	if err != nil {
		return machine{}, fmt.Errorf("EditionID: %w", err)
	}
	build, _, err := k.GetStringValue("CurrentBuild")
	if err != nil {
		return machine{}, fmt.Errorf("CurrentBuild: %w", err)
	}
	revision, _, err := k.GetIntegerValue("UBR")
	if err != nil {
		return machine{}, fmt.Errorf("UBR: %w", err)
	}
	return machine{System: fmt.Sprintf("Windows %.16s %.16s", kind, edition), Build: fmt.Sprintf("%s.%d", build, revision)}, nil
}
