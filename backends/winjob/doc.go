// Package winjob compiles a policy into a specification of Windows means: a job object, a
// restricted token, an AppContainer, and the access lists that give the AppContainer the access
// that the policy grants.
//
// There are two tiers. Tier 1, for which a specification is written, runs the tool in an
// AppContainer: it has no network, and reaches only the files that some access list opens for
// its package. Tier 0 is the same specification without the AppContainer: a job object and a
// token of the same user, which bound resources and take privileges away but are no boundary
// for files, network or other processes.
//
// The invariant is denial by absence. An entry that denies a package is without effect, so no entry denies anything:
// where the policy takes something away, the list is protected against inheritance and contains only the remaining
// grants. No entry ever lets a child be deleted through its directory, and DELETE is never given on the path of a rule
// nor on a directory that leads to it, so neither can be moved.
//
// Not enforced by these means: an access list belongs to the object, not to its path, so a
// moved file keeps its rights until the next start, and the maker of a file chooses its list;
// the system directories that are open to every AppContainer stay open. The ledger says where
// that matters. Nothing here has run on Windows: all facts are from vendor documentation and
// the reports of public projects, and docs/platforms/windows.md lists the unverified facts.
//
// # Sources
//
// Jobs and networks: JOBOBJECT_NET_RATE_CONTROL_INFORMATION. Processes outside of the job: the documentation of
// WMI (Create method of Win32_Process); the sandbox-runtime project gave up same-user tokens for this reason.
// Two grants: "Implement an AppContainer". Shared names of packages: the MXC and wayland-core projects. Denying
// entries: wayland-core and open-science, independently. FILE_DELETE_CHILD: [MS-FSA] 2.1.5.1.2.1. Held objects:
// CreateFileW. Restricting identifiers are not used: with them either PowerShell does not start, or places that
// every user may write stay writable, as several agent sandboxes report. SANDBOX_INERT would switch AppLocker off.
// A less privileged AppContainer is not used: many programs do not start in it. Network: J. Forshaw,
// "Understanding Network Access in Windows AppContainers", Project Zero, 2021; openscience asserts it on
// Windows 11. CreateProcess and LOCALAPPDATA: arapuca (error 203). Speed of lists: wayland-core measured 9 s
// for 52,000 files. What starts: MXC's docs/host-prep.md, win32-app-isolation#73, PowerShell#27253, libuv#5178,
// bun#33085, cImp#80, codex#7031.
package winjob
