/* Calls that make, remove, move and link names. Below g everything is granted; below d
 * names may be made and removed, but nothing may be read; below o no name may be made or
 * removed. The names d and o lead to rules, so they stay.
 *
 * The supervisor copies the paths once, so to choose them as the call begins is to rewrite
 * them before. It judges, and acts on a name in the directory that it has pinned; this
 * model is about changes by the host in between. */

#define G 1 /* the directory that is at g when the tool starts */
#define D 2 /* d */
#define O 3 /* o */
#define F 4 /* g/f */
#define S 5 /* d/f */
#define N 6 /* made during the run */
#define ENTRIES 7

/* READS says whether an entry may be read, NAMES whether a directory's names may change. */
#define READS(e) (TOP(e) != d)
#define NAMES(in) (in == ROOT || TOP(in) != o)
/* KEEPS says whether an entry may be put into a directory: it may be read no more there. */
#define KEEPS(e, in) (READS(e) || in != ROOT && !READS(in))

#define RULED(i) (false)

#include "tree.pml"

#ifndef WORKERS
#define WORKERS 2
#endif

byte workers = WORKERS;
byte readers; /* calls that hold the lock on names together */
bool writing; /* a move holds it alone */
mtype target = g; /* where the symlink l leads */

/* Facts about each call since its directories are pinned, by which it is judged. */
bool pinned[2];
byte named[2];         /* bit i: names could change in directory i at some time */
byte into[2] = NONE;   /* the directory that something is to be put into */
byte kept[2];          /* bit e: entry e could be put there at some time */
bool calm[2];          /* nothing has changed */
byte strays[2] = NONE; /* an entry that has moved and is not the judged one */
#define stray strays[t]
bool ended;            /* the tool is killed, and nothing that it does matters any more */

byte i2, i3;

inline note(i) {
	if
	:: pinned[i] -> named[i] = named[i] | NAMES(ROOT) | (NAMES(G) << G) | (NAMES(D) << D) | (NAMES(O) << O)
	:: else
	fi;
	if
	:: into[i] == NONE
	:: into[i] != NONE ->
		i2 = 1;
		do
		:: i2 == ENTRIES -> break
		:: i2 < ENTRIES ->
			if
			:: name[i2] != nil && KEEPS(i2, into[i]) -> kept[i] = kept[i] | (1 << i2)
			:: else
			fi;
			i2++
		od;
		i2 = 0
	fi
}

/* changed is part of each step that changes a name, except for the move that a call makes. */
inline changed() { note(0); note(1); calm[0] = false; calm[1] = false }

inline pin(in) { d_step { pinned[t] = true; into[t] = in; calm[t] = (in != NONE); note(t) } }

inline ends() {
	d_step {
		pinned[t] = false; named[t] = 0; into[t] = NONE; kept[t] = 0; calm[t] = false;
		dir1 = nil; name1 = nil; dir2 = nil; src = NONE; dst = NONE; obj = NONE
	}
}

#define SHARED (workers > 0 && !writing)
inline share() { workers--; readers++ }
inline leave() { atomic { readers--; workers++ } }

#ifdef NO_LOCK
#define FREE SHARED
#define lock() share()
#define unlock() leave()
#else
#define FREE (SHARED && readers == 0)
inline lock() { workers--; writing = true }
inline unlock() { atomic { writing = false; workers++ } }
#endif

inline refused() {
	d_step { printf("thread %d is refused\n", t) };
	ends()
}

/* folder resolves the path of a directory: nil is the root, and fd one that
 * the tool has open. */
inline folder(path, out) {
	d_step {
		if
		:: path == nil -> out = ROOT
		:: path == fd -> out = G
		:: path == l -> look(ROOT, target, out)
		:: else -> look(ROOT, path, out)
		fi
	}
}

inline choose(dir, other) {
	if
	:: dir = d
	:: dir = fd
	:: dir = other
#ifdef SYMLINK
	:: dir = l
#endif
	fi
}

/* make is an open that creates, mkdir, mknod, symlink; remove is unlink and rmdir. */
inline change(making) {
	atomic { SHARED -> share(); choose(dir2, o) };
	folder(dir2, dst);
	if
	:: dst == NONE -> leave(); refused()
	:: dst != NONE ->
		pin(NONE);
		if
		:: !NAMES(dst) -> leave(); refused()
		:: NAMES(dst) ->
#ifdef ACT_BY_PATH
			folder(dir2, dst);
#endif
			d_step {
				look(dst, f, obj);
				if
				:: making && obj == NONE && name[N] == nil ->
					entry(N, dst, f, N); changed();
					printf("thread %d makes f in %e\n", t, name[dst]);
					MUST(ended || (named[t] >> dst) & 1, "wrong: done though denied\n")
#ifdef AT_THE_ACT
					;
					MUST(ended || NAMES(dst), "wrong: denied where it lies now\n")
#endif
				:: !making && obj != NONE ->
					live[obj] = false; changed();
					printf("thread %d removes f in %e\n", t, name[dst]);
					MUST(ended || (named[t] >> dst) & 1, "wrong: done though denied\n")
				:: else
				fi
			};
			leave();
			ends()
		fi
	fi
}

/* link makes a name for a descriptor, so it is the judged entry that is linked. */
inline link() {
	atomic { SHARED -> share(); if :: dir1 = fd :: dir1 = d fi; choose(dir2, nil) };
	folder(dir1, src);
	folder(dir2, dst);
	if
	:: src != NONE && dst != NONE -> pin(dst); d_step { look(src, f, obj) }
	:: else
	fi;
	if
	:: obj == NONE || !NAMES(dst) || !KEEPS(obj, dst) -> leave(); refused()
	:: obj != NONE && NAMES(dst) && KEEPS(obj, dst) ->
		d_step {
#ifdef LINK_BY_NAME
			look(src, f, obj);
#endif
			look(dst, f, i3);
			if
			:: i3 == NONE && obj != NONE && name[N] == nil ->
				printf("thread %d links f in %e to %e\n", t, name[src], name[dst]);
				MUST(ended || (named[t] >> dst) & (kept[t] >> obj) & 1, "wrong: done though denied\n");
				entry(N, dst, f, obj); changed()
			:: else
			fi;
			i3 = 0
		};
		leave();
		ends()
	fi
}

/* FIXED is for names that lead to rules, and for a directory that would be moved into itself. */
#define FIXED(e, in) (e == D || e == O || e == in || up[in] == e)

/* move takes a name to a free one. Nothing renames by descriptor, so the name may be
 * another's by then. The supervisor looks at the entry that has moved, takes another than
 * the judged one back, and kills the tool where the way back is taken. */
inline move() {
	atomic {
		FREE -> lock();
		if
		:: dir1 = fd; name1 = f
		:: dir1 = d; name1 = f
		:: dir1 = nil; name1 = g
		fi;
		choose(dir2, nil)
	};
	folder(dir1, src);
	folder(dir2, dst);
	if
	:: src != NONE && dst != NONE -> pin(dst); d_step { look(src, name1, obj) }
	:: else
	fi;
	if
	:: obj == NONE || FIXED(obj, dst) || !NAMES(src) || !NAMES(dst) || !KEEPS(obj, dst) -> unlock(); refused()
	:: obj != NONE && !FIXED(obj, dst) && NAMES(src) && NAMES(dst) && KEEPS(obj, dst) ->
		d_step {
			look(src, name1, i3);
			look(dst, name1, stray);
			if
			:: i3 != NONE && stray == NONE && !FIXED(i3, dst) ->
				pinned[t] = false; into[t] = NONE; up[i3] = dst; note(1 - t); calm[1 - t] = false;
				printf("thread %d moves %e from %e to %e\n", t, name1, name[src], name[dst]);
#ifdef NO_LOOK
				obj = i3
#else
				stray = (i3 == obj -> NONE : i3);
				MUST(ended || stray == NONE || !calm[t], "wrong: refused though granted\n")
#endif
			:: else -> obj = NONE; stray = NONE
			fi;
			i3 = 0
		};
		if
		:: obj == NONE -> unlock(); refused()
		:: obj != NONE && stray == NONE ->
			d_step { MUST(ended || (named[t] >> src) & (named[t] >> dst) & (kept[t] >> obj) & 1, "wrong: done though denied\n") };
			unlock();
			ends()
		:: obj != NONE && stray != NONE ->
			d_step {
				look(src, name1, i3);
				if
				:: i3 == NONE ->
					up[stray] = src; note(1 - t); calm[1 - t] = false;
					printf("thread %d takes it back\n", t)
				:: else ->
#ifdef STRAYS_STAY
					MUST((kept[t] >> stray) & 1, "wrong: a stray stays\n")
#else
					ended = true; printf("the tool is killed\n")
#endif
				fi;
				i3 = 0; stray = NONE
			};
			unlock();
			refused()
		fi
	fi
}

/* Other calls do not see a stray, since they share the lock. */
inline see() {
	d_step {
		!writing && strays[1 - t] != NONE ->
		MUST(ended || !READS(strays[1 - t]) || ((kept[1 - t] >> strays[1 - t]) & 1), "wrong: a stray is seen\n")
	}
}

proctype Thread(byte t) {
	mtype dir1 = nil, name1 = nil, dir2 = nil;
	byte src = NONE, dst = NONE, obj = NONE;
	do
#ifndef MOVES_ALONE
	:: change(true)
	:: change(false)
	:: link()
#endif
#ifdef IN_KERNEL
	/* Where only moves are judged the kernel makes and removes names, under no lock. */
	:: d_step { live[F] && NAMES(up[F]) -> live[F] = false; changed(); printf("the kernel removes f\n") }
	:: d_step { name[N] == nil && NAMES(G) && !(live[F] && up[F] == G) && !(live[S] && up[S] == G) -> entry(N, G, f, N); changed(); printf("the kernel makes f in the directory\n") }
	:: d_step { live[N] && NAMES(up[N]) -> live[N] = false; name[N] = nil; changed(); printf("the kernel removes it\n") }
#endif
	:: move()
	:: see()
#ifdef SYMLINK
	:: d_step { target = g; changed(); printf("thread %d leads l to g\n", t) }
	:: d_step { target = o; changed(); printf("thread %d leads l to o\n", t) }
#endif
	:: break
	od
}

#ifdef HOST
/* vacate makes room for a name in the directory. */
inline vacate() {
	look(G, f, i3);
	if :: i3 != NONE -> live[i3] = false :: else fi;
	i3 = 0
}

proctype Host() {
	byte left = HOST;
	do
	:: left == 0 -> break
	:: left > 0 ->
		left--;
		if
		:: true
		:: d_step { up[G] == ROOT -> up[G] = O; changed(); printf("the host moves g to o/g\n") }
		:: d_step { up[G] == ROOT -> up[G] = D; changed(); printf("the host moves g to d/g\n") }
		:: d_step { live[S] && up[S] == D -> vacate(); up[S] = G; changed(); printf("the host moves d/f into the directory\n") }
		:: d_step { name[N] == nil -> vacate(); entry(N, G, f, N); changed(); printf("the host makes f in the directory\n") }
		fi
	od
}
#endif

init {
	atomic {
		name[ROOT] = root; name[N] = nil;
		entry(G, ROOT, g, G); entry(D, ROOT, d, D); entry(O, ROOT, o, O);
		entry(F, G, f, F); entry(S, D, f, S);
		run Thread(0); run Thread(1);
#ifdef HOST
		run Host();
#endif
	}
}
