/* A poller that answers errors for which adapter.c has no name. The test of adapters/c compiles it. */
#include <adapter.h>

#include <errno.h>

static const char *begin(void) {
    return NULL;
}

static void end(void) {}

/* The first registration succeeds. */
static int add(struct registration *registration, unsigned interest, enum mode mode) {
    (void)registration, (void)interest, (void)mode;
    return registrations ? EILSEQ : 0;
}

static int remove_registration(struct registration *registration) {
    forget(registration);
    return 0;
}

static int wait_for_events(size_t room, double timeout) {
    (void)room, (void)timeout;
    report(registrations, EILSEQ, 0);
    return 0;
}

int main(void) {
    static const struct word words[] = {{"READY", 1, "readable"}, {0}};
    return serve(&(struct poller){
        .name = "refusing", .version = "1", .modes = 1 << LEVEL, .words = words, .interests = {[READ] = 1},
        .size = sizeof(struct registration), .begin = begin, .end = end, .add = add, .modify = add,
        .remove = remove_registration, .wait = wait_for_events, .no_close = "it has no descriptor"});
}
