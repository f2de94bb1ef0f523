// Events: what went wrong and where, each kind once per place, with a count.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include "state.h"

namespace emu {
namespace {

constexpr int MOST_EVENTS = 64, MOST_SITES = 4096;
constexpr uint64_t MOST_OUTSIDE = 1 << 17;
constexpr Where SITE = 0x80000000u;

struct Event {
    const char* kind;
    Severity severity;
    Where where, other;
    unsigned block, thread;
    uint64_t count;
    char text[200];
};

Event events[MOST_EVENTS];
int event_count = 0;
Event kept_events[MOST_EVENTS];
int kept_count = 0;
Site sites[MOST_SITES];
int site_count = 0;

int put_text(char* out, size_t room, const char* text) {
    size_t n = 0;
    for (; *text && n + 8 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c == 127 || c == '\\' || c == '"') n += size_t(snprintf(out + n, room - n, "\\u%04x", c));
        else out[n++] = char(c);
    }
    out[n] = 0;
    return int(n);
}

int put_where(char* out, size_t room, const char* prefix, Where where) {
    if (!(where & SITE)) return snprintf(out, room, ",\"%spc\":%u", prefix, where);
    const Site& site = sites[where & ~SITE];
    char file[400];
    put_text(file, sizeof file, site.file);
    return snprintf(out, room, ",\"%sfile\":\"%s\",\"%sline\":%d", prefix, file, prefix, site.line);
}

}  // namespace

Where interned(Site site) {
    if (!site.file) return 0;
    for (int i = site_count - 1; i >= 0; i--)
        if (sites[i].line == site.line && (sites[i].file == site.file || !strcmp(sites[i].file, site.file))) return SITE | Where(i);
    if (site_count == MOST_SITES) return SITE;
    sites[site_count] = site;
    return SITE | Where(site_count++);
}

// A launch that goes on and on outside of what is its own ends, as it would on a card, sooner or later.
void count_outside(const char* kind) {
    if (machine.current && !strcmp(kind, "out_of_bounds") && ++machine.outside > MOST_OUTSIDE) abort_launch(700);
}

void report(const char* kind, Severity severity, Where where, Where other, const char* format, ...) {
    count_outside(kind);
    for (int i = 0; i < event_count; i++) {
        if (events[i].kind == kind && events[i].where == where && events[i].severity == severity) {
            events[i].count++;
            return;
        }
    }
    if (event_count == MOST_EVENTS) return;
    Event& event = events[event_count++];
    event = {kind, severity, where, other, machine.block, machine.current ? machine.current->tid : 0, 1, {0}};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
}

void clear_events() { event_count = 0; }

void keep_events() {
    memcpy(kept_events, events, sizeof events);
    kept_count = event_count;
}

void back_to_events() {
    memcpy(events, kept_events, sizeof events);
    event_count = kept_count;
}

size_t put_events(char* out, size_t room) {
    static const char* const names[] = {"fault", "hazard", "note"};
    static char text[1024];
    size_t n = 0;
    for (int i = 0; i < event_count && n + 2048 < room; i++) {
        const Event& e = events[i];
        put_text(text, sizeof text, e.text);
        n += size_t(snprintf(out + n, room - n, "%s{\"kind\":\"%s\",\"severity\":\"%s\",\"block\":%u,\"thread\":%u,\"count\":%llu,\"text\":\"%s\"",
                             i ? "," : "", e.kind, names[e.severity], e.block, e.thread, (unsigned long long)e.count, text));
        n += size_t(put_where(out + n, room - n, "", e.where));
        if (e.other) n += size_t(put_where(out + n, room - n, "other_", e.other));
        out[n++] = '}';
    }
    return n;
}

}  // namespace emu
