/*
 * A link between two network namespaces with the rate and the delay of a real one, in user space: two TAP
 * devices, and frames from each to the other. Kernels without netem have nothing else that delays.
 * usage: relay DEVICE DEVICE MBIT_PER_S DELAY_US     (bench/plan_mpi.sh moves them into namespaces)
 *
 * Each direction is a line: a frame takes its bytes over the rate to get onto it, one after the other, and
 * arrives the delay later. The kernel hands over up to 64 KiB of one connection as one frame (as it would
 * to a network card, which cuts it); its time is that of the segments that it would be cut into. Says
 * "ready" once the devices exist, and at SIGTERM what it did. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_FRAME = 1 << 17,
    MOST_WAITING = 1 << 14, /* frames on a line: more than any window of TCP has */
    BESIDE = 24,            /* bytes of Ethernet beside a frame: preamble, checksum, gap */
    LEAST_ON_WIRE = 84
};

typedef struct frame {
    int64_t came, due; /* [ns] */
    size_t bytes;
    char *data;
} frame;

typedef struct line {
    int from, to;
    int64_t free_at; /* when the last frame is on it [ns] */
    uint64_t first, end;
    frame waiting[MOST_WAITING];
    uint64_t frames, segments, bytes, dropped, refused;
    double late, latest; /* beyond what was asked for, sum and most [ns] */
} line;

static line lines[2];
static double ns_per_byte;
static int64_t delay;
static volatile sig_atomic_t ends;

static void stop(int signal)
{
    ends = signal;
}

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what, const char *which)
{
    (void)fprintf(stderr, "relay: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

/* Frames that are still to be cut, and without checksums, as between the kernel and a network card. */
static int open_device(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    const int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (file < 0 || ioctl(file, TUNSETIFF, &request) != 0 ||
        ioctl(file, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) {
        fail("cannot make the device", name);
    }
    return file;
}

/* Bytes of a frame on the wire, cut into segments that repeat its headers. */
static uint64_t on_wire(line *l, const char *data, size_t bytes)
{
    struct virtio_net_hdr head;
    memcpy(&head, data, sizeof head);
    const uint64_t payload = bytes - sizeof head;
    uint64_t segments = 1;
    if (head.gso_type != VIRTIO_NET_HDR_GSO_NONE && head.gso_size > 0) {
        segments = (payload - head.hdr_len + head.gso_size - 1) / head.gso_size;
    }
    const uint64_t whole = payload + (segments - 1) * head.hdr_len + segments * BESIDE;
    const uint64_t wire = whole < LEAST_ON_WIRE ? LEAST_ON_WIRE : whole;
    l->segments += segments;
    l->bytes += wire;
    return wire;
}

/* Takes what the device holds. */
static void take(line *l)
{
    static char data[MOST_FRAME];
    ssize_t got;
    while ((got = read(l->from, data, sizeof data)) > (ssize_t)sizeof(struct virtio_net_hdr)) {
        if (l->end - l->first == MOST_WAITING) {
            l->dropped++;
            continue;
        }
        frame *f = &l->waiting[l->end++ % MOST_WAITING];
        f->came = now();
        f->bytes = (size_t)got;
        f->data = malloc(f->bytes);
        if (f->data == NULL) {
            fail("no memory for", "a frame");
        }
        memcpy(f->data, data, f->bytes);
        const int64_t begin = l->free_at > f->came ? l->free_at : f->came;
        l->free_at = begin + (int64_t)((double)on_wire(l, data, f->bytes) * ns_per_byte);
        f->due = l->free_at + delay;
    }
}

/* Gives what is due. @return when the next one is, INT64_MAX: there is none */
static int64_t give(line *l)
{
    while (l->first < l->end) {
        frame *f = &l->waiting[l->first % MOST_WAITING];
        const int64_t t = now();
        if (f->due > t) {
            return f->due;
        }
        if (write(l->to, f->data, f->bytes) != (ssize_t)f->bytes) {
            l->refused++; /* the device is down */
        }
        l->frames++;
        l->late += (double)(t - f->due);
        l->latest = (double)(t - f->due) > l->latest ? (double)(t - f->due) : l->latest;
        free(f->data);
        l->first++;
    }
    return INT64_MAX;
}

static void tell(const line *l, const char *from, const char *to)
{
    (void)printf(
        "%s to %s: %llu frames, %llu segments, %llu bytes on the wire, %llu dropped, %llu refused; "
        "beyond rate and delay %.1f us on average, %.1f at most\n",
        from, to, (unsigned long long)l->frames, (unsigned long long)l->segments,
        (unsigned long long)l->bytes, (unsigned long long)l->dropped,
        (unsigned long long)l->refused, l->frames > 0 ? 1e-3 * l->late / (double)l->frames : 0.0,
        1e-3 * l->latest);
}

int main(int argc, char **argv)
{
    if (argc != 5 || !(atof(argv[3]) > 0.0) || !(atof(argv[4]) >= 0.0)) {
        (void)fprintf(stderr, "usage: relay DEVICE DEVICE MBIT_PER_S DELAY_US\n");
        return 2;
    }
    ns_per_byte = 8e3 / atof(argv[3]);
    delay = (int64_t)(1e3 * atof(argv[4]));
    for (int k = 0; k < 2; k++) {
        lines[k].from = lines[1 - k].to = open_device(argv[1 + k]);
    }
    const struct sigaction action = {.sa_handler = stop};
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    /* Before the ranks, which have all processors to themselves otherwise; how late frames were is told in the end. */
    if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) != 0) {
        (void)fprintf(
            stderr,
            "relay: cannot run before others (SCHED_FIFO): leave it a processor without ranks\n");
    }
    (void)printf("ready\n");
    (void)fflush(stdout);
    while (!ends) {
        const int64_t due[2] = {give(&lines[0]), give(&lines[1])};
        const int64_t next = due[0] < due[1] ? due[0] : due[1];
        const int64_t t = now();
        const int64_t left = next > t ? next - t : 0;
        const struct timespec wait = {left / 1000000000, left % 1000000000};
        struct pollfd poll[2] = {{lines[0].from, POLLIN, 0}, {lines[1].from, POLLIN, 0}};
        (void)ppoll(poll, 2, next == INT64_MAX ? NULL : &wait, NULL);
        take(&lines[0]);
        take(&lines[1]);
    }
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    tell(&lines[0], argv[1], argv[2]);
    tell(&lines[1], argv[2], argv[1]);
    (void)printf("processor time %.2f s\n",
                 (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    return 0;
}
