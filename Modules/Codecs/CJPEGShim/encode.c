#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct alcedo_jpeg_encoder {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    int (*is_canceled)(void);
    jmp_buf escape;
    uint8_t *bytes;
    size_t capacity;
    char message[JMSG_LENGTH_MAX];
};

static void on_encoding_error(j_common_ptr cinfo) {
    alcedo_jpeg_encoder *e = cinfo->client_data;
    cinfo->err->format_message(cinfo, e->message);
    longjmp(e->escape, 1);
}

static void ignore_message(j_common_ptr cinfo, int level) {
    (void)cinfo;
    (void)level;
}

/// libjpeg calls this function for each call with rows, and for each row of blocks of each pass.
static void check_cancellation(j_common_ptr cinfo) {
    alcedo_jpeg_encoder *e = cinfo->client_data;
    if (!e->is_canceled || !e->is_canceled()) return;
    strcpy(e->message, "encoding was canceled");
    longjmp(e->escape, 1);
}

static void do_nothing(j_compress_ptr cinfo) { (void)cinfo; }

static void print_nothing(j_common_ptr cinfo) { (void)cinfo; }

/// Doubles the size of the buffer and keeps its contents.
static boolean on_output_full(j_compress_ptr cinfo) {
    alcedo_jpeg_encoder *e = cinfo->client_data;
    const size_t capacity = e->capacity * 2;
    uint8_t *grown = realloc(e->bytes, capacity);
    if (!grown) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
    e->bytes = grown;
    // libjpeg calls this function when the whole buffer is full, regardless of the value of `free_in_buffer`.
    e->destination.next_output_byte = grown + e->capacity;
    e->destination.free_in_buffer = capacity - e->capacity;
    e->capacity = capacity;
    return TRUE;
}

static alcedo_jpeg_status encoding_failure(const alcedo_jpeg_encoder *e) {
    return e->errors.msg_code == JERR_OUT_OF_MEMORY ? ALCEDO_JPEG_OUT_OF_MEMORY : ALCEDO_JPEG_CORRUPT;
}

alcedo_jpeg_encoder *alcedo_jpeg_encoder_create(void) {
    alcedo_jpeg_encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->cinfo.err = jpeg_std_error(&e->errors);
    e->cinfo.client_data = e;
    e->errors.error_exit = on_encoding_error;
    e->errors.emit_message = ignore_message;
    e->errors.output_message = print_nothing;
    e->capacity = 1 << 14;
    e->bytes = malloc(e->capacity);
    if (!e->bytes) {
        alcedo_jpeg_encoder_destroy(e);
        return NULL;
    }
    // C11 7.13.1.1 allows setjmp only as a whole condition.
    if (setjmp(e->escape)) {
        alcedo_jpeg_encoder_destroy(e);
        return NULL;
    }
    jpeg_create_compress(&e->cinfo);
    e->destination.init_destination = do_nothing;
    e->destination.empty_output_buffer = on_output_full;
    e->destination.term_destination = do_nothing;
    e->destination.next_output_byte = e->bytes;
    e->destination.free_in_buffer = e->capacity;
    e->cinfo.dest = &e->destination;
    e->progress.progress_monitor = check_cancellation;
    e->cinfo.progress = &e->progress;
    return e;
}

void alcedo_jpeg_encoder_destroy(alcedo_jpeg_encoder *e) {
    jpeg_destroy_compress(&e->cinfo);
    free(e->bytes);
    free(e);
}

/// Writes a segment that begins with a name, unless it would be empty. `name_size` includes the final zero of the name.
static void write_segment(
    j_compress_ptr c, int marker, const char *name, size_t name_size, const uint8_t *bytes, size_t size) {
    if (!bytes || !size) return;
    jpeg_write_m_header(c, marker, (unsigned int)(name_size + size));
    for (size_t i = 0; i < name_size; i++) jpeg_write_m_byte(c, name[i]);
    for (size_t i = 0; i < size; i++) jpeg_write_m_byte(c, bytes[i]);
}

alcedo_jpeg_status alcedo_jpeg_encoder_begin(alcedo_jpeg_encoder *e, const alcedo_jpeg_settings *s) {
    struct jpeg_compress_struct *c = &e->cinfo;
    if (setjmp(e->escape)) return encoding_failure(e);
    e->is_canceled = s->is_canceled;
    c->image_width = s->width;
    c->image_height = s->height;
    c->input_components = s->is_gray ? 1 : 4;
    c->in_color_space = s->is_gray ? JCS_GRAYSCALE : JCS_EXT_RGBX;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, s->quality, TRUE);
    if (!s->is_gray) {
        c->comp_info[0].h_samp_factor = s->horizontal_subsampling;
        c->comp_info[0].v_samp_factor = s->vertical_subsampling;
    }
    if (s->horizontal_density && s->vertical_density) {
        c->density_unit = 1;
        c->X_density = (UINT16)s->horizontal_density;
        c->Y_density = (UINT16)s->vertical_density;
    }
    c->optimize_coding = s->optimizes ? TRUE : FALSE;
    if (s->is_progressive) jpeg_simple_progression(c);
    jpeg_start_compress(c, TRUE);
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/", resources[] = "Photoshop 3.0";
    write_segment(c, JPEG_APP0 + 1, exif, sizeof exif, s->exif, s->exif_size);
    write_segment(c, JPEG_APP0 + 1, xmp, sizeof xmp, s->xmp, s->xmp_size);
    write_segment(c, JPEG_APP0 + 13, resources, sizeof resources, s->resources, s->resources_size);
    if (s->icc && s->icc_size) jpeg_write_icc_profile(c, s->icc, (unsigned int)s->icc_size);
    return ALCEDO_JPEG_OK;
}

alcedo_jpeg_status alcedo_jpeg_encoder_write(
    alcedo_jpeg_encoder *e, const uint8_t *rows, size_t stride, size_t count) {
    if (setjmp(e->escape)) return encoding_failure(e);
    // The rows of a block of 4:2:0, the most that libjpeg processes at a time.
    JSAMPROW batch[2 * DCTSIZE];
    for (size_t i = 0; i < count;) {
        JDIMENSION size = 0;
        // libjpeg only reads the rows, although its parameter is not const.
        for (; size < 2 * DCTSIZE && i < count; size++, i++) batch[size] = (JSAMPROW)(rows + i * stride);
        jpeg_write_scanlines(&e->cinfo, batch, size);
    }
    return ALCEDO_JPEG_OK;
}

alcedo_jpeg_status alcedo_jpeg_encoder_finish(alcedo_jpeg_encoder *e) {
    if (setjmp(e->escape)) return encoding_failure(e);
    jpeg_finish_compress(&e->cinfo);
    return ALCEDO_JPEG_OK;
}

size_t alcedo_jpeg_encoder_pending(const alcedo_jpeg_encoder *e) { return e->capacity - e->destination.free_in_buffer; }

const uint8_t *alcedo_jpeg_encoder_take(alcedo_jpeg_encoder *e, size_t *count) {
    *count = alcedo_jpeg_encoder_pending(e);
    e->destination.next_output_byte = e->bytes;
    e->destination.free_in_buffer = e->capacity;
    return e->bytes;
}

const char *alcedo_jpeg_encoder_message(const alcedo_jpeg_encoder *e) { return e->message; }
