// Package hostfacts compiles a configuration on this host: it hands the compiler the user's
// approvals, and adds the machine's facts about the resulting policy.
//
// The facts are the paths of a tool's roots, the files of its programs and of the base, the
// protected paths that only this workspace has, and the sensitive paths that are on this disk.
// The policy's own tests are judged by them. The package writes nothing.
package hostfacts
