/*
 * libuv's uv_poll_t as a subject of pollmatrix (docs/subjects.md). Build it with `make`.
 *
 * uv_poll_t has level mode only, and uv_run() has no limit of events. Version 1 of the protocol has no word for
 * the latter: events beyond the room are dropped there, and the next wait reports them again.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

struct registration {
    uv_poll_t poll; /* first: libuv returns a pointer to it */
    char token[24];
};

/* A descriptor that was taken: its name, our number, and its registration. */
struct taken {
    int name, fd;
    struct registration *registration;
};

struct event {
    const struct registration *registration;
    int status, words;
};

static uv_loop_t loop;
static uv_timer_t timer;
static uv_poll_t watch; /* of standard input */
static int expired, has_input, protocol = 1;

static struct taken *taken;
static size_t taken_count;
static struct event *events;
static size_t event_count;

static char input[1 << 16]; /* a line is shorter */
static size_t input_length;
static int arrived[64];
static size_t arrived_count;

static void *grown(void *array, size_t count, size_t size) {
    array = realloc(array, (count + 1) * size);
    if (!array)
        abort();
    return array;
}

static struct taken *find(int name) {
    for (size_t i = 0; i < taken_count; i++)
        if (taken[i].name == name)
            return &taken[i];
    return NULL;
}

/* Reads from standard input until it has a line. Exits at its end. */
static void read_line(void) {
    while (!memchr(input, '\n', input_length)) {
        char control[CMSG_SPACE(sizeof arrived)];
        struct iovec part = {input + input_length, sizeof input - input_length};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        ssize_t count = recvmsg(0, &message, 0);
        if (count < 0 && errno == EAGAIN) /* uv_poll_init() has set O_NONBLOCK */
            poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, -1);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count <= 0)
            exit(count < 0);
        input_length += (size_t)count;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
            if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                continue;
            size_t bytes = c->cmsg_len - CMSG_LEN(0);
            memcpy(arrived + arrived_count, CMSG_DATA(c), bytes);
            arrived_count += bytes / sizeof(int);
        }
    }
}

/* Returns the text after `"key":`, or an empty text. */
static const char *field(const char *line, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) + strspn(found + strlen(quoted), ": ") : "";
}

static void on_timer(uv_timer_t *handle) {
    (void)handle;
    expired = 1;
}

static void on_input(uv_poll_t *handle, int status, int words) {
    (void)handle, (void)status, (void)words;
    has_input = 1;
}

static void on_event(uv_poll_t *handle, int status, int words) {
    events = grown(events, event_count, sizeof *events);
    events[event_count++] = (struct event){(struct registration *)handle, status, words};
}

static void on_closed(uv_handle_t *handle) {
    free(handle);
}

static void answer(int status) {
    if (status)
        printf("{\"errno\":\"%s\"}\n", uv_err_name(status));
    else
        puts("{\"ok\":{}}");
}

static void add_or_modify(const char *line, int is_new) {
    static const struct { const char *name; int word; } interests[] = {
        {"\"read\"", UV_READABLE}, {"\"write\"", UV_WRITABLE},
        {"\"urgent\"", UV_PRIORITIZED}, {"\"peer_shut\"", UV_DISCONNECT}};
    const char *wanted = field(line, "interest"), *end = strchr(wanted, ']');
    int words = 0;
    for (size_t i = 0; i < sizeof interests / sizeof *interests; i++) {
        const char *found = strstr(wanted, interests[i].name);
        words |= found && found < end ? interests[i].word : 0;
    }
    if (strncmp(field(line, "mode"), "\"level\"", 7)) {
        puts("{\"unsupported\":\"uv_poll_t has level mode only\"}");
        return;
    }
    struct taken *it = find(atoi(field(line, "fd")));
    if (!it || (!is_new && !it->registration)) {
        answer(it ? UV_ENOENT : UV_EBADF);
        return;
    }
    struct registration *registration = it->registration;
    if (is_new) {
        registration = grown(NULL, 0, sizeof *registration);
        int status = uv_poll_init(&loop, &registration->poll, it->fd);
        if (status) {
            free(registration);
            answer(status);
            return;
        }
        it->registration = registration;
    }
    sscanf(field(line, "token"), "\"%23[^\"]", registration->token);
    answer(uv_poll_start(&registration->poll, words, on_event));
}

static void remove_registration(struct taken *it) {
    if (it && it->registration) {
        uv_close((uv_handle_t *)&it->registration->poll, on_closed);
        it->registration = NULL;
        answer(0);
    } else {
        answer(UV_ENOENT);
    }
}

static void take(int name) {
    struct taken *it = find(name);
    if (!it) {
        taken = grown(taken, taken_count, sizeof *taken);
        it = &taken[taken_count++];
    }
    *it = (struct taken){.name = name, .fd = arrived[0]};
    memmove(arrived, arrived + 1, --arrived_count * sizeof *arrived);
    answer(0);
}

static void wait_for_events(const char *line, int has_more_input) {
    size_t room = strtoul(field(line, "room"), NULL, 10);
    const char *limit = field(line, "timeout_ms");
    double timeout = strtod(limit, NULL);
    event_count = 0, expired = 0, has_input = 0;
    if (has_more_input || (timeout <= 0 && strncmp(limit, "null", 4))) {
        uv_run(&loop, UV_RUN_NOWAIT);
    } else {
        uv_update_time(&loop);
        if (timeout > 0) /* libuv's clock and its timers have whole milliseconds: round up, twice */
            uv_timer_start(&timer, on_timer, (uint64_t)timeout + 2, 0);
        while (!event_count && !expired && !has_input)
            uv_run(&loop, UV_RUN_ONCE);
        uv_timer_stop(&timer);
    }
    printf("{\"events\":[");
    for (size_t i = 0; i < event_count && (i < room || protocol > 1); i++) {
        static const struct { const char *name; int word; } words[] = {
            {"READABLE", UV_READABLE}, {"WRITABLE", UV_WRITABLE},
            {"DISCONNECT", UV_DISCONNECT}, {"PRIORITIZED", UV_PRIORITIZED}};
        printf("%s{\"token\":\"%s\",\"says\":[", i ? "," : "", events[i].registration->token);
        const char *separator = "";
        if (events[i].status) {
            printf("\"%s\"", uv_err_name(events[i].status));
            separator = ",";
        }
        for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
            if (events[i].words & words[j].word) {
                printf("%s\"%s\"", separator, words[j].name);
                separator = ",";
            }
        }
        printf("]}");
    }
    puts("]}");
}

static void begin(void) {
    if (uv_loop_init(&loop) || uv_timer_init(&loop, &timer) || uv_poll_init_socket(&loop, &watch, 0))
        abort();
    uv_poll_start(&watch, UV_READABLE, on_input);
}

static void close_handle(uv_handle_t *handle, void *unused) {
    (void)unused;
    int is_own = handle == (uv_handle_t *)&timer || handle == (uv_handle_t *)&watch;
    if (!uv_is_closing(handle))
        uv_close(handle, is_own ? NULL : on_closed);
}

static void reset(void) {
    uv_walk(&loop, close_handle, NULL);
    uv_run(&loop, UV_RUN_DEFAULT); /* it calls the callbacks of the closed handles */
    if (uv_loop_close(&loop))
        abort();
    for (size_t i = 0; i < taken_count; i++)
        if (taken[i].fd >= 0)
            close(taken[i].fd);
    taken_count = 0;
    begin();
    answer(0);
}

static void close_copy(struct taken *it) { /* and nothing else: its registration stays */
    answer(close(it->fd) ? -errno : 0);
    it->fd = -1;
}

static void obey(const char *line, int has_more_input) {
    char command[16] = "";
    sscanf(line, " { \"%15[a-z_]\" : {", command);
    int name = atoi(field(line, "fd"));
    struct taken *it = find(name);
    if (!strcmp(command, "hello")) {
        protocol = atoi(field(line, "up_to")) > 1 ? 2 : 1;
        printf("{\"hello\":{\"protocol\":%d,\"name\":\"libuv\",\"version\":\"%s\"", protocol, uv_version_string());
        printf(",\"modes\":[\"level\"],\"wake\":true%s}}\n", protocol > 1 ? ",\"reset\":true,\"room\":false" : "");
    } else if (!strcmp(command, "take") && arrived_count) {
        take(name);
    } else if (!strcmp(command, "add") || !strcmp(command, "modify")) {
        add_or_modify(line, *command == 'a');
    } else if (!strcmp(command, "remove")) {
        remove_registration(it);
    } else if (!strcmp(command, "closed") && it) {
        close_copy(it);
    } else if (!strcmp(command, "wait")) {
        wait_for_events(line, has_more_input);
    } else if (!strcmp(command, "wake")) { /* which has ended the wait by being there */
        answer(0);
    } else if (!strcmp(command, "reset")) {
        reset();
    } else if (!strcmp(command, "close")) {
        puts("{\"unsupported\":\"uv_loop_close() needs a loop without handles\"}");
    } else {
        printf("{\"unknown\":\"%s\"}\n", command);
    }
}

int main(void) {
    begin();
    for (;;) {
        read_line();
        char *end = memchr(input, '\n', input_length);
        *end = '\0';
        size_t used = (size_t)(end + 1 - input);
        obey(input, input_length > used);
        fflush(stdout);
        memmove(input, input + used, input_length -= used);
    }
}
