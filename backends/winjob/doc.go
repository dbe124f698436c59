// Package winjob compiles a policy into a specification of Windows means: a job object, a
// restricted token, an AppContainer, and the access lists that give the AppContainer the access
// that the policy grants.
//
// There are two tiers. Tier 1, the one that a specification is written for, runs the tool in an
// AppContainer: it has no network, and reaches only the files that some access list opens for
// its package. Tier 0 is the same specification without the AppContainer: a job object and a
// token of the same user, which bound resources and take privileges away but are no boundary
// for files, network or other processes.
//
// The invariant is denial by absence. An entry that denies a package is without effect, so
// nothing is denied by one: where the policy takes something away, the list is protected
// against inheritance and contains only the remaining grants. No entry ever lets a child be
// deleted through its directory, and DELETE is never given on the path of a rule nor on a
// directory that leads to it, so neither can be moved.
//
// Not enforced by these means: an access list belongs to the object, not to its path, so a
// moved file keeps its rights until the next start, and the maker of a file chooses its list;
// the system directories that are open to every AppContainer stay open. The ledger says where
// that matters. Nothing here has run on Windows: all facts are from vendor documentation and
// the reports of public projects, and docs/platforms/windows.md lists the unverified ones.
package winjob
