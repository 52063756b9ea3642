/* Teams of processors from topologies written down as the operating system does. */
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

static void put_cpu(int cpu, long package, long node, long cache)
{
    char path[256];
    (void)snprintf(path, sizeof path, "cpu/cpu%d/topology/physical_package_id", cpu);
    put(path, package);
    (void)snprintf(path, sizeof path, "node/node%ld/cpu%d", node, cpu);
    put(path, -1);
    (void)snprintf(path, sizeof path, "cpu/cpu%d/cache/index3/id", cpu);
    put(path, cache);
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
    for (int k = 0; k < 8; k++) {
        put_cpu(k, k % 2, k % 2, 2 * (k % 2) + (k >= 4 ? 1 : 0));
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

/* Memory nodes inside one socket and one cache number. */
static void memory_nodes_are_teams(void **state)
{
    (void)state;
    static const int given[] = {0, 1, 2, 3};
    static const int cpu[] = {1, 3, 0, 2};
    static const int team[] = {0, 0, 1, 1};
    strake_topology t = {0};
    for (int k = 0; k < 4; k++) {
        put_cpu(k, 0, k % 2 == 0 ? 1 : 0, 0);
    }
    strake_topology_order(root, given, 4, &t);
    expect(&t, 2, cpu, team, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processors_of_one_cache_are_one_team, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(memory_nodes_are_teams, make_root, remove_root),
        cmocka_unit_test_setup_teardown(an_unknown_machine_is_one_team, make_root, remove_root),
        cmocka_unit_test_setup_teardown(caches_count_together, make_root, remove_root),
        cmocka_unit_test(this_machine_has_a_team_for_every_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
