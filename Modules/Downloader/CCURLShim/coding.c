#define _GNU_SOURCE  // RTLD_DEFAULT
#include "CCURLShim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Content codings. libcurl's own decoders refuse codings that they do not know, and bytes behind the end of a stream;
// both occur on the web. The libraries are those that libcurl uses. They are looked up at run time, so that a program
// needs no further library; the declarations below are part of their stable binary interfaces.

enum { MAXIMUM_LAYERS = 4, BUFFER_SIZE = 64 << 10 };

// From zlib.h. The version is that of the structure.
typedef struct {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state, *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
} zlib_stream;
enum { ZLIB_OK = 0, ZLIB_STREAM_END = 1, ZLIB_MEM_ERROR = -4, ZLIB_BUF_ERROR = -5, ZLIB_WINDOW = 15, ZLIB_GZIP = 16 };
static struct {
    int (*init)(zlib_stream *, int, const char *, int);
    int (*inflate)(zlib_stream *, int);
    int (*reset)(zlib_stream *);
    int (*end)(zlib_stream *);
} zlib;

// From brotli/decode.h.
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };
static struct {
    void *(*create)(void *, void *, void *);
    int (*decode)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*destroy)(void *);
} brotli;

// From zstd.h. The maximum window is that of RFC 9659, 8 MiB.
typedef struct {
    const void *bytes;
    size_t count, position;
} zstd_input;
typedef struct {
    void *bytes;
    size_t count, position;
} zstd_output;
enum { ZSTD_MAXIMUM_WINDOW_LOG = 100, ZSTD_WINDOW_LOG = 23 };
static struct {
    void *(*create)(void);
    size_t (*set)(void *, int, int);
    size_t (*decode)(void *, zstd_output *, zstd_input *);
    size_t (*destroy)(void *);
    unsigned (*is_error)(size_t);
} zstd;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void) {
#define LOOK_UP(function, name) *(void **)&function = dlsym(RTLD_DEFAULT, name)
    LOOK_UP(zlib.init, "inflateInit2_");
    LOOK_UP(zlib.inflate, "inflate");
    LOOK_UP(zlib.reset, "inflateReset");
    LOOK_UP(zlib.end, "inflateEnd");
    LOOK_UP(brotli.create, "BrotliDecoderCreateInstance");
    LOOK_UP(brotli.decode, "BrotliDecoderDecompressStream");
    LOOK_UP(brotli.destroy, "BrotliDecoderDestroyInstance");
    LOOK_UP(zstd.create, "ZSTD_createDCtx");
    LOOK_UP(zstd.set, "ZSTD_DCtx_setParameter");
    LOOK_UP(zstd.decode, "ZSTD_decompressStream");
    LOOK_UP(zstd.destroy, "ZSTD_freeDCtx");
    LOOK_UP(zstd.is_error, "ZSTD_isError");
#undef LOOK_UP
}

int alcedo_curl_decodes(alcedo_curl_coding coding) {
    pthread_once(&once, look_up);
    switch (coding) {
    case ALCEDO_CURL_GZIP:
    case ALCEDO_CURL_DEFLATE:
        return zlib.init && zlib.inflate && zlib.reset && zlib.end;
    case ALCEDO_CURL_BROTLI:
        return brotli.create && brotli.decode && brotli.destroy;
    case ALCEDO_CURL_ZSTD:
        return zstd.create && zstd.set && zstd.decode && zstd.destroy && zstd.is_error;
    }
    return 0;
}

static int begin_inflating(zlib_stream *stream, int window) {
    return zlib.init(stream, window, "1.2.0", sizeof *stream) == ZLIB_OK;
}

// A decoder of one coding, and the decoded bytes that have not been read.
typedef struct {
    alcedo_curl_coding coding;
    zlib_stream zlib;
    void *other;  // the state of brotli or zstd
    int has_zlib;
    int has_ended;
    int may_have_output;  // the last call filled the buffer
    int is_between;       // a member of a gzip stream has ended
    int is_later;         // the member is not the first
    int has_member_output;
    int has_frame_ended;
    size_t start, end;
    uint8_t buffer[BUFFER_SIZE];
} layer;

struct alcedo_curl_decoder {
    size_t count;
    layer *layers[MAXIMUM_LAYERS];
    const uint8_t *input;
    size_t input_count;
};

void alcedo_curl_decoder_destroy(alcedo_curl_decoder *d) {
    for (size_t i = 0; i < d->count; i++) {
        layer *l = d->layers[i];
        if (!l) continue;
        if (l->has_zlib) zlib.end(&l->zlib);
        if (l->other && l->coding == ALCEDO_CURL_BROTLI) brotli.destroy(l->other);
        if (l->other && l->coding == ALCEDO_CURL_ZSTD) zstd.destroy(l->other);
        free(l);
    }
    free(d);
}

static layer *make_layer(alcedo_curl_coding coding) {
    layer *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->coding = coding;
    switch (coding) {
    case ALCEDO_CURL_GZIP:
        l->has_zlib = begin_inflating(&l->zlib, ZLIB_WINDOW + ZLIB_GZIP);
        break;
    case ALCEDO_CURL_DEFLATE:
        break;  // once the first byte shows whether the stream has the zlib format
    case ALCEDO_CURL_BROTLI:
        l->other = brotli.create(NULL, NULL, NULL);
        break;
    case ALCEDO_CURL_ZSTD:
        l->other = zstd.create();
        if (l->other) zstd.set(l->other, ZSTD_MAXIMUM_WINDOW_LOG, ZSTD_WINDOW_LOG);
        break;
    }
    if (l->has_zlib || l->other || coding == ALCEDO_CURL_DEFLATE) return l;
    free(l);
    return NULL;
}

alcedo_curl_decoder *alcedo_curl_decoder_create(const alcedo_curl_coding *codings, size_t count) {
    if (count == 0 || count > MAXIMUM_LAYERS) return NULL;
    alcedo_curl_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->count = count;
    for (size_t i = 0; i < count; i++) {
        if (alcedo_curl_decodes(codings[i]) && (d->layers[i] = make_layer(codings[i]))) continue;
        alcedo_curl_decoder_destroy(d);
        return NULL;
    }
    return d;
}

void alcedo_curl_decoder_feed(alcedo_curl_decoder *d, const uint8_t *bytes, size_t count) {
    d->input = bytes;
    d->input_count = count;
}

size_t alcedo_curl_decoder_unread(const alcedo_curl_decoder *d) { return d->input_count; }

static alcedo_curl_coding_status inflate_some(layer *l, const uint8_t **in, size_t *count) {
    if (!l->has_zlib) {
        if (*count == 0) return ALCEDO_CURL_CODING_MORE;
        // The zlib format begins with compression method 8 and a window of at most 32 KiB. Some servers send the
        // deflate format without it.
        const int has_header = (**in & 0x0F) == 8 && **in >> 4 <= 7;
        if (!begin_inflating(&l->zlib, has_header ? ZLIB_WINDOW : -ZLIB_WINDOW)) return ALCEDO_CURL_CODING_NO_MEMORY;
        l->has_zlib = 1;
    }
    if (l->is_between) {
        if (*count == 0) return ALCEDO_CURL_CODING_MORE;
        // RFC 1952 section 2.2: a file has any number of members. Other bytes behind a member are ignored.
        if (**in != 0x1F || zlib.reset(&l->zlib) != ZLIB_OK) return ALCEDO_CURL_CODING_END;
        l->is_between = 0;
        l->is_later = 1;
        l->has_member_output = 0;
    }
    l->zlib.next_in = *in;
    // The rest of a larger piece follows in the next call.
    l->zlib.avail_in = *count > 1 << 30 ? 1 << 30 : (unsigned)*count;
    l->zlib.next_out = l->buffer;
    l->zlib.avail_out = BUFFER_SIZE;
    const size_t offered = l->zlib.avail_in;
    const int status = zlib.inflate(&l->zlib, 0);
    *in += offered - l->zlib.avail_in;
    *count -= offered - l->zlib.avail_in;
    l->end = BUFFER_SIZE - l->zlib.avail_out;
    l->has_member_output |= l->end > 0;
    switch (status) {
    case ZLIB_OK:
    case ZLIB_BUF_ERROR:
        return ALCEDO_CURL_CODING_MORE;
    case ZLIB_STREAM_END:
        if (l->coding == ALCEDO_CURL_DEFLATE) return ALCEDO_CURL_CODING_END;
        l->is_between = 1;
        return ALCEDO_CURL_CODING_MORE;
    case ZLIB_MEM_ERROR:
        return ALCEDO_CURL_CODING_NO_MEMORY;
    default:
        return l->is_later && !l->has_member_output ? ALCEDO_CURL_CODING_END : ALCEDO_CURL_CODING_INVALID;
    }
}

static alcedo_curl_coding_status unbrotli(layer *l, const uint8_t **in, size_t *count) {
    uint8_t *next = l->buffer;
    size_t space = BUFFER_SIZE;
    const int status = brotli.decode(l->other, count, in, &space, &next, NULL);
    l->end = BUFFER_SIZE - space;
    return status == BROTLI_ERROR     ? ALCEDO_CURL_CODING_INVALID
           : status == BROTLI_SUCCESS ? ALCEDO_CURL_CODING_END
                                      : ALCEDO_CURL_CODING_MORE;
}

static alcedo_curl_coding_status unzstd(layer *l, const uint8_t **in, size_t *count) {
    zstd_input input = {*in, *count, 0};
    zstd_output output = {l->buffer, BUFFER_SIZE, 0};
    const size_t status = zstd.decode(l->other, &output, &input);
    *in += input.position;
    *count -= input.position;
    l->end = output.position;
    // Frames may follow each other (RFC 8878 section 3.1). Other bytes behind a frame are ignored.
    if (zstd.is_error(status)) return l->has_frame_ended ? ALCEDO_CURL_CODING_END : ALCEDO_CURL_CODING_INVALID;
    if (status == 0) l->has_frame_ended = 1;
    else if (output.position > 0) l->has_frame_ended = 0;
    return ALCEDO_CURL_CODING_MORE;
}

static alcedo_curl_coding_status decode_some(layer *l, const uint8_t **in, size_t *count) {
    l->start = l->end = 0;
    const size_t before = *count;
    alcedo_curl_coding_status status = ALCEDO_CURL_CODING_INVALID;
    switch (l->coding) {
    case ALCEDO_CURL_GZIP:
    case ALCEDO_CURL_DEFLATE:
        status = inflate_some(l, in, count);
        break;
    case ALCEDO_CURL_BROTLI:
        status = unbrotli(l, in, count);
        break;
    case ALCEDO_CURL_ZSTD:
        status = unzstd(l, in, count);
        break;
    }
    l->may_have_output = l->end == BUFFER_SIZE;
    // Without progress, the loop of the caller would not end.
    if (status == ALCEDO_CURL_CODING_MORE && before > 0 && *count == before && l->end == 0)
        return ALCEDO_CURL_CODING_INVALID;
    return status;
}

// Fills the buffer of a layer from the layer below it. Leaves the buffer empty if more input is needed.
static alcedo_curl_coding_status fill(alcedo_curl_decoder *d, size_t index) {
    layer *l = d->layers[index];
    while (l->start == l->end && !l->has_ended) {
        const uint8_t *in = d->input;
        size_t count = d->input_count;
        if (index > 0) {
            layer *below = d->layers[index - 1];
            const alcedo_curl_coding_status status = fill(d, index - 1);
            if (status != ALCEDO_CURL_CODING_MORE) return status;
            in = below->buffer + below->start;
            count = below->end - below->start;
        }
        if (count == 0 && !l->may_have_output) return ALCEDO_CURL_CODING_MORE;
        const alcedo_curl_coding_status status = decode_some(l, &in, &count);
        if (index > 0) {
            d->layers[index - 1]->start = d->layers[index - 1]->end - count;
        } else {
            d->input = in;
            d->input_count = count;
        }
        if (status == ALCEDO_CURL_CODING_END) l->has_ended = 1;
        else if (status != ALCEDO_CURL_CODING_MORE) return status;
    }
    // Bytes behind the end are dropped.
    if (l->has_ended && l->start == l->end) d->input_count = 0;
    return ALCEDO_CURL_CODING_MORE;
}

alcedo_curl_coding_status alcedo_curl_decoder_read(alcedo_curl_decoder *d, const uint8_t **bytes, size_t *count) {
    layer *last = d->layers[d->count - 1];
    const alcedo_curl_coding_status status = fill(d, d->count - 1);
    *bytes = last->buffer + last->start;
    *count = status == ALCEDO_CURL_CODING_MORE ? last->end - last->start : 0;
    return status;
}

void alcedo_curl_decoder_advance(alcedo_curl_decoder *d) {
    layer *last = d->layers[d->count - 1];
    last->start = last->end;
}
