// Without the trait SVG, nothing draws.
#ifdef ALCEDO_SVG
#include "internal.h"

/// The maximum number of turns that are held while another drawing begins.
#define TURN_LIMIT 2
/// The time between two checks whether a waiting caller was canceled, in nanoseconds.
#define CHECK_INTERVAL 20000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/// The turns that are held, in no order.
static alcedo_svg_turn *held;

void alcedo_svg_init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void init_changed(void) { alcedo_svg_init_condition(&changed); }

struct timespec alcedo_svg_time_after(uint64_t nanoseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    // About 30 years: longer limits would overflow on systems with 32-bit seconds.
    const uint64_t seconds = nanoseconds / 1000000000;
    time.tv_sec += (time_t)(seconds < 1000000000 ? seconds : 1000000000);
    time.tv_nsec += (long)(nanoseconds % 1000000000);
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec += 1;
    }
    return time;
}

static int is_before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/// Ends the turns whose time is over. Returns the number of the others, and brings `next` forward to the earliest end.
static int count_turns(struct timespec *next) {
    const struct timespec now = alcedo_svg_time_after(0);
    int count = 0;
    for (alcedo_svg_turn **link = &held; *link;) {
        alcedo_svg_turn *turn = *link;
        if (!is_before(&now, &turn->end)) {
            *link = turn->next;
            continue;
        }
        if (is_before(&turn->end, next)) *next = turn->end;
        link = &turn->next;
        count++;
    }
    return count;
}

int alcedo_svg_wait_for_turn(int (*is_canceled)(void)) {
    pthread_once(&once, init_changed);
    pthread_mutex_lock(&lock);
    int is_turn = 0;
    for (;;) {
        struct timespec next = alcedo_svg_time_after(CHECK_INTERVAL);
        is_turn = count_turns(&next) < TURN_LIMIT;
        if (is_turn || (is_canceled && is_canceled())) break;
        pthread_cond_timedwait(&changed, &lock, &next);
    }
    pthread_mutex_unlock(&lock);
    return is_turn;
}

void alcedo_svg_hold_turn(alcedo_svg_turn *turn, struct timespec end) {
    pthread_once(&once, init_changed);
    pthread_mutex_lock(&lock);
    turn->end = end;
    turn->next = held;
    held = turn;
    pthread_mutex_unlock(&lock);
}

void alcedo_svg_end_turn(alcedo_svg_turn *turn) {
    pthread_mutex_lock(&lock);
    for (alcedo_svg_turn **link = &held; *link; link = &(*link)->next) {
        if (*link != turn) continue;
        *link = turn->next;
        pthread_cond_broadcast(&changed);
        break;
    }
    pthread_mutex_unlock(&lock);
}
#else
typedef int alcedo_svg_no_turns;
#endif
