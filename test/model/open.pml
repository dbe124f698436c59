/* Opens where reading, say, is judged: everything may be read except below d. The supervisor
 * resolves, judges, opens, and hands the descriptor over. Below the root there is an
 * exception, so the ruleset grants the entries that stood there at the start, one by one. */

#define G 1 /* the directory that is at g when the tool starts */
#define D 2 /* the one at d */
#define F 3 /* g/f */
#define S 4 /* d/f */
#define P 5 /* p */
#define B 6 /* b, which stands for the base */
#define X 7 /* made during the run */
#define ENTRIES 8

#define GRANTED(e) (TOP(e) != d)
#define RULED(i) (i == G || i == P || i == B)

#include "tree.pml"
#include "calls.pml"
#include "changes.pml"

#ifdef OLD
#define CONTINUE_FAULTS
#define CONTINUE_BASE
#endif

inline opens(how) {
	d_step {
		printf("thread %d opens %e/%e, %e\n", t, TOP(obj), name[obj], how);
		MUST((seen[t] >> obj) & 1, "wrong: done though denied\n");
		ends()
	}
}

/* kernel is a call that goes on: the kernel reads the path from the tool's memory. */
inline kernel() {
	copy();
	walk();
	if
	:: obj != NONE && FLOOR(obj) -> opens(continued)
	:: obj == NONE || !FLOOR(obj) -> refused()
	fi
}

/* ASIS is whether an entry has the name that the path says, symlinks and descriptors apart. */
#define ASIS(e) (live[e] && (path2 == nil -> \
	up[e] == ROOT && name[e] == path1 : \
	up[e] != ROOT && name[e] == path2 && up[up[e]] == ROOT && name[up[e]] == path1))
#ifdef DIRECT_BLIND
#define SAME true
#else
#define SAME ASIS(obj)
#endif

inline open() {
	begins();
	attend();
	copy();
	share();
#ifndef WALKS
	/* By the text of the path, which is granted: what was opened is handed over if its name is the text. */
	if
	:: path1 != l && path1 != fd && path1 != d ->
		walk();
		if
		:: obj != NONE && SAME -> leave(); printf("directly\n"); opens(handed); goto answered
		:: else -> obj = NONE
		fi
	:: else
	fi;
#endif
	walk();
	if
	:: obj == NONE ->
		leave();
#ifdef CONTINUE_FAULTS
		printf("goes on: a fault\n");
		kernel()
#else
		refused()
#endif
#ifdef CONTINUE_BASE
	:: obj != NONE && TOP(obj) == b ->
		leave();
		printf("goes on: the base\n");
		kernel()
	:: obj != NONE && TOP(obj) != b && GRANTED(obj) ->
#elif defined(JUDGE_TEXT)
	:: obj != NONE && path1 != d ->
#else
	:: obj != NONE && GRANTED(obj) ->
#endif
#ifdef COPY_TWICE
		copy();
		walk();
#endif
#ifdef ACT_BY_PATH
		walk();
#endif
#ifdef ACT_BOUND
		if
		:: obj != NONE && !FLOOR(obj) -> obj = NONE
		:: else
		fi;
#endif
		leave();
		if
		:: obj == NONE -> refused()
		:: obj != NONE -> opens(handed)
		fi
	:: else -> leave(); refused()
	fi;
answered:
	skip
}

proctype Thread(byte t) {
	mtype path1 = nil, path2 = nil;
	byte dir = NONE, obj = NONE, judged = NONE;
	do
	:: open()
	:: writes(g, f)
	:: writes(d, f)
	:: writes(l, f)
	:: writes(fd, f)
	:: writes(p, nil)
	:: writes(d, p)
#ifdef LATE
	:: writes(g, p) /* nothing is there until a link is made */
#endif
	:: writes(b, nil)
	:: writes(x, nil) /* nothing is there */
	:: retargets(g)
	:: retargets(d)
	:: rearrange()
	:: break
	od
}

init {
	atomic {
		name[X] = nil;
		entry(G, ROOT, g, G); entry(D, ROOT, d, D); entry(F, G, f, F); entry(S, D, f, S);
		entry(P, ROOT, p, P); entry(B, ROOT, b, B);
		run Thread(0); run Thread(1);
#ifdef HOST
		run Host();
#endif
	}
}
