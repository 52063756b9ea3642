#include "main/resume.h"

#include "solver/batch.h"
#include "main/say.h"

static void tell_checkpoint(const strake_arguments *arguments, int64_t step, const char *checkpoint,
                            int ranks)
{
    strake_text command = {0};
    if (step >= 0) {
        strake_resume_command(arguments, checkpoint, ranks, &command);
        strake_say("the last checkpoint has step %lld; continue on any number of ranks with: %s",
                   (long long)step, command.failed ? "--resume and the checkpoint" : command.data);
    }
    strake_text_free(&command);
}

static void tell_lost(int64_t step, const char *checkpoint)
{
    if (step >= 0) {
        strake_say_warning(
            "the checkpoint %s of step %lld is complete: --resume continues from it, on "
            "other processors if need be",
            checkpoint, (long long)step);
    }
}

void strake_tell_failure(const strake_arguments *arguments, strake_status status, int64_t step,
                         const char *checkpoint, int ranks)
{
    if (status == STRAKE_ERR_RANK) {
        tell_checkpoint(arguments, step, checkpoint, ranks);
    } else if (status == STRAKE_ERR_DEVICE) {
        tell_lost(step, checkpoint);
    }
}

void strake_tell_clipped(const strake_checkpoint *checkpoint, const strake_case *which)
{
    const strake_checkpoint_header *const header = &checkpoint->header;
    if (which->problem->is_adaptive && header->time == header->end && header->end < which->end) {
        strake_say_note("checkpoint %s is at %.10g s, the time.end of its run: its last step was "
                        "cut short to end there and stays so; a run without that end has other "
                        "steps from there on",
                        checkpoint->path, header->time);
    }
}

void strake_tell_interrupted(const strake_arguments *arguments, const strake_case *which,
                             int64_t step, double time, const char *checkpoint, int ranks)
{
    const long long done = step, total = which->steps;
    if (done == total || (which->problem->is_adaptive && time >= which->end)) {
        strake_say("interrupted after the last step: the outputs are complete, the summary and "
                   "reports are not made");
    } else if (strake_batch_has_checkpoints(which)) {
        strake_text command = {0};
        strake_resume_command(arguments, checkpoint, ranks, &command);
        strake_say("interrupted after step %lld of %lld; continue with: %s", done, total,
                   command.failed ? "--resume and the checkpoint" : command.data);
        strake_text_free(&command);
    } else {
        strake_say("interrupted after step %lld of %lld; it cannot be continued, because the case "
                   "has no `checkpoint: {every: N}`",
                   done, total);
    }
}
