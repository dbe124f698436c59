/* Names that lead to rules. A rule withholds a/b/s; all else is granted, and of a and b
 * nothing need be there when the tool starts. The host writes a secret to a/b/s, through
 * the names as they stand by then, and makes directories that are missing. The tool
 * must not come to read it by another name.
 *
 * Under LINKED a/b is a symlink to r from the start, so that the rule governs r/s.
 *
 * A call of the tool is one step here: names.pml looks between judgement and act.
 * The host moves nothing, which is assumed. */

#define G 1 /* g, a directory */
#ifdef LINKED
#define A 2 /* a */
#define B 3 /* a/b */
#define R 4 /* r */
#define MADE 5
#else
#define MADE 2 /* from here on: made during the run */
#endif
#ifndef COUNT
#define COUNT 4
#endif
#define ENTRIES (MADE + COUNT)

#define RULED(i) (false)

#include "tree.pml"

mtype kind[ENTRIES];  /* d: directory, f: file, l: symlink */
byte goes[ENTRIES];   /* the directory that a symlink leads to; at the end of a path, to n in it */
bool secret[ENTRIES]; /* by inode */

byte i2, da, db; /* the directories at a and a/b, the latter over a symlink */

inline places() {
	look(ROOT, a, da);
	if :: da != NONE && kind[da] != d -> da = NONE :: else fi;
	db = NONE;
#ifdef LINKED
	look(ROOT, r, db);
#else
	if :: da != NONE -> look(da, b, db) :: else fi;
	if :: db != NONE && kind[db] != d -> db = NONE :: else fi
#endif
}

/* For use after places(): the name that the rule is about, and all that lead to it. */
#define RULE(at, called) (at != ROOT && at == db && called == s)
#ifdef LINKED
#define PIN(at, called) (at == ROOT && (called == a || called == r) || at != ROOT && at == da && called == b || RULE(at, called))
#else
#define PIN(at, called) (at == ROOT && called == a || at != ROOT && at == da && called == b || RULE(at, called))
#endif

/* The safeguards, each of which a variant takes away. */
#ifdef SYMLINK_AT_PIN
#define MAY_SYMLINK true
#else
#define MAY_SYMLINK !PIN(at, called)
#endif
#ifdef LINK_AT_PIN
#define MAY_LINK true
#else
#define MAY_LINK !PIN(at, called)
#endif
#ifdef MOVE_TO_PIN
#define MAY_ARRIVE true
#else
#define MAY_ARRIVE !PIN(at, called)
#endif
#ifdef MOVE_OF_PIN
#define MAY_LEAVE true
#else
#define MAY_LEAVE !PIN(up[e], name[e])
#endif
#ifdef REMOVE_AT_PIN
#define MAY_REMOVE true
#else
#define MAY_REMOVE (kind[e] == d || !PIN(up[e], name[e]))
#endif

#define SPARE (name[ENTRIES - 1] == nil)
#define DIR(e) (e == ROOT || live[e] && kind[e] == d)
#define WITHIN(at, e) (at == e || up[at] == e || up[up[at]] == e || up[up[up[at]]] == e)

/* fresh makes the next entry; SPARE says that there is one. */
inline fresh(at, called, sort, inode, to) {
	i2 = MADE;
	do
	:: name[i2] == nil -> break
	:: else -> i2++
	od;
	entry(i2, at, called, inode);
	node[i2] = (inode == NONE -> i2 : inode);
	kind[i2] = sort; goes[i2] = to; i2 = 0
}

inline holds(e, out) {
	out = false; i2 = 1;
	do
	:: i2 == ENTRIES -> break
	:: i2 < ENTRIES ->
		if :: live[i2] && up[i2] == e -> out = true :: else fi;
		i2++
	od;
	i2 = 0
}

mtype = { mkdir, symlink, create, link, rename, remove, open };

proctype Thread() {
	byte e, at, there;
	bool filled;
	mtype call = nil, called = nil;
	do
	:: atomic {
		if
		:: SPARE -> if :: call = mkdir :: call = symlink :: call = create :: call = link fi
		:: call = rename
		:: call = remove
		:: call = open
		fi;
		e = 1;
		if
		:: call != mkdir && call != symlink && call != create ->
			do
			:: e < ENTRIES - 1 -> e++
			:: break
			od
		:: else
		fi;
		called = n;
		if
		:: call != remove && call != open ->
			do
			:: at < ENTRIES - 1 -> at++
			:: break
			od;
			if
			:: at == ROOT -> called = a
			:: at == ROOT || at == G -> called = n
			:: at > G -> called = b
			:: at > G -> called = s
			fi
		:: else
		fi;
		d_step {
			places();
			look(at, called, there);
			if
			:: call == mkdir && DIR(at) && there == NONE && !RULE(at, called) ->
				fresh(at, called, d, NONE, NONE);
				printf("the tool makes a directory %e in %e\n", called, name[at])
			:: call == symlink && DIR(at) && there == NONE && MAY_SYMLINK ->
				fresh(at, called, l, NONE, G);
				printf("the tool makes a symlink %e in %e\n", called, name[at])
			:: call == create && DIR(at) && there == NONE && !PIN(at, called) ->
				fresh(at, called, f, NONE, NONE);
				printf("the tool makes a file %e in %e\n", called, name[at])
			:: call == link && DIR(at) && there == NONE && live[e] && kind[e] == f && !RULE(up[e], name[e]) && MAY_LINK ->
				fresh(at, called, f, node[e], NONE);
				printf("the tool links %e in %e to %e in %e\n", name[e], name[up[e]], called, name[at])
			:: call == rename && DIR(at) && there == NONE && live[e] && !WITHIN(at, e) && MAY_LEAVE && MAY_ARRIVE ->
				printf("the tool moves %e in %e to %e in %e\n", name[e], name[up[e]], called, name[at]);
				up[e] = at; name[e] = called
			:: call == remove && live[e] && MAY_REMOVE ->
				holds(e, filled);
				if
				:: !filled ->
					printf("the tool removes %e in %e\n", name[e], name[up[e]]);
					live[e] = false; up[e] = ROOT; name[e] = x; node[e] = 0; kind[e] = nil; goes[e] = 0
				:: else
				fi;
				filled = false
			:: call == open && live[e] && kind[e] == f && !RULE(up[e], name[e]) ->
				MUST(!secret[node[e]], "wrong: the secret is read\n")
			:: else
			fi;
			e = 0; at = 0; there = 0; call = nil; called = nil; da = 0; db = 0
		}
	}
	:: break
	od
}

/* into goes on to a directory, which it makes where nothing is; next is NONE for a file. */
inline into(called) {
	d_step {
		look(at, called, next);
		if
		:: next == NONE && SPARE && DIR(at) -> fresh(at, called, d, NONE, NONE); look(at, called, next)
		:: else
		fi;
		printf("the host goes to %e\n", called);
		if
		:: next != NONE && kind[next] == f -> next = NONE
		:: next != NONE && kind[next] == l -> at = goes[next]
		:: next != NONE && kind[next] == d -> at = next
		:: else
		fi
	}
}

/* The host writes to a/b/s twice, name by name. */
proctype Host() {
	byte at, next, times;
	do
	:: times < 2 ->
		times++;
		at = ROOT;
		into(a);
		if :: next == NONE -> break :: else fi;
		into(b);
		if :: next == NONE -> break :: else fi;
		d_step {
			look(at, s, next);
			if
			:: next != NONE && kind[next] == l ->
				at = goes[next];
				look(at, n, next);
				if
				:: next == NONE && SPARE && DIR(at) -> fresh(at, n, f, NONE, NONE); look(at, n, next)
				:: else
				fi
			:: next == NONE && SPARE && DIR(at) -> fresh(at, s, f, NONE, NONE); look(at, s, next)
			:: else
			fi;
			if
			:: next != NONE && kind[next] == f -> secret[node[next]] = true; printf("the host writes the secret\n")
			:: else
			fi;
			next = NONE; at = ROOT
		}
	:: break
	od
}

init {
	d_step {
		i2 = 1;
		do
		:: i2 == ENTRIES -> break
		:: i2 < ENTRIES -> name[i2] = nil; i2++
		od;
		i2 = 0;
		name[ROOT] = root; kind[ROOT] = d;
		entry(G, ROOT, g, G); kind[G] = d;
#ifdef LINKED
		entry(A, ROOT, a, A); kind[A] = d;
		entry(B, A, b, B); kind[B] = l; goes[B] = R;
		entry(R, ROOT, r, R); kind[R] = d;
#endif
	};
	atomic { run Thread(); run Host() }
}
