// What came from the trusted side and what goes back. It is taken before anything of the submission runs; from then on only
// the runtime has it, behind a wall.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {

struct Case {
    long long rows, vocabulary, k, index_bytes, probability_bytes, stride, schedule, logits_at, indices_at, probabilities_at;
};

// Whether all was there.
bool took_all();
double seconds_given();
int first_number();
bool next_case(Case& next);
const char* inputs(long long offset, size_t bytes);  // null where they are not
char* outputs(long long offset, size_t bytes);
// Opens the report; lines before that are not ours.
bool open_report();
// Writes one line, with the mark that only this runtime can make.
void write_signed(const char* line, size_t bytes);
}  // namespace emu
