/* Transfers of two devices with host memory that is pinned in one context, both, or under two addresses. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
typedef void *P; typedef uint64_t U; typedef int32_t I;
static I (*GetPlatformIDs)(uint32_t, P *, uint32_t *); static I (*GetDeviceIDs)(P, U, uint32_t, P *, uint32_t *);
static P (*CreateContext)(const P *, uint32_t, const P *, P, P, I *); static P (*CreateCommandQueue)(P, P, U, I *);
static P (*CreateBuffer)(P, U, size_t, void *, I *); static I (*ReleaseMemObject)(P); static I (*Finish)(P);
static I (*Write)(P, P, uint32_t, size_t, size_t, const void *, uint32_t, const P *, P *);
static I (*Read)(P, P, uint32_t, size_t, size_t, void *, uint32_t, const P *, P *);
static P (*Map)(P, P, uint32_t, U, size_t, size_t, uint32_t, const P *, P *, I *);
static I (*Unmap)(P, P, void *, uint32_t, const P *, P *);
#define N ((size_t)32 << 20)
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static int cmp(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
typedef struct side { P queue, array; char *host; size_t bytes; int up; double rate, call; } side;
static void *go(void *arg) {
    side *s = arg; double v[9], c[9];
    for (int k = -2; k < 9; k++) {
        double t = now();
        I e = s->up ? Write(s->queue, s->array, 0, 0, s->bytes, s->host, 0, 0, 0) : Read(s->queue, s->array, 0, 0, s->bytes, s->host, 0, 0, 0);
        double called = now() - t;
        if (e) { printf("error %d\n", e); return 0; }
        Finish(s->queue);
        if (k >= 0) v[k] = now() - t, c[k] = called;
    }
    qsort(v, 9, 8, cmp); qsort(c, 9, 8, cmp);
    s->rate = s->bytes / v[4] / 1e9; s->call = c[4] / v[4]; return 0;
}
static P queue[2], array[2];
static void one(const char *name, int d, char *host) {
    size_t sizes[] = {(size_t)192 << 10, (size_t)2 << 20, N};
    printf("%-58s dev%d", name, d);
    for (int k = 0; k < 3; k++) for (int up = 0; up < 2; up++) {
        side s = {queue[d], array[d], host, sizes[k], up, 0, 0}; go(&s);
        printf("  %s %5zuK %5.1f GB/s (call %2.0f%%)", up ? "up" : "down", sizes[k] >> 10, s.rate, 100 * s.call);
    }
    printf("\n"); fflush(stdout);
}
static void both(const char *name, char *h0, int up0, char *h1, int up1) {
    side s[2] = {{queue[0], array[0], h0, N, up0, 0, 0}, {queue[1], array[1], h1, N, up1, 0, 0}}; pthread_t t[2];
    for (int k = 0; k < 2; k++) pthread_create(&t[k], 0, go, &s[k]);
    for (int k = 0; k < 2; k++) pthread_join(t[k], 0);
    printf("%-58s both  %s %.1f  %s %.1f GB/s\n", name, up0 ? "up" : "down", s[0].rate, up1 ? "up" : "down", s[1].rate); fflush(stdout);
}
static P pin(P ctx, char *m, const char *what) {
    I e = 0; double t = now(); P b = CreateBuffer(ctx, 1 | 8, 2 * N, m, &e);
    printf("  pin %s: code %d, %.1f ms\n", what, e, 1e3 * (now() - t)); return e ? 0 : b;
}
int main(void) {
    void *l = dlopen("libOpenCL.so.1", RTLD_NOW); if (!l) { printf("%s\n", dlerror()); return 1; }
#define F(x) *(void **)&x = dlsym(l, "cl" #x)
    F(GetPlatformIDs); F(GetDeviceIDs); F(CreateContext); F(CreateCommandQueue); F(CreateBuffer); F(ReleaseMemObject); F(Finish);
    *(void **)&Write = dlsym(l, "clEnqueueWriteBuffer"); *(void **)&Read = dlsym(l, "clEnqueueReadBuffer");
    *(void **)&Map = dlsym(l, "clEnqueueMapBuffer"); *(void **)&Unmap = dlsym(l, "clEnqueueUnmapMemObject");
    P platform, dev[8]; uint32_t n = 0; I e = 0;
    if (GetPlatformIDs(1, &platform, 0) || GetDeviceIDs(platform, 0xFFFFFFFF, 8, dev, &n) || n < 1) { printf("no device\n"); return 1; }
    if (n < 2) dev[1] = dev[0];
    P ctx[2];
    for (int k = 0; k < 2; k++) {
        ctx[k] = CreateContext(0, 1, &dev[k], 0, 0, &e); queue[k] = CreateCommandQueue(ctx[k], dev[k], 0, &e);
        array[k] = CreateBuffer(ctx[k], 1, N, 0, &e);
        if (e) { printf("set-up %d\n", e); return 1; }
    }
    char *m = mmap(0, 2 * N, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(m, 1, 2 * N);
    one("pageable", 0, m); one("pageable", 1, m);
    P b0 = pin(ctx[0], m, "context 0");
    one("pinned in context 0", 0, m); one("pinned in context 0 only", 1, m);
    P b1 = pin(ctx[1], m, "context 1, the same memory");
    one("pinned in both", 0, m); one("pinned in both", 1, m);
    both("pinned in both, other halves", m, 0, m + N, 1); both("pinned in both, the same half", m, 1, m, 1); both("pinned in both, other halves", m, 0, m + N, 0);
    if (b1) ReleaseMemObject(b1); if (b0) ReleaseMemObject(b0);
    munmap(m, 2 * N);
    int f = memfd_create("x", 0); if (ftruncate(f, 2 * N)) return 1;
    char *a0 = mmap(0, 2 * N, 3, MAP_SHARED, f, 0), *a1 = mmap(0, 2 * N, 3, MAP_SHARED, f, 0); memset(a0, 1, 2 * N);
    b0 = pin(ctx[0], a0, "context 0, first address"); b1 = pin(ctx[1], a1, "context 1, second address of the same pages");
    one("two addresses, one for each context", 0, a0); one("two addresses, one for each context", 1, a1);
    both("two addresses, other halves", a0, 0, a1 + N, 1); both("two addresses, the same half", a0, 1, a1, 1);
    if (b1) ReleaseMemObject(b1); if (b0) ReleaseMemObject(b0);
    b0 = CreateBuffer(ctx[0], 1 | 16, 2 * N, 0, &e); char *p = Map(queue[0], b0, 1, 3, 0, 2 * N, 0, 0, 0, &e);
    if (!e) { memset(p, 1, 2 * N); one("ALLOC_HOST_PTR of context 0, mapped", 0, p); one("ALLOC_HOST_PTR of context 0, mapped", 1, p); Unmap(queue[0], b0, p, 0, 0, 0); Finish(queue[0]); }
    ReleaseMemObject(b0);
    if (n >= 2) {
        P c = CreateContext(0, 2, dev, 0, 0, &e); char *s = mmap(0, 2 * N, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(s, 1, 2 * N);
        for (int k = 0; k < 2 && !e; k++) { queue[k] = CreateCommandQueue(c, dev[k], 0, &e); array[k] = CreateBuffer(c, 1, N, 0, &e); }
        if (!e) { b0 = pin(c, s, "the context of both devices"); one("one context", 0, s); one("one context", 1, s); both("one context, other halves", s, 0, s + N, 1); }
    }
    return 0;
}
