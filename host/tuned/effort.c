/* How thorough results are: what searches tried, and what ended them. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "tuned/record.h"

const char *strake_tuned_end_word(strake_tuned_end end)
{
    static const char *const word[] = {
#define X(name, word) word,
        STRAKE_TUNED_ENDS(X)
#undef X
    };
    return word[end];
}

const char *strake_tuned_effort(const strake_tuned_record *record)
{
    bool is_full = true;
    for (int c = 0; c < record->classes; c++) {
        is_full = is_full && record->class[c].end == STRAKE_TUNED_END_COMPLETE;
    }
    return record->is_brief   ? "brief"
           : record->todo > 0 ? "partial"
           : is_full          ? "full"
                              : "cut_short";
}

bool strake_tuned_is_due(const strake_tuned_class *class)
{
    return class->disturbed > 0 && class->disturbed < STRAKE_TUNED_MOST_DISTURBED;
}

static const char *text_of_search(const strake_tuned_class *class, char *buffer, size_t size)
{
    static const char *const why[] = {"", ", until nothing more was promising",
                                      ", as many as the search space allows",
                                      ", until the budget ended", ", until it was interrupted"};
    const bool all = class->end == STRAKE_TUNED_END_COMPLETE && class->tried >= class->possible;
    if (class->end == STRAKE_TUNED_END_COMPLETE && class->possible == 0.0) {
        (void)snprintf(buffer, size, "the constraints leave nothing to try");
        return buffer;
    }
    if (class->end == STRAKE_TUNED_END_UNKNOWN) {
        (void)snprintf(buffer, size, "%d configuration%s measured", class->evaluated,
                       class->evaluated == 1 ? "" : "s");
        return buffer;
    }
    (void)strake_number_print(buffer, size,
                              all && class->possible == 1.0 ? "the one configuration tried"
                              : all                         ? "all %d configurations tried"
                                    : "%d of at most %.0f configurations tried",
                              class->tried, class->possible);
    if (class->failed > 0) {
        const size_t used = strlen(buffer);
        (void)snprintf(buffer + used, size - used, " (%d failed)", class->failed);
    }
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s", all ? "" : why[class->end]);
    return buffer;
}

const char *strake_tuned_search_text(const strake_tuned_class *class, char *buffer, size_t size)
{
    (void)text_of_search(class, buffer, size);
    const size_t used = strlen(buffer);
    if (class->disturbed > 0) {
        (void)strake_number_print(
            buffer + used, size - used,
            "; DISTURBED: half of the samples took %.0f %% longer than the shortest or "
            "more, gains are uncertain (%s)",
            100.0 * class->excess,
            strake_tuned_is_due(class) ? "`strake tune` measures it again"
                                       : "in every tuning so far");
    }
    return buffer;
}

static const char *text_of_searches(const strake_tuned_record *record, char *buffer, size_t size)
{
    int least = 0, most = 0, cut = 0, unknown = 0;
    char range[48];
    for (int c = 0; c < record->classes; c++) {
        const strake_tuned_class *const class = &record->class[c];
        const bool told = class->end != STRAKE_TUNED_END_UNKNOWN;
        const int tried = told ? class->tried : class->evaluated;
        least = c == 0 || tried < least ? tried : least;
        most = tried > most ? tried : most;
        cut += told && class->end != STRAKE_TUNED_END_COMPLETE;
        unknown += !told;
    }
    if (least < most) {
        (void)snprintf(range, sizeof range, "%d to %d", least, most);
    } else {
        (void)snprintf(range, sizeof range, "%d", most);
    }
    if (unknown == record->classes) {
        (void)snprintf(buffer, size, "%s configuration%s measured%s", range, most == 1 ? "" : "s",
                       record->classes > 1 ? " for each" : "");
    } else if (cut + unknown > 0) {
        (void)snprintf(buffer, size, "%d of %d searches cut short, %s configuration%s tried%s",
                       cut + unknown, record->classes, range, most == 1 ? "" : "s",
                       record->classes > 1 ? " for each" : "");
    } else {
        (void)snprintf(buffer, size, "searched to the end, %s configuration%s tried%s", range,
                       most == 1 ? "" : "s", record->classes > 1 ? " for each" : "");
    }
    return buffer;
}

const char *strake_tuned_searches_text(const strake_tuned_record *record, char *buffer, size_t size)
{
    int disturbed = 0, due = 0;
    (void)text_of_searches(record, buffer, size);
    const size_t used = strlen(buffer);
    for (int c = 0; c < record->classes; c++) {
        disturbed += record->class[c].disturbed > 0;
        due += strake_tuned_is_due(&record->class[c]);
    }
    if (disturbed > 0) {
        (void)snprintf(buffer + used, size - used, "; %d DISTURBED%s", disturbed,
                       due > 0 ? " (`strake tune` measures again)" : "");
    }
    return buffer;
}
