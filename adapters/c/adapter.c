#include "adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A descriptor that was taken: its name, and our number, which it keeps after its close. */
struct taken {
    int name, fd, is_open;
};

struct event {
    char token[24];
    int error;
    unsigned bits;
};

struct registration *registrations;

static const struct poller *poller;
static const char *unavailable;
static long long spent; /* nanoseconds of the poller's calls for this command */

static struct taken *taken;
static size_t taken_count;
static struct event *events;
static size_t event_count;

static char input[1 << 16]; /* a line is shorter */
static size_t input_length;
static int arrived[64];
static size_t arrived_count;

static const char *const modes[MODES] = {"level", "edge", "one_shot"};
static const char *const interests[INTERESTS] = {"read", "write", "urgent", "peer_shut"};

void *grown(void *array, size_t count, size_t size) {
    array = realloc(array, (count + 1) * size);
    if (!array)
        abort();
    return array;
}

/* Returns the name of an error, or its number. */
static const char *error_name(int error) {
    static char number[16];
    static const struct { int number; const char *name; } names[] = {
#define NAME(name) {name, #name}
        NAME(EACCES), NAME(EAGAIN), NAME(EALREADY), NAME(EBADF), NAME(EBUSY), NAME(ECANCELED), NAME(EEXIST),
        NAME(EFAULT), NAME(EINTR), NAME(EINVAL), NAME(EIO), NAME(ELOOP), NAME(EMFILE), NAME(ENFILE), NAME(ENODEV),
        NAME(ENOENT), NAME(ENOMEM), NAME(ENOSPC), NAME(ENOSYS), NAME(ENOTSOCK), NAME(ENXIO), NAME(EOPNOTSUPP),
        NAME(EOVERFLOW), NAME(EPERM)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == error)
            return names[i].name;
    snprintf(number, sizeof number, "%d", error);
    return number;
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
        if (count < 0 && errno == EAGAIN) /* a library has set O_NONBLOCK */
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

/* Returns whether the text begins with the word in quotes. */
static int is_word(const char *text, const char *word) {
    size_t length = strlen(word);
    return *text == '"' && !strncmp(text + 1, word, length) && text[length + 1] == '"';
}

/* Adds the time from `clock_is(-1)` to `clock_is(1)` to what was spent. */
static void clock_is(int sign) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    spent += sign * (now.tv_sec * 1000000000LL + now.tv_nsec);
}

/* The result of a call, with its time. */
#define TIMED(call) (clock_is(-1), called = (call), clock_is(1), called)
static int called;

/* Ends an answer, with the time of the poller's calls. */
static void end_answer(void) {
    printf(",\"took\":{\"ns\":%lld}}\n", spent);
}

static void answer(int error) {
    if (error) {
        printf("{\"errno\":\"%s\"}\n", error_name(error));
    } else {
        printf("{\"ok\":{}");
        end_answer();
    }
}

void report(const struct registration *registration, int error, unsigned bits) {
    events = grown(events, event_count, sizeof *events);
    events[event_count] = (struct event){.error = error, .bits = bits};
    strcpy(events[event_count++].token, registration->token);
}

static void unlist(struct registration *registration) {
    struct registration **link = &registrations;
    while (*link != registration)
        link = &(*link)->next;
    *link = registration->next;
}

void forget(struct registration *registration) {
    unlist(registration);
    free(registration);
}

static void add(struct taken *it, unsigned interest, enum mode mode, const char *token) {
    struct registration *registration = memset(grown(NULL, 0, poller->size), 0, poller->size);
    registration->name = it->name;
    registration->fd = it->fd;
    strcpy(registration->token, token);
    int error = TIMED(poller->add(registration, interest, mode));
    if (error) {
        free(registration);
    } else {
        struct registration **link = &registrations;
        while (*link)
            link = &(*link)->next;
        *link = registration;
    }
    answer(error);
}

/* Changes the registration with the token, or else the oldest one. */
static void modify(int name, unsigned interest, enum mode mode, const char *token) {
    struct registration *found = NULL;
    for (struct registration *one = registrations; one; one = one->next)
        if (one->name == name && (!found || !strcmp(one->token, token)))
            found = one;
    if (found) {
        strcpy(found->token, token);
        answer(TIMED(poller->modify(found, interest, mode)));
    } else {
        answer(find(name) ? ENOENT : EBADF);
    }
}

static void add_or_modify(const char *line, int is_new) {
    char token[24] = "";
    sscanf(field(line, "token"), "\"%23[^\"]", token);
    const char *wanted = field(line, "interest"), *end = strchr(wanted, ']');
    unsigned interest = 0, has_any = 0, mode = 0;
    for (const char *quote = wanted; end && (quote = strchr(quote, '"')) && quote < end; quote++) {
        for (size_t i = 0; i < INTERESTS; i++) {
            interest |= is_word(quote, interests[i]) ? poller->interests[i] : 0;
            has_any |= is_word(quote, interests[i]);
        }
    }
    while (mode < MODES && !is_word(field(line, "mode"), modes[mode]))
        mode++;
    int name = atoi(field(line, "fd"));
    struct taken *it = find(name);
    if (mode == MODES || !(poller->modes & 1u << mode))
        printf("{\"unsupported\":\"%s has no such mode\"}\n", poller->name);
    else if (has_any && !interest)
        printf("{\"unsupported\":\"%s has no word for this interest\"}\n", poller->name);
    else if (!is_new)
        modify(name, interest, (enum mode)mode, token);
    else if (!it)
        answer(EBADF);
    else
        add(it, interest, (enum mode)mode, token);
}

/* Removes every registration of the name. */
static void remove_registrations(int name) {
    int error = ENOENT, is_found = 0;
    for (struct registration *one = registrations, *next; one; one = next) {
        next = one->next;
        if (one->name != name)
            continue;
        unlist(one);
        int failed = TIMED(poller->remove(one));
        error = is_found && error ? error : failed;
        is_found = 1;
    }
    answer(error);
}

/* Returns the number of the descriptor that has arrived, moved to this number if that is not negative. */
static int received(int at) {
    int fd = arrived[0];
    memmove(arrived, arrived + 1, --arrived_count * sizeof *arrived);
    if (at < 0)
        return fd;
    errno = EBUSY;
    int moved = fcntl(at, F_GETFD) < 0 ? dup2(fd, at) : -1;
    int error = errno;
    close(fd);
    errno = error;
    return moved;
}

static void take(int name, const char *at) {
    int fd = received(*at ? atoi(at) : -1);
    if (fd < 0) {
        answer(errno);
        return;
    }
    struct taken *it = find(name);
    if (!it) {
        taken = grown(taken, taken_count, sizeof *taken);
        it = &taken[taken_count++];
    }
    /* Registrations of an earlier descriptor of this name stay, and have no name any more. */
    for (struct registration *one = registrations; one; one = one->next)
        if (one->name == name)
            one->name = -1;
    *it = (struct taken){name, fd, 1};
    answer(0);
}

static void wait_for_events(const char *line, int has_more_input) {
    size_t room = strtoul(field(line, "room"), NULL, 10);
    const char *limit = field(line, "timeout_ms");
    double timeout = !strncmp(limit, "null", 4) ? -1 : strtod(limit, NULL);
    event_count = 0;
    int error = TIMED(poller->wait(room, has_more_input ? 0 : timeout));
    if (error) {
        answer(error);
        return;
    }
    printf("{\"events\":[");
    for (size_t i = 0; i < event_count; i++) {
        printf("%s{\"token\":\"%s\",\"says\":[", i ? "," : "", events[i].token);
        const char *separator = "";
        if (events[i].error) {
            printf("\"%s\"", error_name(events[i].error));
            separator = ",";
        }
        for (const struct word *word = poller->words; word->name; word++) {
            if (events[i].bits & word->bit) {
                printf("%s\"%s\"", separator, word->name);
                separator = ",";
            }
        }
        printf("]}");
    }
    putchar(']');
    end_answer();
}

static void reset(void) {
    while (registrations) {
        struct registration *first = registrations;
        unlist(first);
        poller->remove(first);
    }
    poller->end();
    for (size_t i = 0; i < taken_count; i++)
        if (taken[i].is_open)
            close(taken[i].fd);
    taken_count = 0;
    if (poller->begin())
        abort();
    answer(0);
}

static void hello(void) {
    if (unavailable) {
        printf("{\"unsupported\":\"%s\"}\n", unavailable);
        return;
    }
    printf("{\"hello\":{\"protocol\":1,\"name\":\"%s\",\"version\":\"%s\"", poller->name, poller->version);
    if (poller->over)
        printf(",\"over\":\"%s\"", poller->over);
    printf(",\"words\":{");
    const char *separator = "";
    for (const struct word *word = poller->words; word->name; word++) {
        printf("%s\"%s\":\"%s\"", separator, word->name, word->means);
        separator = ",";
    }
    printf("},\"modes\":[");
    separator = "";
    for (size_t i = 0; i < MODES; i++) {
        if (poller->modes & 1u << i) {
            printf("%s\"%s\"", separator, modes[i]);
            separator = ",";
        }
    }
    printf("],\"wake\":true,\"reset\":true,\"room\":%s,\"times\":true,\"numbers\":true}}\n",
           poller->limits_room ? "true" : "false");
}

static void close_copy(struct taken *it) { /* and nothing else: its registrations stay */
    answer(TIMED(close(it->fd) ? errno : 0));
    it->is_open = 0;
}

static void obey(const char *line, int has_more_input) {
    char command[16] = "";
    sscanf(line, " { \"%15[a-z_]\" : {", command);
    int name = atoi(field(line, "fd"));
    struct taken *it = find(name);
    spent = 0;
    if (!strcmp(command, "hello"))
        hello();
    else if (!strcmp(command, "take") && arrived_count)
        take(name, field(line, "at"));
    else if (!strcmp(command, "add") || !strcmp(command, "modify"))
        add_or_modify(line, *command == 'a');
    else if (!strcmp(command, "remove"))
        remove_registrations(name);
    else if (!strcmp(command, "closed") && it)
        close_copy(it);
    else if (!strcmp(command, "wait"))
        wait_for_events(line, has_more_input);
    else if (!strcmp(command, "wake")) /* which has ended the wait by being there */
        answer(0);
    else if (!strcmp(command, "reset"))
        reset();
    else if (!strcmp(command, "close") && poller->close)
        answer(poller->close());
    else if (!strcmp(command, "close"))
        printf("{\"unsupported\":\"%s\"}\n", poller->no_close);
    else
        printf("{\"unknown\":\"%s\"}\n", command);
}

int serve(const struct poller *served) {
    poller = served;
    unavailable = poller->begin();
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
