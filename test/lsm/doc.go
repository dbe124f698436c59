// Package lsm evaluates the specifications that backends/landlock writes as the kernel's
// security module does: which rights reach a file, and which calls the filter fails. Tests
// compare its answers with the policy, and the kernel's with both.
//
// # Which rights an operation needs
//
// Measured on levels 1 to 7 by taking one right at a time away. D is the directory that holds
// the name; a grant on a directory reaches everything below.
//
//	open for reading; map; read through /proc/self/fd    read_file
//	list a directory                                     read_dir
//	stat, readlink, access, chdir, O_PATH, inotify,
//	  getxattr                                           none at any level
//	open for writing, append                             write_file
//	truncate, O_TRUNC, ftruncate of a file that was
//	  opened inside                                      write_file and truncate
//	write, truncate on an inherited descriptor           none
//	start a program or script                            execute and read_file, also on the interpreter
//	                                                     and the loader
//	create a file and fill it                            make_reg and write_file on D
//	make a directory, symlink, fifo, socket              make_dir, make_sym, make_fifo, make_sock on D
//	remove a file, a directory                           remove_file, remove_dir on D
//	rename in D                                          remove_* and make_* on D, for the moved and the
//	                                                     replaced object
//	rename, link between directories                     the same, and refer on both; refused with EXDEV
//	                                                     if the object would get a further right
//	chmod, chown, utimes, xattr                          none at any level
//	connect to a unix socket                             none below level 9
//	mount, unmount, pivot_root                           always refused; mount_setattr is not, so the
//	                                                     filter refuses it
package lsm
