package winjob

import (
	"errors"
	"slices"
)

// Flags is the value of LimitFlags.
func (b BasicLimits) Flags() (uint32, error) { return bits(limitFlags, b.LimitFlags) }

// Value is the value of UIRestrictionsClass.
func (u UIRestrictions) Value() (uint32, error) { return bits(uiRestrictions, u.Class) }

// Value is the value of the flags of CreateRestrictedToken.
func (r RestrictedToken) Value() (uint32, error) { return bits(tokenFlags, r.Flags) }

// DisablesPrivileges reports whether all privileges but traversing go.
func (r RestrictedToken) DisablesPrivileges() bool {
	v, err := r.Value()
	return err == nil && v&tokenFlags[0].value != 0
}

// Values are the arguments of CreateFile.
func (h Hold) Values() (access, share, flags uint32, err error) {
	access, e1 := bits(accessRights, h.Access)
	share, e2 := bits(shareModes, h.Share)
	flags, e3 := bits(openFlags, h.Flags)
	return access, share, flags, errors.Join(e1, e2, e3)
}

// MayStart reports whether the process may start others.
func (c AppContainer) MayStart() bool { return c.ChildProcessPolicy == "" }

// ChildProcessRestricted is the value of the child process policy that is not empty.
func ChildProcessRestricted() uint32 { return childProcessRestricted.value }

// Services are the services without which a specification's network is not enforced.
func Services() []string { return slices.Clone(services) }

// Holding returns the way in which every specification has objects opened.
func Holding() Hold { return hold() }
