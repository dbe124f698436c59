/* Moves and links. Those of the tool are those that the policy permits: they take
 * rights away and give none. The supervisor makes them while no call holds the lock on
 * names; the host asks for no lock. */

#ifdef TOOL_CHANGES
#define TOOL_MOVES
#define TOOL_LINKS
#define TOOL_CARRIES
#endif
#ifdef HOST_CHANGES
#define HOST_SWAPS
#define HOST_MOVES
#define HOST_LINKS
#define HOST_REPLACES
#endif

#ifdef NO_LOCK
#define ALONE true
#else
#define ALONE (readers == 0 && !writing)
#endif

#define AT_ROOT(e) (live[e] && up[e] == ROOT)

inline rearrange() {
	if
#ifdef TOOL_MOVES
	:: d_step { ALONE && AT_ROOT(P) -> up[P] = D; printf("the tool moves p to d/p\n"); changed() }
#endif
#ifdef TOOL_LINKS
	:: d_step { ALONE && AT_ROOT(P) && name[X] == nil -> entry(X, D, p, P); printf("the tool links p to d/p\n"); changed() }
#endif
#ifdef TOOL_CARRIES
	:: d_step { ALONE && AT_ROOT(G) && name[G] == g -> up[G] = D; printf("the tool moves g to d/g\n"); changed() }
#endif
	:: false
	fi
}

#ifdef HOST
/* The host changes names HOST times. */
proctype Host() {
	byte left = HOST;
	do
	:: left == 0 -> break
	:: left > 0 ->
		left--;
		if
		:: true
#ifdef HOST_SWAPS
		:: d_step { AT_ROOT(G) -> name[G] = (name[G] == g -> d : g); name[D] = (name[D] == g -> d : g); printf("the host exchanges g and d\n"); changed() }
#endif
#ifdef HOST_MOVES
		:: d_step { AT_ROOT(P) -> up[P] = D; printf("the host moves p to d/p\n"); changed() }
		:: d_step { live[P] && up[P] == D -> up[P] = ROOT; printf("the host moves d/p to p\n"); changed() }
#endif
#ifdef HOST_LINKS
		:: d_step { AT_ROOT(P) && name[X] == nil -> entry(X, D, p, P); printf("the host links p to d/p\n"); changed() }
#endif
#ifdef HOST_REPLACES
		:: d_step { live[P] && name[X] == nil -> live[P] = false; entry(X, up[P], p, X); printf("the host replaces p\n"); changed() }
#endif
#ifdef HOST_OTHERS
		:: d_step { up[S] == D -> up[S] = G; name[S] = n; printf("the host moves d/f to g/n\n"); changed() }
		:: d_step { up[S] == G -> up[S] = D; name[S] = f; printf("the host moves g/n to d/f\n"); changed() }
		:: d_step { up[F] == G -> up[F] = D; name[F] = p; printf("the host moves g/f to d/p\n"); changed() }
#endif
		fi
	od
}
#endif
