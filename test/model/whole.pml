/* Opens where reading is not judged: all below g may be read, and the file p, and
 * nothing is withheld below either. The ruleset grants both, and the kernel opens by
 * itself, so that a call which is continued is the same as one that is not trapped. */

#define G 1 /* g */
#define D 2 /* d */
#define F 3 /* g/f */
#define S 4 /* d/f */
#define P 5 /* p */
#define X 6 /* made during the run */
#define ENTRIES 7

#define GRANTED(e) (TOP(e) == g || TOP(e) == p)
#define RULED(i) (i == G || i == P)

#include "tree.pml"
#include "calls.pml"
#include "changes.pml"

inline open() {
	begins();
	copy();
	walk();
	if
	:: obj != NONE && FLOOR(obj) ->
		d_step {
			printf("thread %d opens %e/%e, %e\n", t, TOP(obj), name[obj], continued);
			MUST((seen[t] >> obj) & 1, "wrong: done though denied\n");
			ends()
		}
	:: obj == NONE || !FLOOR(obj) -> refused()
	fi
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
	:: writes(g, n)
	:: writes(x, nil)
	:: retargets(g)
	:: retargets(d)
	:: d_step { up[F] == G -> up[F] = ROOT; name[F] = x; printf("the tool moves g/f to x\n"); changed() }
	:: rearrange()
	:: break
	od
}

init {
	atomic {
		name[X] = nil;
		entry(G, ROOT, g, G); entry(D, ROOT, d, D); entry(F, G, f, F); entry(S, D, f, S);
		entry(P, ROOT, p, P);
		run Thread(0); run Thread(1);
#ifdef HOST
		run Host();
#endif
	}
}
