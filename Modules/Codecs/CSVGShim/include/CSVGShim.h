// Functions over librsvg and cairo for Swift. They hide the differences between librsvg 2.54 and 2.60.
#ifndef ALCEDO_CSVGSHIM_H
#define ALCEDO_CSVGSHIM_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct alcedo_svg_drawing alcedo_svg_drawing;

typedef enum {
    ALCEDO_SVG_OK = 0,
    /// The library rejects the document or cannot draw it.
    ALCEDO_SVG_CORRUPT,
    /// The document exceeds a limit of the library.
    ALCEDO_SVG_LIMIT,
    /// The time limit is exceeded.
    ALCEDO_SVG_TIMEOUT,
    ALCEDO_SVG_OUT_OF_MEMORY,
    /// The library failed.
    ALCEDO_SVG_PANIC,
    /// The caller was canceled while the document waited for its turn.
    ALCEDO_SVG_CANCELED,
    /// The bytes end too early.
    ALCEDO_SVG_TRUNCATED,
} alcedo_svg_status;

/// The maximum number of pixels of a side of an image surface of cairo.
#define ALCEDO_SVG_MAXIMUM_SIDE 32767

typedef struct {
    /// The size of the image in pixels, from 1 to ALCEDO_SVG_MAXIMUM_SIDE.
    uint32_t width;
    uint32_t height;
    /// The size of the document in its own pixels, greater than 0. It is scaled to the size of the image.
    double document_width;
    double document_height;
    /// The time limit in nanoseconds.
    uint64_t time_limit;
    /// Whether the document is known to need little time and stack. It is then drawn on the calling thread, without a
    /// time limit.
    int is_light;
    /// Returns whether the caller was canceled. Called while the document waits for its turn, and must not block. With
    /// NULL, the caller is never canceled.
    int (*_Nullable is_canceled)(void);
} alcedo_svg_settings;

/// Draws a document on a thread of its own and waits for it, until the time limit at most. Draws a light document
/// itself.
///
/// The bytes are copied. After the time limit, librsvg 2.59 and later stops at the next element. Earlier versions draw
/// to the end on their thread and release their memory then. Until its thread ends, such a drawing holds a turn, but
/// for at most 10 times its limit. While two turns are held, further drawings wait. Their own limit begins after that.
/// Returns NULL when memory is exhausted or no thread can be created.
alcedo_svg_drawing *_Nullable alcedo_svg_draw(
    const uint8_t *_Nonnull bytes, size_t count, const alcedo_svg_settings *_Nonnull settings);

/// A turn of a drawing that still runs after its time limit.
typedef struct alcedo_svg_turn {
    struct timespec end;
    struct alcedo_svg_turn *_Nullable next;
} alcedo_svg_turn;

/// Waits until fewer than two turns are held. Returns 0 when the caller was canceled before.
int alcedo_svg_wait_for_turn(int (*_Nullable is_canceled)(void));
/// Holds a turn until a time of the monotonic clock, or until alcedo_svg_end_turn is called. The latter must happen
/// before the memory of the turn is freed.
void alcedo_svg_hold_turn(alcedo_svg_turn *_Nonnull turn, struct timespec end);
/// Ends a turn. Has no effect if its time is over.
void alcedo_svg_end_turn(alcedo_svg_turn *_Nonnull turn);

/// Returns the result. The following functions require ALCEDO_SVG_OK.
alcedo_svg_status alcedo_svg_result(const alcedo_svg_drawing *_Nonnull drawing);

/// Returns librsvg's message for an error.
const char *_Nonnull alcedo_svg_message(const alcedo_svg_drawing *_Nonnull drawing);

/// Returns whether every pixel is opaque.
int alcedo_svg_is_opaque(const alcedo_svg_drawing *_Nonnull drawing);

/// Writes the rows as RGBA, `stride` bytes apart: premultiplied, or straight, where color with alpha 0 is black.
void alcedo_svg_copy(
    const alcedo_svg_drawing *_Nonnull drawing, int is_premultiplied, uint8_t *_Nonnull out, size_t stride);

/// Releases a drawing, with its pixels.
void alcedo_svg_release(alcedo_svg_drawing *_Nonnull drawing);

/// Decompresses a stream of DEFLATE (RFC 1951). Bytes after its end are ignored.
///
/// Writes at most `capacity` bytes, and their number to `written`, also for damaged data, and the number of bytes that
/// the stream has to `used`. Returns ALCEDO_SVG_LIMIT when
/// they may not be all, ALCEDO_SVG_TRUNCATED when the stream has no end, and ALCEDO_SVG_CORRUPT when it is invalid.
alcedo_svg_status alcedo_svg_inflate(
    const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull out, size_t capacity, size_t *_Nonnull written,
    size_t *_Nonnull used);

/// Returns the CRC-32 of RFC 1952, section 8.
uint32_t alcedo_svg_checksum(const uint8_t *_Nullable bytes, size_t count);

/// Returns the number of fonts in fontconfig's list. Several fonts can be in one file.
size_t alcedo_svg_font_count(void);

/// Returns the path of the file of a font, or NULL for a font without a file. The list, which does not change, owns it.
const char *_Nullable alcedo_svg_font_path(size_t index);
/// Ends the reports of Pango, GLib and other libraries of GNOME on standard error, of all threads. Only the first call
/// has an effect.
void alcedo_svg_discard_messages(void);

#endif
