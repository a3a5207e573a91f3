#include "runtime.h"

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* How much of a length that is cut every `size` lies in piece `place`. */
static uint64_t extent(uint64_t length, uint64_t size, uint64_t place) { return smaller(size, length - place * size); }

static int begins_with_magic(const unsigned char *data) {
    const char *magic = GNNC_MAGIC;
    for (int i = 0; i < 8; i++)
        if (data[i] != (unsigned char)magic[i]) return 0;
    return 1;
}

static void note_section(struct gnnc_stream *stream, const struct gnnc_table_entry *entry) {
    const unsigned char *at = stream->data + entry->offset;
    switch (entry->kind) {
    case GNNC_SECTION_ARCHITECTURE: stream->architecture = (const void *)at; break;
    case GNNC_SECTION_OPERANDS:
        stream->operands = (const void *)at;
        stream->operand_count = (uint32_t)(entry->bytes / sizeof(struct gnnc_operand));
        break;
    case GNNC_SECTION_KERNELS:
        stream->kernels = (const void *)at;
        stream->kernel_count = (uint32_t)(entry->bytes / sizeof(struct gnnc_kernel));
        break;
    case GNNC_SECTION_SEGMENTS:
        stream->segments = (const void *)at;
        stream->segment_count = (uint32_t)(entry->bytes / sizeof(struct gnnc_segment));
        break;
    case GNNC_SECTION_ORDER:
        stream->order = (const void *)at;
        stream->order_count = entry->bytes / sizeof(uint32_t);
        break;
    default: break; /* directories and images are found when they are needed */
    }
}

enum gnnc_status gnnc_open(struct gnnc_stream *stream, const void *data, uint64_t bytes) {
    const struct gnnc_stream none = {0};
    *stream = none;
    if (bytes < sizeof(struct gnnc_header) || !begins_with_magic(data)) return GNNC_NO_STREAM;
    stream->data = data;
    stream->bytes = bytes;
    stream->header = data;
    if (stream->header->major != GNNC_MAJOR) return GNNC_WRONG_VERSION;
    uint64_t table_bytes = (uint64_t)stream->header->sections * sizeof(struct gnnc_table_entry);
    if (stream->header->file_bytes != bytes || table_bytes > bytes - sizeof(struct gnnc_header)) return GNNC_CUT_OFF;
    stream->table = (const void *)(stream->data + sizeof(struct gnnc_header));
    for (uint32_t i = 0; i < stream->header->sections; i++) {
        const struct gnnc_table_entry *entry = &stream->table[i];
        if (entry->offset % GNNC_ALIGNMENT || entry->offset > bytes || entry->bytes > bytes - entry->offset)
            return GNNC_CUT_OFF;
        note_section(stream, entry);
    }
    if (!stream->architecture || !stream->operands || !stream->kernels || !stream->segments) return GNNC_INCOMPLETE;
    return GNNC_OK;
}

struct gnnc_threshold gnnc_decide(uint64_t m, uint64_t n, uint64_t d, uint64_t y, uint64_t p) {
    struct gnnc_threshold result = {0, GNNC_SKIP, GNNC_SKIP};
    if (y == 0) return result;
    if (2 * y >= n * d) {
        result.count = divide_up(m * n, 2);
        result.below = GNNC_SPDMM_X;
        result.above = GNNC_GEMM;
    } else if (p * y >= 2 * n * d) {
        result.count = y * m / d + 1;
        result.below = GNNC_SPDMM_X;
        result.above = GNNC_SPDMM_Y;
    } else {
        result.count = divide_up(2 * m * n, p);
        result.below = GNNC_SPMM;
        result.above = GNNC_SPDMM_Y;
    }
    return result;
}

enum gnnc_primitive gnnc_compare(struct gnnc_threshold threshold, uint64_t x) {
    if (x == 0 || threshold.below == GNNC_SKIP) return GNNC_SKIP;
    return x < threshold.count ? threshold.below : threshold.above;
}

static const struct gnnc_table_entry *directory_of(const struct gnnc_stream *stream, uint32_t operand) {
    for (uint32_t i = 0; i < stream->header->sections; i++) {
        const struct gnnc_table_entry *entry = &stream->table[i];
        if (entry->kind == GNNC_SECTION_DIRECTORY && entry->owner == operand) return entry;
    }
    return 0;
}

/* The nonzeros of one tile of a directory, by bisection of its block row. */
static uint64_t listed(const struct gnnc_stream *stream, const struct gnnc_table_entry *entry, uint64_t block_rows,
                       uint64_t row, uint64_t column) {
    const uint64_t *starts = (const void *)(stream->data + entry->offset);
    const struct gnnc_tile *tiles = (const void *)(starts + block_rows + 1);
    uint64_t low = starts[row], high = starts[row + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (tiles[middle].column == column) return tiles[middle].nonzeros;
        if (tiles[middle].column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

uint64_t gnnc_nonzeros(const struct gnnc_stream *stream, uint32_t operand, uint64_t row, uint64_t column,
                       uint64_t height, uint64_t width, gnnc_profile profile, void *context) {
    const struct gnnc_operand *record = &stream->operands[operand];
    const struct gnnc_table_entry *directory = directory_of(stream, operand);
    uint64_t block_rows = divide_up(record->rows, record->tile_rows);
    uint64_t block_columns = divide_up(record->columns, record->tile_columns);
    uint64_t down = height / record->tile_rows, across = width / record->tile_columns;
    uint64_t total = 0;
    for (uint64_t r = row * down; r < smaller((row + 1) * down, block_rows); r++)
        for (uint64_t c = column * across; c < smaller((column + 1) * across, block_columns); c++)
            total += directory ? listed(stream, directory, block_rows, r, c) : profile(context, operand, r, c);
    return total;
}

void gnnc_analyze(const struct gnnc_stream *stream, uint32_t kernel, uint64_t row, uint64_t column,
                  gnnc_profile profile, gnnc_emit emit, void *context) {
    const struct gnnc_kernel *k = &stream->kernels[kernel];
    uint64_t m = extent(stream->header->nodes, k->tile_rows, row);
    uint64_t d = extent(stream->operands[k->output].columns, k->tile_columns, column);
    for (uint32_t s = k->first_segment; s < k->first_segment + k->segments; s++) {
        const struct gnnc_segment *segment = &stream->segments[s];
        for (uint64_t t = 0; t < segment->inner; t++) {
            uint64_t n = extent(segment->inner_extent, segment->inner_size, t);
            uint64_t x = gnnc_nonzeros(stream, segment->lhs, row, t, k->tile_rows, segment->inner_size, profile, context);
            uint64_t y =
                gnnc_nonzeros(stream, segment->rhs, t, column, segment->inner_size, k->tile_columns, profile, context);
            emit(context, s, t, gnnc_compare(gnnc_decide(m, n, d, y, stream->architecture->p_sys), x));
        }
    }
}

static uint64_t tasks_of(const struct gnnc_kernel *kernel) {
    return (uint64_t)kernel->grid_rows * kernel->grid_columns;
}

void gnnc_start(struct gnnc_scheduler *scheduler, const struct gnnc_stream *stream) {
    scheduler->stream = stream;
    scheduler->kernel = 0;
    scheduler->next = 0;
    scheduler->running = 0;
}

int gnnc_next(struct gnnc_scheduler *scheduler, uint32_t *kernel, uint64_t *row, uint64_t *column) {
    const struct gnnc_stream *stream = scheduler->stream;
    if (scheduler->kernel == stream->kernel_count) return 0;
    const struct gnnc_kernel *k = &stream->kernels[scheduler->kernel];
    if (scheduler->next == tasks_of(k)) return 0; /* the barrier: gnnc_done goes on when the last one is done */
    uint64_t task = scheduler->next++;
    if (k->first_order != GNNC_UNKNOWN) task = stream->order[k->first_order + task];
    scheduler->running++;
    *kernel = scheduler->kernel;
    *row = task / k->grid_columns;
    *column = task % k->grid_columns;
    return 1;
}

void gnnc_done(struct gnnc_scheduler *scheduler) {
    scheduler->running--;
    if (scheduler->running == 0 && scheduler->next == tasks_of(&scheduler->stream->kernels[scheduler->kernel])) {
        scheduler->kernel++;
        scheduler->next = 0;
    }
}

int gnnc_finished(const struct gnnc_scheduler *scheduler) {
    return scheduler->kernel == scheduler->stream->kernel_count;
}
