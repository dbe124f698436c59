/* Calls that wait for the user, who grants and revokes while the tool runs. Each call needs A, a
 * grant until it is revoked, and B, which is granted for one call. The user's answers are made
 * one after the other, under a lock of their own; calls are judged and made under the lock on
 * names, which a view is exchanged with alone. */

#define MUST(holds, text) if :: !(holds) -> printf(text); assert(false) :: else fi

byte readers;  /* calls that hold the lock on names together */
bool writing;  /* the user has it alone */
bool user;     /* an answer or a revocation is being made */
bool inForce;  /* A is in the view by which calls are judged */
bool everA;    /* A was granted once: it is not asked for again */
bool answered; /* the revocation of A was answered */
byte asked;    /* the thread that asks about A, 0 for none */
byte onceAsked;/* the thread that asks about B */
byte once;     /* the thread that B is granted to for one call */
byte given, used; /* how often B was granted, and used */

inline share() { atomic { !writing -> readers++ } }
inline leave() { readers-- }

inline exchange(to) {
#ifdef NO_LOCK
	inForce = to
#else
	atomic { !writing && readers == 0 -> writing = true };
	inForce = to;
	writing = false
#endif
}

/* judge is the view now and, for B, the permission of the call alone. */
inline judge() {
	a = inForce;
#ifdef OLD_VIEW
	/* The policy for B was computed when it was asked for. */
	a = a || (once == t && kept);
#endif
#ifdef ONCE_FOR_ALL
	b = once != 0
#else
	b = (once == t)
#endif
}

proctype Thread(byte t) {
	bool a, b, kept, gone;
	byte calls = 0, tries;
	do
	:: calls < 2 ->
		calls++;
		tries = 0;
		gone = false;
		kept = false;
		do
		:: share();
			judge();
			if
			:: a && b ->
				/* It is made. */
				d_step {
					printf("thread %d makes its call\n", t);
					used++;
					MUST(!answered, "wrong: used after its revocation was answered\n");
					MUST(used <= given, "wrong: used more often than granted\n")
				};
				leave();
				gone = true
			:: else ->
#ifndef HOLD_LOCK
				leave();
#endif
				if
				:: tries == 2 || (!a && everA) -> gone = true /* refused */
				:: tries < 2 && !a && !everA -> tries++;
					atomic { !user && (asked == 0 || everA) -> if :: everA :: else -> asked = t fi };
					asked != t
				:: tries < 2 && a && !b -> tries++;
					kept = a;
					atomic { !user && onceAsked == 0 -> onceAsked = t };
					onceAsked != t
				fi;
#ifdef HOLD_LOCK
				leave()
#endif
			fi;
			if
			:: gone -> break
			:: else
			fi
		od;
		/* The call ends, and with it the permission for it alone. */
#ifndef ONCE_KEPT
		atomic { if :: once == t -> once = 0 :: else fi }
#endif
	:: break
	od
}

active proctype User() {
end:	do
	:: atomic { asked != 0 && !user -> user = true };
		everA = true;
		exchange(true);
		atomic { asked = 0; user = false }
	:: atomic { onceAsked != 0 && once == 0 && !user -> user = true };
		given++;
		atomic { once = onceAsked; onceAsked = 0; user = false }
	:: atomic { inForce && !user -> user = true };
		exchange(false);
		atomic { printf("the revocation is answered\n"); answered = true; user = false }
	od
}

init { atomic { run Thread(1); run Thread(2) } }
