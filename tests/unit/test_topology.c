/* Teams of processors from topologies written down as the operating system does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cpu/topology.h"

static char root[] = "/tmp/strake-topology-XXXXXX";

/* Writes a number (or an empty file, for -1) at a path below the root; its folders are made. */
static void put(const char *path, long number)
{
    char full[4096];
    (void)snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(full, 0755);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    if (number >= 0) {
        (void)fprintf(file, "%ld\n", number);
    }
    assert_int_equal(fclose(file), 0);
}

static void put_text(const char *path, const char *text)
{
    char full[4096];
    put(path, -1);
    (void)snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    (void)fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

/* A processor; @p sharing is the list of those it shares cache number @p index with. */
static void put_cpu(int cpu, long package, long node, int index, const char *sharing)
{
    char path[256];
    (void)snprintf(path, sizeof path, "cpu/cpu%d/topology/physical_package_id", cpu);
    put(path, package);
    (void)snprintf(path, sizeof path, "node/node%ld/cpu%d", node, cpu);
    put(path, -1);
    (void)snprintf(path, sizeof path, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
    put_text(path, sharing);
}

static int make_root(void **state)
{
    (void)state;
    (void)memcpy(strrchr(root, '-') + 1, "XXXXXX", 6);
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command); /* NOLINT(cert-env33-c): a folder of the test's own */
}

static void expect(const strake_topology *t, int teams, const int *cpu, const int *team, int count)
{
    assert_int_equal(t->cpus, count);
    assert_int_equal(t->teams, teams);
    assert_memory_equal(t->cpu, cpu, (size_t)count * sizeof *cpu);
    assert_memory_equal(t->team, team, (size_t)count * sizeof *team);
}

/* Two sockets, numbered alternately, each with two caches in one memory node. */
static void processors_of_one_cache_are_one_team(void **state)
{
    (void)state;
    static const int given[] = {7, 6, 5, 4, 3, 2, 1, 0};
    static const int cpu[] = {0, 2, 4, 6, 1, 3, 5, 7};
    static const int team[] = {0, 0, 1, 1, 2, 2, 3, 3};
    strake_topology t = {0};
    static const char *const sharing[] = {"0,2", "1,3", "4,6", "5,7"};
    for (int k = 0; k < 8; k++) {
        put_cpu(k, k % 2, k % 2, 3, sharing[k % 2 + (k >= 4 ? 2 : 0)]);
    }
    strake_topology_order(root, given, 8, &t);
    expect(&t, 4, cpu, team, 8);
    /* A mask that leaves out processors leaves out their teams. */
    static const int masked[] = {1, 2, 6, 7};
    static const int few[] = {2, 6, 1, 7};
    static const int few_teams[] = {0, 1, 2, 3};
    strake_topology_order(root, masked, 4, &t);
    expect(&t, 4, few, few_teams, 4);
}

/* Memory nodes inside one socket and one cache. */
static void memory_nodes_are_teams(void **state)
{
    (void)state;
    static const int given[] = {0, 1, 2, 3};
    static const int cpu[] = {1, 3, 0, 2};
    static const int team[] = {0, 0, 1, 1};
    strake_topology t = {0};
    for (int k = 0; k < 4; k++) {
        put_cpu(k, 0, k % 2 == 0 ? 1 : 0, 3, "0-3");
    }
    strake_topology_order(root, given, 4, &t);
    expect(&t, 2, cpu, team, 4);
}

/* Each core has two processors and a second-level cache; `name` tells the cores, `package` all of it. */
static void put_cores(const char *name, const char *package)
{
    static const char *const core[] = {"0-1", "2-3", "4-5", "6-7"};
    char path[256];
    for (int k = 0; k < 8; k++) {
        put_cpu(k, 0, 0, 2, core[k / 2]);
        (void)snprintf(path, sizeof path, "cpu/cpu%d/topology/%s", k, name);
        put_text(path, core[k / 2]);
        (void)snprintf(path, sizeof path, "cpu/cpu%d/topology/%s", k, package);
        put_text(path, "0-7");
    }
}

static void the_last_cache_below_the_package_makes_teams(void **state)
{
    (void)state;
    static const int cpu[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int one[] = {0, 0, 0, 0, 0, 0, 0, 0};
    static const int two[] = {0, 0, 0, 0, 1, 1, 1, 1};
    strake_topology t = {0};
    char path[256];
    put_cores("core_cpus_list", "package_cpus_list");
    strake_topology_order(root, cpu, 8, &t);
    expect(&t, 1, cpu, one, 8); /* a cache of one core makes no team */
    for (int k = 0; k < 8; k++) {
        put_cpu(k, 0, 0, 4, "0-7");
    }
    strake_topology_order(root, cpu, 8, &t);
    expect(&t, 1, cpu, one, 8); /* nor does one of the whole package */
    for (int k = 0; k < 8; k++) {
        (void)snprintf(path, sizeof path, "cpu/cpu%d/cache/index3/shared_cpu_list", k);
        put_text(path, k < 4 ? "0-3" : "4-7");
    }
    strake_topology_order(root, cpu, 8, &t);
    expect(&t, 2, cpu, two, 8);
}

/* Clusters of cores with a second-level cache, and the names that older systems use. */
static void second_level_caches_of_clusters_make_teams(void **state)
{
    (void)state;
    static const int cpu[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int two[] = {0, 0, 0, 0, 1, 1, 1, 1};
    strake_topology t = {0};
    put_cores("thread_siblings_list", "core_siblings_list");
    for (int k = 0; k < 8; k++) {
        put_cpu(k, 0, 0, 2, k < 4 ? "0-3" : "4-7");
        put_cpu(k, 0, 0, 3, "0-7");
    }
    strake_topology_order(root, cpu, 8, &t);
    expect(&t, 2, cpu, two, 8);
}

static void an_unknown_machine_is_one_team(void **state)
{
    (void)state;
    static const int given[] = {5, 3, 9};
    static const int cpu[] = {3, 5, 9};
    static const int team[] = {0, 0, 0};
    strake_topology t = {0};
    strake_topology_order(root, given, 3, &t);
    expect(&t, 1, cpu, team, 3);
}

static void processors_are_divided_as_asked(void **state)
{
    (void)state;
    static const int given[] = {0, 1, 2, 3, 4, 5, 6};
    static const int two[] = {0, 0, 0, 0, 1, 1, 1};
    static const int three[] = {0, 0, 0, 1, 1, 2, 2};
    static const int one[] = {0, 0, 0, 0, 0, 0, 0};
    strake_topology t = {0};
    strake_topology_order(root, given, 7, &t);
    strake_topology_divide(&t, 2);
    expect(&t, 2, given, two, 7);
    strake_topology_divide(&t, 3);
    expect(&t, 3, given, three, 7);
    strake_topology_divide(&t, 7);
    expect(&t, 7, given, given, 7);
    t.quota = 7;
    assert_true(strake_topology_binds(&t, 7));
    assert_true(strake_topology_binds(&t, 4));
    assert_false(strake_topology_binds(&t, 3)); /* room for another program */
    assert_false(strake_topology_binds(&t, 8));
    strake_topology_divide(&t, 1);
    expect(&t, 1, given, one, 7);
    assert_false(strake_topology_binds(&t, 7));
}

static void this_machine_has_a_team_for_every_processor(void **state)
{
    (void)state;
    strake_topology t = {0};
    strake_topology_read(&t);
    assert_in_range(t.cpus, 1, STRAKE_MAX_CPUS);
    assert_in_range(t.teams, 1, t.cpus);
    assert_int_equal(t.team[0], 0);
    assert_int_equal(t.team[t.cpus - 1], t.teams - 1);
    assert_in_range(strake_topology_threads(&t), 1, t.cpus);
}

static void caches_count_together(void **state)
{
    (void)state;
    static const char list[] = "cpu/cpu0/cache/index3/shared_cpu_list";
    assert_int_equal(strake_topology_cache(root, 8), 0);
    put_text("cpu/cpu0/cache/index3/size", "32768K");
    assert_int_equal(strake_topology_cache(root, 8), 32768 * 1024);
    put_text(list, "0-3");
    assert_int_equal(strake_topology_cache(root, 8), 2 * 32768 * 1024);
    assert_int_equal(strake_topology_cache(root, 4), 32768 * 1024);
    put_text(list, "0-1,8-9");
    assert_int_equal(strake_topology_cache(root, 16), 4 * 32768 * 1024);
    put_text(list, "0");
    assert_int_equal(strake_topology_cache(root, 3), 3 * 32768 * 1024);
}

/* Groups of both versions, the first mounted whole, the second from a group on. */
static void put_groups(const char *group)
{
    put_text("proc/self/mountinfo",
             "22 1 0:21 / /proc rw - proc proc rw\n"
             "31 23 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
             "32 23 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
             "33 23 0:31 /pod /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw");
    put_text("proc/self/cgroup", group);
}

static void no_group_limits_nothing(void **state)
{
    (void)state;
    assert_true(strake_cgroup_quota(root) == 0.0);
    put_groups("4:cpu,cpuacct:/a/b\n3:cpuset:/\n0::/pod/c");
    assert_true(strake_cgroup_quota(root) == 0.0);
    put_text("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
    put_text("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
    put_text("sys/fs/cgroup/unified/c/cpu.max", "max 100000");
    assert_true(strake_cgroup_quota(root) == 0.0);
    /* Groups that this process is not in do not limit it. */
    put_text("sys/fs/cgroup/unified/d/cpu.max", "50000 100000");
    put_text("sys/fs/cgroup/cpuset/a/b/cpu.max", "50000 100000");
    assert_true(strake_cgroup_quota(root) == 0.0);
}

static void the_least_quota_above_counts(void **state)
{
    (void)state;
    put_groups("4:cpu,cpuacct:/a/b\n3:cpuset:/\n0::/pod/c/d");
    put_text("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "600000");
    put_text("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    assert_true(strake_cgroup_quota(root) == 6.0);
    put_text("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000");
    put_text("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
    assert_true(strake_cgroup_quota(root) == 4.0);
    put_text("sys/fs/cgroup/unified/c/d/cpu.max", "500000 100000");
    assert_true(strake_cgroup_quota(root) == 4.0);
    put_text("sys/fs/cgroup/unified/c/cpu.max", "150000 100000");
    assert_true(strake_cgroup_quota(root) == 1.5);
    put_text("sys/fs/cgroup/unified/cpu.max", "250000 100000");
    assert_true(strake_cgroup_quota(root) == 1.5);
    /* A group outside of what is mounted: only the mounted one above can be seen. */
    put_groups("4:cpu,cpuacct:/x\n0::/elsewhere/c/d");
    assert_true(strake_cgroup_quota(root) == 2.5);
}

static void no_group_limits_the_memory(void **state)
{
    (void)state;
    assert_true(isinf(strake_cgroup_memory(root)));
    put_text("proc/self/mountinfo",
             "31 23 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
             "33 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
    put_text("proc/self/cgroup", "4:memory:/a\n3:cpuset:/\n0::/c");
    assert_true(isinf(strake_cgroup_memory(root)));
    put_text("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712");
    put_text("sys/fs/cgroup/unified/c/memory.max", "max");
    assert_true(isinf(strake_cgroup_memory(root)));
}

static void the_least_memory_left_counts(void **state)
{
    (void)state;
    put_text("proc/self/mountinfo",
             "31 23 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
             "33 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
    put_text("proc/self/cgroup", "4:memory:/a/b\n3:cpuset:/\n0::/c/d");
    /* Version 1: what is used counts, but for files that the kernel may drop. */
    put_text("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000000");
    put_text("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "400000");
    put_text("sys/fs/cgroup/memory/a/memory.stat",
             "cache 999\ninactive_file 1\ntotal_inactive_file 100000\ntotal_active_file 50000");
    assert_true(strake_cgroup_memory(root) == 750000.0);
    put_text("sys/fs/cgroup/memory/memory.limit_in_bytes", "900000");
    put_text("sys/fs/cgroup/memory/memory.usage_in_bytes", "200000");
    assert_true(strake_cgroup_memory(root) == 700000.0);
    /* Version 2, in the group above. */
    put_text("sys/fs/cgroup/unified/c/d/memory.max", "800000");
    put_text("sys/fs/cgroup/unified/c/memory.max", "600000");
    put_text("sys/fs/cgroup/unified/c/memory.current", "300000");
    put_text("sys/fs/cgroup/unified/c/memory.stat",
             "anon 150000\nfile 150000\ninactive_file 50000");
    assert_true(strake_cgroup_memory(root) == 350000.0);
    put_text("sys/fs/cgroup/unified/c/memory.current", "700000");
    assert_true(strake_cgroup_memory(root) == 0.0);
}

static void workers_of_several_teams_run_in_their_team(void **state)
{
    (void)state;
    strake_topology t = {0};
    strake_topology_read(&t);
    if (t.cpus < 2 || t.quota < t.cpus || getenv("OMP_PROC_BIND") != NULL ||
        getenv("OMP_PLACES") != NULL || getenv("GOMP_CPU_AFFINITY") != NULL ||
        getenv("KMP_AFFINITY") != NULL) {
        print_message("one processor, a quota, or a binding of the user's: nothing is bound\n");
        skip();
    }
    /* As if every processor had a cache of its own. */
    for (int k = 0; k < t.cpus; k++) {
        t.team[k] = k;
    }
    t.teams = t.cpus;
    for (int w = 0; w < t.cpus; w++) {
        strake_binding before;
        cpu_set_t now;
        strake_topology_bind(&t, w, t.cpus, &before);
        assert_true(before.is_bound);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_int_equal(CPU_COUNT(&now), 1);
        assert_true(CPU_ISSET((size_t)t.cpu[w], &now));
        strake_topology_unbind(&before);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_int_equal(CPU_COUNT(&now), t.cpus);
    }
    strake_binding before;
    strake_topology_bind(&t, 0, t.cpus / 2, &before);
    assert_false(before.is_bound); /* another program would fit beside */
    strake_topology_bind(&t, 0, t.cpus + 1, &before);
    assert_false(before.is_bound);
    t.quota = t.cpus - 1;
    strake_topology_bind(&t, 0, t.cpus, &before);
    assert_false(before.is_bound);
    t.quota = t.cpus;
    t.teams = 1;
    strake_topology_bind(&t, 0, t.cpus, &before);
    assert_false(before.is_bound);
}

static void expect_asked(const char *value, int expected)
{
    assert_int_equal(setenv("OMP_NUM_THREADS", value, 1), 0);
    assert_int_equal(strake_threads_asked(), expected);
}

static void the_environment_asks_for_threads(void **state)
{
    (void)state;
    expect_asked("3", 3);
    expect_asked(" 4 , 2", 4);
    expect_asked("99999", STRAKE_MOST_THREADS);
    expect_asked("abc", -1);
    expect_asked("", -1);
    expect_asked("0", -1);
    expect_asked("4,", -1);
    expect_asked("4x", -1);
    assert_int_equal(unsetenv("OMP_NUM_THREADS"), 0);
    assert_int_equal(strake_threads_asked(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processors_of_one_cache_are_one_team, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(memory_nodes_are_teams, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_last_cache_below_the_package_makes_teams, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(second_level_caches_of_clusters_make_teams, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(no_group_limits_nothing, make_root, remove_root),
        cmocka_unit_test_setup_teardown(no_group_limits_the_memory, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_least_memory_left_counts, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_least_quota_above_counts, make_root, remove_root),
        cmocka_unit_test(workers_of_several_teams_run_in_their_team),
        cmocka_unit_test(the_environment_asks_for_threads),
        cmocka_unit_test_setup_teardown(an_unknown_machine_is_one_team, make_root, remove_root),
        cmocka_unit_test_setup_teardown(caches_count_together, make_root, remove_root),
        cmocka_unit_test_setup_teardown(processors_are_divided_as_asked, make_root, remove_root),
        cmocka_unit_test(this_machine_has_a_team_for_every_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
