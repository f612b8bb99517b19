/*
 * The part that the adapters in C share: the lines of the protocol (docs/adapters.md), the descriptors that come with
 * them, and the list of registrations. An adapter describes its poller, and calls serve().
 */
#ifndef POLLMATRIX_ADAPTER_H
#define POLLMATRIX_ADAPTER_H

#include <stddef.h>

enum mode { LEVEL, EDGE, ONE_SHOT, MODES };
enum interest { READ, WRITE, URGENT, PEER_SHUT, INTERESTS };

/* The first member of a poller's own structure. The pointers and the name belong to adapter.c. */
struct registration {
    struct registration *next;
    int name, fd; /* the descriptor in the protocol, and ours */
    char token[24];
};

/* A word of an event, its bit, and what it means. The last one of an array has no name. */
struct word {
    const char *name;
    unsigned bit;
    const char *means;
};

/* The interface below libraries that use the system's queue. */
#ifdef __linux__
#define SYSTEM_QUEUE "epoll"
#else
#define SYSTEM_QUEUE "kqueue"
#endif

struct poller {
    const char *name, *version, *over; /* without `over`, it is over another interface than those of the protocol */
    unsigned modes;                /* 1 << LEVEL | ... */
    unsigned interests[INTERESTS]; /* the library's bits, 0 where it has none */
    const struct word *words;
    int limits_room;
    size_t size; /* of a registration */
    /* Creates the poller. It must also watch standard input. Returns a reason if this system has no such poller. */
    const char *(*begin)(void);
    /* Frees the poller, which has no registration any more. */
    void (*end)(void);
    /* These return an errno, or 0. If `add` fails, adapter.c frees the registration. */
    int (*add)(struct registration *, unsigned interest, enum mode);
    int (*modify)(struct registration *, unsigned interest, enum mode);
    /* Ends the registration, and frees it now or later. */
    int (*remove)(struct registration *);
    /*
     * Waits until it has called report(), the time is over, or standard input has more. A negative timeout, in
     * milliseconds, is none.
     */
    int (*wait)(size_t room, double timeout);
    /* Closes the poller's descriptor. Without it, `no_close` is the reason. */
    int (*close)(void);
    const char *no_close;
};

/* All registrations, the oldest first. */
extern struct registration *registrations;

/* Adds an event to the answer of the wait. */
void report(const struct registration *, int error, unsigned bits);

/* Takes a registration that the poller has ended by itself from the list, and frees it. */
void forget(struct registration *);

/* Returns the array with memory for one more element. */
void *grown(void *array, size_t count, size_t size);

/* Obeys commands until standard input ends. */
int serve(const struct poller *);

#endif
