/* What is measured of a state of the Cahn-Hilliard equation while it evolves. */
#include "base/element.h"
#include "base/sum.h"
#include "engine/spectrum.h"
#include "problem/cahn_hilliard.h"

enum { MASS, FREE_ENERGY, LENGTH, INTERFACE };

const strake_quantity strake_cahn_hilliard_measures[STRAKE_CAHN_HILLIARD_MEASURES] = {
    [MASS] = {"mass", "[m2 or m3]", "integral of u, which is conserved"},
    [FREE_ENERGY] = {"free_energy", "[J]",
                     "integral of f(u) + K |grad u|^2/2 by differences over faces, which falls"},
    [LENGTH] = {"length", "[m]",
                "2 pi over the first moment of the structure factor averaged over directions"},
    [INTERFACE] = {"interface", "[m or m2]",
                   "length (area in 3D) of the faces where u passes the middle between the wells"},
};

/* A state with what its sums need. */
typedef struct view {
    const strake_layout *l;
    const void *array;
    const double *spacing;
    strake_free_energy energy;
    double gradient; /* K */
    double middle;
    double volume; /* of a cell */
    strake_sum mass, free_energy, interface;
} view;

static double get(const view *v, int64_t at)
{
    return strake_element_get(v->array, v->l->element_size, at);
}

/* One cell and its faces towards the next cells. */
static void add_cell(view *v, const int64_t cell[STRAKE_AXES])
{
    const strake_layout *l = v->l;
    const double u = get(v, strake_layout_at(l, cell[0], cell[1], cell[2]));
    double density = strake_free_energy_at(&v->energy, 0, u);
    for (int a = 0; a < STRAKE_AXES; a++) {
        int64_t next[STRAKE_AXES] = {cell[0], cell[1], cell[2]};
        next[a] = strake_ghost_source(l->boundary[a], l->n[a], cell[a] + 1);
        const double other = get(v, strake_layout_at(l, next[0], next[1], next[2]));
        const double slope = (other - u) / v->spacing[a]; /* 0 at a wall, where other is u */
        density += 0.5 * v->gradient * (slope * slope);
        if ((u > v->middle) != (other > v->middle)) {
            strake_sum_add(&v->interface, v->volume / v->spacing[a]);
        }
    }
    strake_sum_add(&v->mass, u * v->volume);
    strake_sum_add(&v->free_energy, density * v->volume);
}

strake_status strake_cahn_hilliard_evaluate(const strake_snapshot *snapshot, double *out,
                                            strake_error *error)
{
    const strake_case *const which = snapshot->which;
    const strake_layout *const layout = snapshot->layout;
    void *const *const array = snapshot->array;
    view v = {.l = layout,
              .array = array[0],
              .spacing = which->spacing,
              .energy = strake_free_energy_of(which),
              .gradient = strake_case_value(which, "parameters.K"),
              .volume = which->spacing[0] * which->spacing[1] * which->spacing[2]};
    v.middle = strake_free_energy_middle(&v.energy);
    int64_t cell[STRAKE_AXES];
    for (cell[0] = 0; cell[0] < layout->n[0]; cell[0]++) {
        for (cell[1] = 0; cell[1] < layout->n[1]; cell[1]++) {
            for (cell[2] = 0; cell[2] < layout->n[2]; cell[2]++) {
                add_cell(&v, cell);
            }
        }
    }
    out[MASS] = strake_sum_total(&v.mass);
    out[FREE_ENERGY] = strake_sum_total(&v.free_energy);
    out[INTERFACE] = strake_sum_total(&v.interface);
    return strake_spectrum_length(layout, array[0], which->spacing, &out[LENGTH], error);
}
