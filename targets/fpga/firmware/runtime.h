/* The runtime of the soft processor: Analyzer and Scheduler (Dynasparse, section VI).
 *
 * Freestanding C99: no allocation, no library, integers only. The stream lies in memory, aligned to 8 bytes; the caller
 * owns everything. targets/fpga/runtime.py does the same in Python, and a test compares every decision.
 */
#ifndef GNNC_RUNTIME_H
#define GNNC_RUNTIME_H

#include "task_stream.h"

enum gnnc_primitive { GNNC_SKIP = 0, GNNC_GEMM = 1, GNNC_SPDMM_X = 2, GNNC_SPDMM_Y = 3, GNNC_SPMM = 4 };

enum gnnc_status { GNNC_OK = 0, GNNC_NO_STREAM = 1, GNNC_WRONG_VERSION = 2, GNNC_CUT_OFF = 3, GNNC_INCOMPLETE = 4 };

/* A stream in memory: where its sections begin. */
struct gnnc_stream {
    const unsigned char *data;
    uint64_t bytes;
    const struct gnnc_header *header;
    const struct gnnc_table_entry *table;
    const struct gnnc_architecture *architecture;
    const struct gnnc_operand *operands;
    const struct gnnc_kernel *kernels;
    const struct gnnc_segment *segments;
    const uint32_t *order;
    uint32_t operand_count;
    uint32_t kernel_count;
    uint32_t segment_count;
    uint64_t order_count;
};

/* What a Y tile decides for every X tile that it meets: below fewer than count nonzeros, above otherwise. */
struct gnnc_threshold {
    uint64_t count;
    enum gnnc_primitive below;
    enum gnnc_primitive above;
};

/* The nonzeros of tile (row, column), N2 x N2, of an operand that a kernel computed: the cores profile them. */
typedef uint32_t (*gnnc_profile)(void *context, uint32_t operand, uint64_t row, uint64_t column);

/* Called for each pair of a task, in the order of its inner list. */
typedef void (*gnnc_emit)(void *context, uint32_t segment, uint64_t inner, enum gnnc_primitive primitive);

/* Finds the sections. Checks what reading them needs; the host has checked the rest when it wrote the stream. */
enum gnnc_status gnnc_open(struct gnnc_stream *stream, const void *data, uint64_t bytes);

/* The decision of one Y tile of n x d with y nonzeros, for X tiles of m rows, on arrays of p x p. */
struct gnnc_threshold gnnc_decide(uint64_t m, uint64_t n, uint64_t d, uint64_t y, uint64_t p);

/* The primitive for an X tile with x nonzeros. */
enum gnnc_primitive gnnc_compare(struct gnnc_threshold threshold, uint64_t x);

/* The nonzeros of tile (row, column) of height x width of an operand; larger tiles are sums of the directory's. */
uint64_t gnnc_nonzeros(const struct gnnc_stream *stream, uint32_t operand, uint64_t row, uint64_t column,
                       uint64_t height, uint64_t width, gnnc_profile profile, void *context);

/* The Analyzer: the primitive of every pair of task (row, column) of a kernel. */
void gnnc_analyze(const struct gnnc_stream *stream, uint32_t kernel, uint64_t row, uint64_t column,
                  gnnc_profile profile, gnnc_emit emit, void *context);

/* The Scheduler: tasks of one kernel after the other, a kernel's only when all of the one before are done. */
struct gnnc_scheduler {
    const struct gnnc_stream *stream;
    uint32_t kernel;
    uint64_t next;
    uint64_t running;
};

void gnnc_start(struct gnnc_scheduler *scheduler, const struct gnnc_stream *stream);

/* For an idle core: 1 and a task as (kernel, row, column), or 0 if there is none now. */
int gnnc_next(struct gnnc_scheduler *scheduler, uint32_t *kernel, uint64_t *row, uint64_t *column);

/* A core has finished its task. */
void gnnc_done(struct gnnc_scheduler *scheduler);

/* Whether all tasks of all kernels are done. */
int gnnc_finished(const struct gnnc_scheduler *scheduler);

#endif
