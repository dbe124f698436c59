// Package firejail compiles a policy into a profile of firejail (firejail-profile(5), 0.9.72), for hosts that
// start tools by it instead of by accessc exec.
//
// The invariant is that the profile opens nothing that the policy denies, except as its ledger states.
// firejail starts from the host's own tree: the profile covers all directories of / that nothing is granted in
// (blacklist), shows of the others only the granted places (whitelist), covers the rest around these, and covers and
// narrows places in them. All capabilities, further namespaces, the network and D-Bus are closed. The ledger is in a
// comment, the first lines. Not enforced by these means, beside the limits of mounts in general (package mounts): pins,
// listing the directories that lead to granted places, the environment, sockets that may be seen.
// See decision D257.
package firejail
