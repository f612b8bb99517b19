/*
 * libev's ev_io as an adapter of pollmatrix (docs/adapters.md): adapter epoll | poll | select. Build it with `make`.
 *
 * ev_io has level mode only, and ev_run() has no limit of events. ev_io_start() changes nothing in the kernel until
 * the loop runs. If the kernel refuses the descriptor then, libev stops the watcher and reports EV_ERROR.
 */
#include <adapter.h>

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watcher {
    struct registration registration;
    ev_io io;
};

static struct ev_loop *loop;
static unsigned backend;
static ev_timer timer;
static ev_io watch; /* of standard input */
static int has_event, expired, has_input;

static void on_timer(struct ev_loop *unused, ev_timer *expiring, int words) {
    (void)unused, (void)expiring, (void)words;
    expired = 1;
}

static void on_input(struct ev_loop *unused, ev_io *io, int words) {
    (void)unused, (void)io, (void)words;
    has_input = 1;
}

static void on_event(struct ev_loop *unused, ev_io *io, int words) {
    (void)unused;
    has_event = 1;
    report(io->data, 0, (unsigned)words);
}

static const char *begin(void) {
    if (!(ev_supported_backends() & backend))
        return "libev has no such backend here";
    loop = ev_loop_new(backend | EVFLAG_NOENV);
    if (!loop)
        return "ev_loop_new() failed";
    ev_init(&timer, on_timer);
    ev_io_init(&watch, on_input, 0, EV_READ);
    ev_io_start(loop, &watch);
    return NULL;
}

static void end(void) {
    ev_io_stop(loop, &watch);
    ev_loop_destroy(loop);
}

static int add(struct registration *registration, unsigned interest, enum mode mode) {
    (void)mode;
    ev_io *io = &((struct watcher *)registration)->io;
    ev_io_init(io, on_event, registration->fd, (int)interest);
    io->data = registration;
    ev_io_start(loop, io);
    return 0;
}

static int modify(struct registration *registration, unsigned interest, enum mode mode) {
    ev_io_stop(loop, &((struct watcher *)registration)->io);
    return add(registration, interest, mode);
}

static int remove_watcher(struct registration *registration) {
    ev_io_stop(loop, &((struct watcher *)registration)->io);
    free(registration);
    return 0;
}

static int wait_for_events(size_t room, double timeout) {
    (void)room;
    has_event = 0, expired = 0, has_input = 0;
    if (timeout == 0) {
        ev_run(loop, EVRUN_NOWAIT);
        return 0;
    }
    if (timeout > 0) {
        ev_now_update(loop);
        ev_timer_set(&timer, timeout / 1000, 0);
        ev_timer_start(loop, &timer);
    }
    while (!has_event && !expired && !has_input)
        ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &timer);
    return 0;
}

int main(int count, char **arguments) {
    static const struct { const char *argument, *name; unsigned backend; } columns[] = {
        {"epoll", "libev-epoll", EVBACKEND_EPOLL}, {"poll", "libev-poll", EVBACKEND_POLL},
        {"select", "libev-select", EVBACKEND_SELECT}};
    static const struct word words[] = {{"READ", EV_READ, "readable"}, {"WRITE", EV_WRITE, "writable"},
                                        {"ERROR", (unsigned)EV_ERROR, "error"}, {0}};
    const char *name = NULL;
    char version[32];
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (count == 2 && !strcmp(arguments[1], columns[i].argument)) {
            name = columns[i].name;
            backend = columns[i].backend;
        }
    }
    if (!name) {
        fprintf(stderr, "adapter epoll | poll | select\n");
        return 2;
    }
    snprintf(version, sizeof version, "%d.%d", ev_version_major(), ev_version_minor());
    return serve(&(struct poller){
        .name = name, .version = version, .over = arguments[1], .modes = 1 << LEVEL, .words = words,
        .interests = {[READ] = EV_READ, [WRITE] = EV_WRITE},
        .size = sizeof(struct watcher), .begin = begin, .end = end, .add = add, .modify = modify,
        .remove = remove_watcher, .wait = wait_for_events,
        .no_close = "libev has no close: ev_loop_destroy() frees the loop"});
}
