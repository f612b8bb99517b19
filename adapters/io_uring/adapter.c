/*
 * io_uring's IORING_OP_POLL_ADD as an adapter of pollmatrix (docs/adapters.md). Build it with `make`.
 *
 * - one_shot is a poll, which ends with its completion; edge is a multishot poll.
 * - level is what programs without a multishot poll do: a poll that is made again at the start of the next wait after
 *   its completion.
 * - A completion has the state of the moment at which the poll completed. It is reported by the next wait, even if the
 *   state is another one by then.
 * - A modification is IORING_OP_POLL_REMOVE with IORING_POLL_UPDATE_EVENTS, or another poll if that is refused. A removal
 *   is IORING_OP_ASYNC_CANCEL.
 * - A failed poll is over. Its errno is the word of the event.
 */
#define _GNU_SOURCE
#include <adapter.h>

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

struct request {
    struct registration registration;
    unsigned interest;
    enum mode mode;
    __u64 id; /* of the poll in the kernel, 0 without one */
};

struct completion {
    __u64 id;
    int result;
    unsigned flags;
};

/* The ids of requests that are no registration's poll. */
enum { WATCH = 1, CONTROL = 2, FIRST = 16 };

static struct io_uring ring;
static __u64 last_id = FIRST;
static int is_watching; /* standard input */

/* The completions that are not reported yet. */
static struct completion *completions;
static size_t completion_count;

static const char *begin(void) {
    static char reason[64];
    /* Completions arrive only during a wait, so that their number does not depend on the scheduler (Linux 6.1). */
    int error = -io_uring_queue_init(256, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
    if (error == EINVAL)
        error = -io_uring_queue_init(256, &ring, 0);
    snprintf(reason, sizeof reason, "io_uring_setup: %s", strerror(error));
    is_watching = 0;
    return error ? reason : NULL;
}

static void end(void) {
    io_uring_queue_exit(&ring);
    completion_count = 0;
}

static struct io_uring_sqe *next_sqe(void) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    if (!sqe) { /* it is full: nothing was submitted since the ring was closed, or more than 256 polls are due */
        io_uring_submit(&ring);
        sqe = io_uring_get_sqe(&ring);
    }
    return sqe;
}

/* Prepares the poll of a registration. */
static int prepare(struct request *request) {
    struct io_uring_sqe *sqe = next_sqe();
    if (!sqe)
        return EBADF;
    if (request->mode == EDGE)
        io_uring_prep_poll_multishot(sqe, request->registration.fd, request->interest);
    else
        io_uring_prep_poll_add(sqe, request->registration.fd, request->interest);
    request->id = ++last_id;
    io_uring_sqe_set_data64(sqe, request->id);
    return 0;
}

/* Moves all completions out of the ring. Returns the result of the control request, if it is among them. */
static int take_completions(void) {
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;
    int control = -EINPROGRESS;
    io_uring_for_each_cqe(&ring, head, cqe) {
        count++;
        if (cqe->user_data == CONTROL) {
            control = cqe->res;
            continue;
        }
        completions = grown(completions, completion_count, sizeof *completions);
        completions[completion_count++] = (struct completion){cqe->user_data, cqe->res, cqe->flags};
    }
    io_uring_cq_advance(&ring, count);
    return control;
}

/* Waits until the ring has a completion. */
static int wait_for_completion(void) {
    struct io_uring_cqe *cqe;
    int waited = io_uring_wait_cqe(&ring, &cqe);
    return waited == -EINTR ? 0 : waited;
}

/* Submits a control request, and returns its result. */
static int control(struct io_uring_sqe *sqe) {
    io_uring_sqe_set_data64(sqe, CONTROL);
    int failed = io_uring_submit(&ring), result;
    while (failed >= 0 && (result = take_completions()) == -EINPROGRESS)
        failed = wait_for_completion();
    return failed < 0 ? failed : result;
}

/* Waits until the poll is over. It holds its file until then. */
static int outlive(__u64 id) {
    for (size_t i = 0;;) {
        for (; i < completion_count; i++)
            if (completions[i].id == id && !(completions[i].flags & IORING_CQE_F_MORE))
                return 0;
        int failed = wait_for_completion();
        if (failed < 0)
            return failed;
        take_completions();
    }
}

static int start(struct request *request) {
    int error = prepare(request);
    int submitted = error ? -error : io_uring_submit(&ring);
    return submitted < 0 ? -submitted : 0;
}

static int add(struct registration *registration, unsigned interest, enum mode mode) {
    struct request *request = (struct request *)registration;
    request->interest = interest;
    request->mode = mode;
    return start(request);
}

/* Ends the poll in the kernel, if there is one. Its completions are ignored from now on. */
static int cancel(struct request *request) {
    struct io_uring_sqe *sqe = request->id ? next_sqe() : NULL;
    if (!sqe)
        return request->id ? EBADF : 0;
    /* IORING_OP_POLL_REMOVE answers EALREADY beside an event, and a multishot poll then goes on. */
    io_uring_prep_cancel64(sqe, request->id, 0);
    int result = control(sqe);
    /* These errors: it is over, and its completion is not reported yet. */
    if (result == -ENOENT || result == -EALREADY || result == 0)
        result = outlive(request->id);
    request->id = 0;
    return -result;
}

static int modify(struct registration *registration, unsigned interest, enum mode mode) {
    struct request *request = (struct request *)registration;
    int is_same_kind = (mode == EDGE) == (request->mode == EDGE);
    struct io_uring_sqe *sqe = request->id && is_same_kind ? next_sqe() : NULL;
    if (sqe) {
        unsigned flags = IORING_POLL_UPDATE_EVENTS | IORING_POLL_UPDATE_USER_DATA;
        __u64 id = ++last_id;
        io_uring_prep_poll_update(sqe, request->id, id, interest, flags | (mode == EDGE ? IORING_POLL_ADD_MULTI : 0));
        int result = control(sqe);
        if (result == 0) {
            request->id = id;
            request->interest = interest;
            request->mode = mode;
        }
        if (result != -ENOENT && result != -EALREADY)
            return -result;
    }
    int error = cancel(request);
    return error ? error : add(registration, interest, mode);
}

static int remove_request(struct registration *registration) {
    int error = cancel((struct request *)registration);
    free(registration);
    return error;
}

static struct request *find(__u64 id) {
    for (struct registration *one = registrations; one; one = one->next)
        if (((struct request *)one)->id == id)
            return (struct request *)one;
    return NULL;
}

/* Reports at most `room` completions, the oldest first. Returns whether standard input has more. */
static int report_completions(size_t room, size_t *reported) {
    int has_input = 0;
    size_t kept = 0;
    for (size_t i = 0; i < completion_count; i++) {
        struct completion it = completions[i];
        struct request *request = find(it.id);
        if (it.id == WATCH) {
            is_watching = 0;
            /* It may be the input that this process has read since. */
            has_input |= poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) > 0;
        } else if (request && *reported == room) {
            completions[kept++] = it;
        } else if (request) {
            ++*reported;
            report(&request->registration, it.result < 0 ? -it.result : 0, it.result < 0 ? 0 : (unsigned)it.result);
            if (!(it.flags & IORING_CQE_F_MORE))
                request->id = 0;
            if (it.result < 0 || request->mode == ONE_SHOT)
                forget(&request->registration);
        }
    }
    completion_count = kept;
    return has_input;
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int wait_for_events(size_t room, double timeout) {
    double end = milliseconds() + timeout;
    size_t reported = 0;
    for (struct registration *one = registrations; one; one = one->next)
        if (!((struct request *)one)->id)
            prepare((struct request *)one);
    for (;;) {
        struct io_uring_sqe *sqe = is_watching ? NULL : next_sqe();
        if (sqe) {
            io_uring_prep_poll_add(sqe, 0, POLLIN);
            io_uring_sqe_set_data64(sqe, WATCH);
            is_watching = 1;
        }
        int submitted = io_uring_submit_and_get_events(&ring);
        if (submitted < 0 && submitted != -EINTR)
            return -submitted;
        take_completions();
        int has_input = report_completions(room, &reported);
        double left = timeout < 0 ? 1e9 : end - milliseconds();
        if (reported || has_input || !room || left <= 0)
            return 0;
        if (!is_watching)
            continue;
        struct io_uring_cqe *cqe;
        struct __kernel_timespec limit = {.tv_sec = (long long)(left / 1e3)};
        limit.tv_nsec = (long long)((left - (double)limit.tv_sec * 1e3) * 1e6) + 1;
        int waited = io_uring_wait_cqe_timeout(&ring, &cqe, &limit);
        if (waited < 0 && waited != -ETIME && waited != -EINTR)
            return -waited;
    }
}

static int close_ring(void) {
    if (ring.ring_fd < 0)
        return EBADF;
    int error = close(ring.ring_fd) ? errno : 0;
    /* The number may have another owner soon. */
    ring.ring_fd = ring.enter_ring_fd = -1;
    return error;
}

int main(void) {
    static const struct word words[] = {{"IN", POLLIN, "readable"}, {"PRI", POLLPRI, "urgent readable?"},
                                        {"OUT", POLLOUT, "writable"}, {"ERR", POLLERR, "error"},
                                        {"HUP", POLLHUP, "hang-up"}, {"NVAL", POLLNVAL, "error"},
                                        {"RDHUP", POLLRDHUP, "peer-shut"}, {0}};
    struct utsname system;
    uname(&system);
    system.release[strspn(system.release, "0123456789.")] = '\0';
    return serve(&(struct poller){
        .name = "io-uring", .version = system.release, .modes = 1 << LEVEL | 1 << EDGE | 1 << ONE_SHOT,
        .words = words,
        .interests = {[READ] = POLLIN, [WRITE] = POLLOUT, [URGENT] = POLLPRI, [PEER_SHUT] = POLLRDHUP},
        .limits_room = 1, .size = sizeof(struct request), .begin = begin, .end = end, .add = add, .modify = modify,
        .remove = remove_request, .wait = wait_for_events, .close = close_ring});
}
