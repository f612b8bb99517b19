/*
 * libuv's uv_poll_t as an adapter of pollmatrix (docs/adapters.md). Build it with `make`.
 *
 * uv_poll_t has level mode only, and uv_run() has no limit of events.
 */
#include <adapter.h>

#include <stdlib.h>
#include <uv.h>

struct watcher {
    struct registration registration;
    uv_poll_t poll;
};

static uv_loop_t loop;
static uv_timer_t timer;
static uv_poll_t watch; /* of standard input */
static int has_event, expired, has_input;

static void on_timer(uv_timer_t *handle) {
    (void)handle;
    expired = 1;
}

static void on_input(uv_poll_t *handle, int status, int words) {
    (void)handle, (void)status, (void)words;
    has_input = 1;
}

static void on_event(uv_poll_t *handle, int status, int words) {
    has_event = 1;
    report(handle->data, -status, (unsigned)words);
}

static void on_closed(uv_handle_t *handle) {
    free(handle->data);
}

static const char *begin(void) {
    if (uv_loop_init(&loop) || uv_timer_init(&loop, &timer) || uv_poll_init_socket(&loop, &watch, 0))
        abort();
    uv_poll_start(&watch, UV_READABLE, on_input);
    return NULL;
}

static void end(void) {
    uv_close((uv_handle_t *)&timer, NULL);
    uv_close((uv_handle_t *)&watch, NULL);
    uv_run(&loop, UV_RUN_DEFAULT); /* it calls the callbacks of the closed handles */
    if (uv_loop_close(&loop))
        abort();
}

static int modify(struct registration *registration, unsigned interest, enum mode mode) {
    (void)mode;
    return -uv_poll_start(&((struct watcher *)registration)->poll, (int)interest, on_event);
}

static int add(struct registration *registration, unsigned interest, enum mode mode) {
    struct watcher *watcher = (struct watcher *)registration;
    int status = uv_poll_init(&loop, &watcher->poll, registration->fd);
    if (status)
        return -status;
    watcher->poll.data = watcher;
    /* uv_poll_init() has made the only check that could fail. */
    return modify(registration, interest, mode);
}

static int remove_watcher(struct registration *registration) {
    uv_close((uv_handle_t *)&((struct watcher *)registration)->poll, on_closed);
    return 0;
}

static int wait_for_events(size_t room, double timeout) {
    (void)room;
    has_event = 0, expired = 0, has_input = 0;
    if (timeout == 0) {
        uv_run(&loop, UV_RUN_NOWAIT);
        return 0;
    }
    uv_update_time(&loop);
    if (timeout > 0) /* libuv's clock and its timers have whole milliseconds: round up, twice */
        uv_timer_start(&timer, on_timer, (uint64_t)timeout + 2, 0);
    while (!has_event && !expired && !has_input)
        uv_run(&loop, UV_RUN_ONCE);
    uv_timer_stop(&timer);
    return 0;
}

int main(void) {
    static const struct word words[] = {{"READABLE", UV_READABLE, "readable"}, {"WRITABLE", UV_WRITABLE, "writable"},
                                        {"DISCONNECT", UV_DISCONNECT, "peer-shut"},
                                        {"PRIORITIZED", UV_PRIORITIZED, "urgent"}, {0}};
    return serve(&(struct poller){
        .name = "libuv", .version = uv_version_string(), .over = SYSTEM_QUEUE, .modes = 1 << LEVEL, .words = words,
        .interests = {[READ] = UV_READABLE, [WRITE] = UV_WRITABLE, [URGENT] = UV_PRIORITIZED,
                      [PEER_SHUT] = UV_DISCONNECT},
        .size = sizeof(struct watcher), .begin = begin, .end = end, .add = add, .modify = modify,
        .remove = remove_watcher, .wait = wait_for_events,
        .no_close = "uv_loop_close() needs a loop without handles"});
}
