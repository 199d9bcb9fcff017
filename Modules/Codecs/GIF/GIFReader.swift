import AlcedoCore
private import CGIFShim

/// Owns one giflib decoder, stopped before the rows of the first image. The bytes it reads must outlive it.
final class GIFReader {
    private let shim: OpaquePointer
    let frame: GIFFrame
    private let palette: GIFPalette

    /// Reads up to the first image's rows.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard let base = bytes.baseAddress, let shim = alcedo_gif_create(base, bytes.count) else {
            throw ImageDecodingError(.outOfMemory, "giflib could not be started")
        }
        var header = alcedo_gif_frame()
        let status = alcedo_gif_read_header(shim, &header)
        var rgb = [UInt8](repeating: 0, count: 3 * GIFPalette.maximumCount)
        let colorCount = status == ALCEDO_GIF_OK ? alcedo_gif_copy_palette(shim, &rgb, GIFPalette.maximumCount) : 0
        guard status == ALCEDO_GIF_OK, colorCount > 0 else {
            let error = Self.error(status, shim)
            alcedo_gif_destroy(shim)
            throw error
        }
        self.shim = shim
        frame = GIFFrame(
            left: Int(header.left),
            top: Int(header.top),
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            isInterlaced: header.interlaced != 0,
            transparentIndex: header.transparent_index < 0 ? nil : Int(header.transparent_index))
        palette = GIFPalette(rgb: Array(rgb.prefix(3 * colorCount)), transparentIndex: frame.transparentIndex)
    }

    deinit { alcedo_gif_destroy(shim) }

    /// Reads all rows onto an empty canvas. To be called once, when the canvas and the frame are within the limits.
    func readPixels(canvas: PixelSize, alphaMode: AlphaMode) throws(ImageDecodingError) -> PixelBuffer {
        let covers = frame.covers(canvas: canvas)
        var everyPixel: UInt32 = .max
        let pixels = try PixelBuffer(size: canvas, format: .rgba8, alphaMode: alphaMode) {
            (memory, stride) throws(ImageDecodingError) in
            if !covers { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            everyPixel = try readRows(into: memory, stride: stride, canvas: canvas)
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(canvas) pixels") }
        let isOpaque = covers && UInt32(littleEndian: everyPixel) >> 24 == 255
        return isOpaque ? pixels.relabelled(.opaque) : pixels
    }

    /// Returns all pixels written, combined by "and".
    private func readRows(
        into memory: UnsafeMutableRawBufferPointer, stride: Int, canvas: PixelSize
    ) throws(ImageDecodingError) -> UInt32 {
        guard let base = memory.baseAddress else { return .max }
        let columns = frame.visibleColumns(canvasWidth: canvas.width)
        var row = [UInt8](repeating: 0, count: frame.size.width)
        var everyPixel: UInt32 = .max
        for y in frame.rowOrder {
            let status = alcedo_gif_read_row(shim, &row, row.count)
            guard status == ALCEDO_GIF_OK else { throw Self.error(status, shim) }
            guard frame.top + y < canvas.height, !columns.isEmpty else { continue }
            let out = (base + (frame.top + y) * stride + frame.left * 4).assumingMemoryBound(to: UInt32.self)
            for x in columns {
                let pixel = palette.pixels[Int(row[x])]
                out[x] = pixel
                everyPixel &= pixel
            }
        }
        return everyPixel
    }

    private static func error(_ status: alcedo_gif_status, _ shim: OpaquePointer) -> ImageDecodingError {
        let message = "GIF: \(String(cString: alcedo_gif_message(shim)))"
        return switch status {
        case ALCEDO_GIF_OK: ImageDecodingError(.corrupt, "GIF: the image has no palette")
        case ALCEDO_GIF_TRUNCATED: ImageDecodingError(.truncated, message)
        case ALCEDO_GIF_UNSUPPORTED:
            ImageDecodingError(.unsupportedVariant, "GIF: codes of more than 8 bits a pixel are not decoded")
        case ALCEDO_GIF_NO_IMAGE: ImageDecodingError(.corrupt, "GIF: there is no image")
        case ALCEDO_GIF_OUT_OF_MEMORY: ImageDecodingError(.outOfMemory, message)
        default: ImageDecodingError(.corrupt, message)
        }
    }
}
