#include "engine/looks.h"

enum { FIRST_PIECE = 5, LEAST_PIECE = 10, MOST_PIECE = 20000, MOST_QUIET = 5 };

/* A piece should last so long [s], and twice as long after every look that changed nothing. */
static const double piece_seconds = 0.03;

void strake_looks_begin(strake_looks *looks)
{
    *looks = (strake_looks){.piece = FIRST_PIECE};
}

int64_t strake_looks_left(const strake_looks *looks, int64_t steps, int at_once)
{
    const int64_t left = looks->piece > looks->seen ? looks->piece - looks->seen : 1;
    const int64_t whole = (left + at_once - 1) / at_once * at_once;
    return whole < steps ? whole : steps;
}

void strake_looks_add(strake_looks *looks, int64_t steps, double seconds)
{
    looks->seen += steps;
    looks->seconds += seconds;
    looks->recent += steps;
    looks->took += seconds;
}

bool strake_looks_drifted(strake_looks *looks, int at_once, double pace)
{
    const double usual = pace * (double)looks->recent;
    if (looks->recent < (int64_t)STRAKE_LOOKS_WATCHED * at_once) {
        return false;
    }
    const bool drifted = pace > 0.0 && looks->took > strake_looks_drift * usual;
    looks->recent = 0;
    looks->took = 0.0;
    return drifted;
}

bool strake_looks_due(const strake_looks *looks)
{
    return looks->seen >= looks->piece;
}

void strake_looks_plan(strake_looks *looks, bool soon)
{
    const double fit = piece_seconds * (double)looks->seen / looks->seconds;
    looks->quiet = soon ? 0 : looks->quiet < MOST_QUIET ? looks->quiet + 1 : MOST_QUIET;
    const double most = fit * (double)(1 << looks->quiet);
    looks->piece = soon ? LEAST_PIECE : 2 * looks->piece;
    looks->piece = (double)looks->piece > most ? (int64_t)most : looks->piece;
    looks->piece = looks->piece < LEAST_PIECE ? LEAST_PIECE : looks->piece;
    looks->piece = looks->piece > MOST_PIECE ? MOST_PIECE : looks->piece;
    looks->seen = 0;
    looks->seconds = 0.0;
}

void strake_looks_anew(strake_looks *looks)
{
    *looks = (strake_looks){.piece = LEAST_PIECE};
}
