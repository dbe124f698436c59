/* The calls of two threads that share their memory. The model that includes this defines
 * GRANTED(e), whether the policy grants the place of an entry, and G, a directory.
 *
 * A thread waits while a worker of the supervisor acts for it, so the two are one process
 * here. How many calls are attended at a time is counted. */

#ifndef WORKERS
#define WORKERS 2
#endif

byte workers = WORKERS;
byte readers; /* calls that hold the lock on names together */
bool writing; /* a move holds it alone */

mtype cell1 = g, cell2 = f; /* the path in the tool's memory */
mtype target = g;           /* where the symlink l leads */

/* Facts about each call, by which the properties are judged. */
bool pending[2];
byte seen[2]; /* bit e: entry e lay at a granted place at some time during the call */
bool calm[2]; /* nothing has changed since the call began */

byte i2, bits;

inline places() {
	bits = 0;
	i2 = 1;
	do
	:: i2 == ENTRIES -> break
	:: i2 < ENTRIES ->
		if
		:: name[i2] != nil && GRANTED(i2) -> bits = bits | (1 << i2)
		:: else
		fi;
		i2++
	od;
	i2 = 0
}

/* changed is part of each step that changes a name. */
inline changed() {
	places();
	if :: pending[0] -> seen[0] = seen[0] | bits :: else fi;
	if :: pending[1] -> seen[1] = seen[1] | bits :: else fi;
	bits = 0; calm[0] = false; calm[1] = false
}

inline begins() {
	d_step { places(); pending[t] = true; calm[t] = true; seen[t] = bits; bits = 0 }
}

inline ends() {
	pending[t] = false; calm[t] = false; seen[t] = 0;
	path1 = nil; path2 = nil; dir = NONE; obj = NONE; judged = NONE
}

inline attend() { atomic { workers > 0 -> workers-- } }
inline share() { atomic { !writing -> readers++ } }
inline leave() { atomic { readers--; workers++ } }

/* copy reads the tool's memory: the supervisor does so once for a call. */
inline copy() { d_step { path1 = cell1; path2 = cell2 } }

mtype first;

/* walk resolves the path name by name, and others come in between. */
inline walk() {
	d_step {
		if
		:: path1 == fd -> obj = G /* a directory that the tool holds open */
		:: else -> first = (path1 == l -> target : path1); look(ROOT, first, obj); first = 0
		fi
	};
	if
	:: d_step { obj != NONE && path2 != nil -> dir = obj; look(dir, path2, obj); dir = NONE }
	:: else
	fi
}

byte found;

/* leads finds the entry that the path in the memory leads to now. */
inline leads() {
	if
	:: cell1 == fd -> found = G
	:: else -> first = (cell1 == l -> target : cell1); look(ROOT, first, found); first = 0
	fi;
	if
	:: found != NONE && cell2 != nil -> dir = found; look(dir, cell2, found); dir = NONE
	:: else
	fi
}

inline refused() {
	d_step {
		printf("thread %d is refused\n", t);
#ifndef STRICTER
		if
		:: calm[t] -> leads(); MUST(found == NONE || !GRANTED(found), "wrong: refused though granted\n"); found = 0
		:: else
		fi;
#endif
		ends()
	}
}

inline writes(one, two) {
	d_step {
#ifdef NO_RACE
		!pending[0] && !pending[1] ->
#endif
		cell1 = one; cell2 = two; calm[0] = false; calm[1] = false;
		printf("thread %d writes the path %e/%e\n", t, one, two)
	}
}

inline retargets(to) {
	d_step { target = to; changed(); printf("thread %d leads l to %e\n", t, to) }
}
