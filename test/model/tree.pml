/* Names, directories and files. The model that includes this defines
 *
 *	ENTRIES   the number of entries, the root among them
 *	RULED(i)  whether the ruleset has a rule on inode i
 *
 * An entry is a name in a directory, as a dentry of the kernel is: a descriptor pins it, a
 * rename carries it elsewhere, and it has one place at a time. Several entries may be of
 * one inode. The policy speaks of places and the ruleset of inodes, which is how the two
 * come apart once something moves. */

mtype = { nil, root, a, b, d, f, g, l, n, o, p, r, s, x, fd, continued, handed };

#define ROOT 0
#define NONE 15

byte up[ENTRIES];    /* the directory that the name is in */
mtype name[ENTRIES]; /* nil until the entry is made */
byte node[ENTRIES];  /* the inode */
bool live[ENTRIES];  /* false once the name is removed */

/* TOP is the first name on the way from the root, which says in which region of the policy an
 * entry lies; no tree of these models is deeper. A removed entry keeps the name that it
 * had in its directory, as in /proc/PID/fd. */
#define TOP(e) (up[e] == ROOT -> name[e] : (up[up[e]] == ROOT -> name[up[e]] : name[up[up[e]]]))

/* FLOOR is the answer of the ruleset: a rule on the inode or on a directory above it. */
#define FLOOR(e) (RULED(node[e]) || RULED(node[up[e]]) || RULED(node[up[up[e]]]))

byte i1; /* of loops within one step */

/* look finds the entry of a name in a directory, or NONE. */
inline look(at, called, out) {
	out = NONE;
	i1 = 1;
	do
	:: i1 == ENTRIES -> break
	:: i1 < ENTRIES ->
		if
		:: live[i1] && up[i1] == at && name[i1] == called -> out = i1
		:: else
		fi;
		i1++
	od;
	i1 = 0
}

inline entry(e, at, called, inode) {
	up[e] = at; name[e] = called; node[e] = inode; live[e] = true
}

/* MUST ends the search with a line that names the error. */
#define MUST(ok, wrong) if :: !(ok) -> printf(wrong); assert(false) :: else fi
