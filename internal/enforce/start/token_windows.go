package start

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// restrictedToken makes the tool's token out of this process's own, which takes no
// privilege (learn.microsoft.com, "CreateProcessAsUserW": a restricted version of the
// caller's token needs none).
// See decision D82.
func restrictedToken(t winjob.Token) (windows.Token, error) {
	var self, out windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_ADJUST_DEFAULT
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &self); err != nil {
		return 0, fmt.Errorf("the token of this process: %w", err)
	}
	defer self.Close()
	flags, err := t.Restricted.Value()
	if err != nil {
		return 0, err
	}
	var disable []windows.SIDAndAttributes
	for _, text := range t.Restricted.SidsToDisable {
		sid, err := windows.StringToSid(text)
		if err != nil {
			return 0, fmt.Errorf("SidsToDisable %s: %w", text, err)
		}
		disable = append(disable, windows.SIDAndAttributes{Sid: sid})
	}
	var drop []windows.LUIDAndAttributes
	for _, name := range t.Restricted.PrivilegesToDelete {
		wide, err := windows.UTF16PtrFromString(name)
		if err != nil {
			return 0, err
		}
		var l windows.LUIDAndAttributes
		if err := windows.LookupPrivilegeValue(nil, wide, &l.Luid); err != nil {
			return 0, fmt.Errorf("PrivilegesToDelete %s: %w", name, err)
		}
		drop = append(drop, l)
	}
	r, _, err := createRestrictedToken.Call(uintptr(self), uintptr(flags),
		uintptr(len(disable)), uintptr(unsafe.Pointer(unsafe.SliceData(disable))),
		uintptr(len(drop)), uintptr(unsafe.Pointer(unsafe.SliceData(drop))),
		0, 0, uintptr(unsafe.Pointer(&out)))
	if r == 0 {
		return 0, fmt.Errorf("CreateRestrictedToken: %w", err)
	}
	if err := errors.Join(lower(out, t.Integrity), setDefaultList(out, t.DefaultDACL)); err != nil {
		_ = out.Close()
		return 0, err
	}
	return out, nil
}

// setDefaultList gives a token the access list of objects that are made without one, and asks
// for it again: an object with another would be closed to the tool that made it, or open to others.
func setDefaultList(t windows.Token, sddl string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	sd, err := windows.SecurityDescriptorFromString(strings.ReplaceAll(sddl, "${user}", user.User.Sid.String()))
	if err != nil {
		return fmt.Errorf("the default access list: %w", err)
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return fmt.Errorf("the default access list: %w", err)
	}
	if err := windows.SetTokenInformation(t, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&dacl)), uint32(unsafe.Sizeof(dacl))); err != nil {
		return fmt.Errorf("the default access list: %w", err)
	}
	have, err := defaultList(t)
	if err == nil && !slices.Equal(have, entriesOf(dacl)) {
		err = errors.New("it does not come back as it was set")
	}
	if err != nil {
		return fmt.Errorf("the default access list: %w", err)
	}
	return nil
}

// defaultList lists the entries of a token's default list, as entriesOf does.
func defaultList(t windows.Token) ([]string, error) {
	buf, err := tokenInfo(t, windows.TokenDefaultDacl)
	if err != nil {
		return nil, err
	}
	return entriesOf(*(**windows.ACL)(unsafe.Pointer(&buf[0]))), nil
}

// entriesOf writes the entries of a list. Not the text of the whole list: that has words for
// some identifiers, such as that of the local administrator.
func entriesOf(list *windows.ACL) []string {
	var out []string
	if list == nil {
		return nil
	}
	for i := range uint32(list.AceCount) {
		var e *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &e) != nil {
			return nil
		}
		sid := (*windows.SID)(unsafe.Pointer(&e.SidStart))
		out = append(out, fmt.Sprintf("%d %#x %s", e.Header.AceType, uint32(e.Mask), sid))
	}
	return out
}

// lower gives a token an integrity level. That of a user's own program is the same
// already; that of an administrator's is above it.
func lower(t windows.Token, level string) error {
	sid, err := windows.StringToSid(level)
	if err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: sid, Attributes: seGroupIntegrity}}
	if err := windows.SetTokenInformation(t, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size()); err != nil {
		return fmt.Errorf("the integrity level: %w", err)
	}
	return nil
}

// integrity is the integrity level of a token.
func integrity(t windows.Token) (string, error) {
	buf, err := tokenInfo(t, windows.TokenIntegrityLevel)
	if err != nil {
		return "", err
	}
	return (*windows.Tokenmandatorylabel)(unsafe.Pointer(&buf[0])).Label.Sid.String(), nil
}

// privileges counts the privileges of a token.
func privileges(t windows.Token) (int, error) {
	buf, err := tokenInfo(t, windows.TokenPrivileges)
	if err != nil {
		return 0, err
	}
	return int((*windows.Tokenprivileges)(unsafe.Pointer(&buf[0])).PrivilegeCount), nil
}

// enabled lists those of some groups that a token has for more than denial.
func enabled(t windows.Token, sids []string) ([]string, error) {
	groups, err := t.GetTokenGroups()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, g := range groups.AllGroups() {
		for _, sid := range sids {
			if g.Sid.String() == sid && g.Attributes&windows.SE_GROUP_USE_FOR_DENY_ONLY == 0 {
				out = append(out, sid)
			}
		}
	}
	return out, nil
}
