/* Starts of programs where they are judged: everything may be started except below d. A
 * start goes on in the kernel with the thread seized, and the new program is compared with
 * the judged file before its first instruction, which is when a start is done. Under DEBUGGER
 * thread 0 may have a debugger in the tool, and then it cannot be seized. */

#define G 1 /* the directory that is at g when the tool starts */
#define D 2 /* the one at d */
#define F 3 /* g/f */
#define S 4 /* d/f */
#define P 5 /* p */
#define X 6 /* made during the run */
#define N 7 /* made during the run, in the directory that was at g */
#define ENTRIES 8

#define GRANTED(e) (TOP(e) != d)
#define RULED(i) (i == G || i == P)

#include "tree.pml"
#include "calls.pml"
#include "changes.pml"

#ifdef OLD
#define BY_RULESET
#define NO_COMPARISON
#endif

bool traced; /* thread 0 has a debugger */
bool seized; /* thread 0 is seized */
bool moved;  /* a move has carried something to where it may not be started */
bool loose;  /* a start has gone on that nothing compares */

/* runs is the first instruction. An inode runs, so some entry of it must have lain
 * at a granted place during the call; under BY_NAME the entry that the kernel found. */
inline runs(e, how) {
	d_step {
		printf("thread %d runs %e/%e, %e\n", t, TOP(e), name[e], how);
		i1 = 1;
		do
		:: i1 == ENTRIES -> break
		:: i1 < ENTRIES ->
			if
#ifdef BY_NAME
			:: i1 == e && ((seen[t] >> i1) & 1) -> found = i1
#else
			:: name[i1] != nil && node[i1] == node[e] && ((seen[t] >> i1) & 1) -> found = i1
#endif
			:: else
			fi;
			i1++
		od;
		i1 = 0;
		MUST(found != 0, "wrong: done though denied\n");
		found = 0;
		ends()
	}
}

inline killed() {
	d_step {
		printf("thread %d is killed\n", t);
		MUST(!calm[t], "wrong: killed though granted\n");
		ends()
	}
}

inline seize() { seized = (t == 0 -> true : seized) }
inline release() { atomic { seized = (t == 0 -> false : seized); workers++ } }

/* follow is a start that goes on with the thread seized. */
inline follow() {
	copy();
	walk();
	if
	:: obj == NONE || !FLOOR(obj) -> release(); refused()
	:: obj != NONE && FLOOR(obj) ->
		/* It has become the program, and stands before the first instruction. */
		if
#ifdef NO_COMPARISON
		:: true -> release(); runs(obj, continued)
#elif defined(JUDGE_AGAIN)
		:: node[obj] == node[judged] && GRANTED(obj) -> release(); runs(obj, continued)
		:: node[obj] != node[judged] || !GRANTED(obj) -> release(); killed()
#else
		:: node[obj] == node[judged] -> release(); runs(obj, continued)
		:: node[obj] != node[judged] -> release(); killed()
#endif
		fi
	fi
}

/* kernel is a start that goes on and that nothing compares. */
inline kernel() {
	copy();
	walk();
	if
	:: obj == NONE || !FLOOR(obj) -> refused()
	:: obj != NONE && FLOOR(obj) -> runs(obj, continued)
	fi
}

inline turned() { d_step { printf("thread %d is turned away\n", t); ends() } }

/* unseized is a start by a thread that has a debugger: it goes on while no move has made
 * the ruleset exceed the policy, and from then on directories stay. */
inline unseized() {
#ifdef FLAG_UNLOCKED
	readers++;
#else
	share();
#endif
	if
#ifdef NO_FLAG
	:: true ->
#else
	:: moved -> leave(); turned()
	:: !moved ->
#endif
		loose = true;
		leave();
		kernel()
	fi
}

inline start() {
	begins();
	attend();
	copy();
	share();
	walk();
	if
#ifdef BY_RULESET
	:: obj == NONE || FLOOR(obj) ->
		leave();
		printf("goes on: the ruleset starts it, or a fault\n");
		kernel()
	:: obj != NONE && !FLOOR(obj) && GRANTED(obj) ->
#else
	:: obj == NONE -> leave(); refused()
	:: obj != NONE && GRANTED(obj) ->
#endif
		judged = obj;
		readers--;
		if
#ifdef DEBUGGER
		:: t == 0 && traced && FLOOR(judged) -> unseized()
		:: t == 0 && traced && !FLOOR(judged) -> workers++; turned()
		:: atomic { (t != 0 || !traced) && FLOOR(judged) -> seize() }; follow()
		:: (t != 0 || !traced) && !FLOOR(judged) ->
#else
		:: atomic { FLOOR(judged) -> seize() }; follow()
		:: !FLOOR(judged) ->
#endif
			/* The ruleset lacks it, so a copy is started that the supervisor makes. */
			workers++;
#ifdef NO_COPIES
			refused()
#else
			runs(judged, handed)
#endif
		fi
	:: else -> leave(); refused()
	fi
}

inline meddle() {
	if
	:: writes(g, f)
	:: writes(d, f)
	:: writes(l, f)
	:: writes(fd, f)
	:: writes(fd, n)
	:: writes(p, nil)
	:: writes(d, p)
	:: writes(x, nil) /* nothing is there */
	:: retargets(g)
	:: retargets(d)
	fi
}

proctype Thread(byte t) {
	mtype path1 = nil, path2 = nil;
	byte dir = NONE, obj = NONE, judged = NONE;
	do
	:: start()
#ifndef DEBUGGER
	:: meddle()
	:: rearrange()
#endif
	:: break
	od
}

#ifdef DEBUGGER
/* The debugger attaches and detaches, and makes moves of the tool, step by step. */
proctype Debugger(byte t) {
	do
	:: meddle()
	:: atomic { !seized -> traced = !traced }
	:: atomic { !writing -> writing = true };
		readers == 0;
#ifndef FLAG_LATE
		moved = true;
#endif
		if
		:: d_step { AT_ROOT(P) -> up[P] = D; printf("the tool moves p to d/p\n"); changed() }
		:: d_step { AT_ROOT(P) && name[X] == nil -> entry(X, D, p, P); printf("the tool links p to d/p\n"); changed() }
#ifdef FLAG_ALONE
		:: d_step { AT_ROOT(G) -> up[G] = D; printf("the tool moves g to d/g\n"); changed() }
#else
		:: d_step { !loose && AT_ROOT(G) -> up[G] = D; printf("the tool moves g to d/g\n"); changed() }
#endif
		:: true
		fi;
		writing = false;
#ifdef FLAG_LATE
		moved = true
#endif
#ifndef NOTHING_NEW
	:: d_step { name[N] == nil -> entry(N, G, n, N); printf("the tool makes n in the directory\n"); changed() }
#endif
	:: break
	od
}
#endif

init {
	atomic {
		name[X] = nil; name[N] = nil;
		entry(G, ROOT, g, G); entry(D, ROOT, d, D); entry(F, G, f, F); entry(S, D, f, S);
		entry(P, ROOT, p, P);
		run Thread(0);
#ifdef DEBUGGER
		run Debugger(1);
#else
		run Thread(1);
#endif
#ifdef HOST
		run Host();
#endif
	}
}
