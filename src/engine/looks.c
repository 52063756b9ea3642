#include "engine/looks.h"

enum { MOST_PIECE = 20000, MOST_QUIET = 5 };

/* A piece should last so long [s], and twice as long after every look that changed nothing. */
static const double piece_seconds = 0.03;

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

void strake_looks_plan(strake_looks *looks, bool soon)
{
    const double fit = piece_seconds * (double)looks->seen / looks->seconds;
    looks->quiet = soon ? 0 : looks->quiet < MOST_QUIET ? looks->quiet + 1 : MOST_QUIET;
    const double most = fit * (double)(1 << looks->quiet);
    looks->piece = soon ? STRAKE_LOOKS_LEAST : 2 * looks->piece;
    looks->piece = (double)looks->piece > most ? (int64_t)most : looks->piece;
    looks->piece = looks->piece < STRAKE_LOOKS_LEAST ? STRAKE_LOOKS_LEAST : looks->piece;
    looks->piece = looks->piece > MOST_PIECE ? MOST_PIECE : looks->piece;
    looks->seen = 0;
    looks->seconds = 0.0;
}
