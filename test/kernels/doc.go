// Command kernels runs the tests of this repository under other Linux kernels than
// the one it runs on: one row per version of Landlock's interface, and kernels that
// do not have it.
//
//	go run ./test/kernels [flags] [ROW...]
//
// Each row is a kernel from a Debian or Ubuntu package, fetched and verified by apt
// with lists of its own and kept in the user's cache directory. The kernel boots in
// qemu, emulated, with all of its files in memory: static builds of accessc, of the
// tests and of their clients in C, and the programs of this machine that the tests
// start. A row that cannot be had is reported as not run, which is no failure unless
// none can; a kernel that does not boot, reports no end or has another interface than
// its row says is one.
//
// The programs that it needs are named when they are missing. It needs no privilege.
package main
