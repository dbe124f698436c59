/* Opens that wait for another process, as those of fifos do, beside moves that wait for
 * the lock on names. No call may wait for ever on the supervisor's account: Spin reports an
 * end in which a process waits as an invalid end state. */

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef PATIENT
#define PATIENT 1
#endif

byte workers = WORKERS;
byte patient = PATIENT; /* how many calls may wait for another process at a time */
byte readers;           /* calls that hold the lock on names together */
bool wanted, writing;   /* a move wants the lock alone, which lets no other in; has it */

#define READING 0
#define WRITING 1
byte ends[4];           /* by fifo and side: open, or being opened */
#define END(fifo, side) ends[fifo * 2 + side]

inline wait(fifo, side) {
	d_step { END(fifo, side)++; printf("side %d of fifo %d waits for the other\n", side, fifo) };
	END(fifo, 1 - side) > 0
}

inline open(fifo, side) {
	atomic { workers > 0 -> workers-- };
	atomic { !wanted && !writing -> readers++ };
	/* Here it is resolved and judged. */
#ifdef ONE_POOL
	readers--;
	wait(fifo, side);
	workers++
#else
#ifndef HOLD_LOCK
	readers--;
#endif
	if
	:: atomic { patient > 0 -> patient--; workers++ };
		wait(fifo, side);
		patient++
	:: atomic { patient == 0 -> workers++ };
		/* EAGAIN. The tool then opens without waiting. */
		END(fifo, side)++
	fi
#ifdef HOLD_LOCK
	; readers--
#endif
#endif
}

inline move() {
	atomic { workers > 0 -> workers-- };
	d_step { !wanted -> wanted = true; printf("a move wants the lock\n") };
	atomic { readers == 0 -> writing = true };
	/* Here it is judged and made. */
	atomic { writing = false; wanted = false; workers++ }
}

active proctype First() { open(0, READING) }
active proctype Second() { open(1, READING) }
active proctype Third() { open(0, WRITING); open(1, WRITING) }
active proctype Mover() { move(); move() }
