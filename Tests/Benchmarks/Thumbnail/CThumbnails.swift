import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if HEIF
    import AlcedoHEIF
#endif
#if JXL
    import AlcedoJXL
#endif
#if SVG
    import AlcedoSVG
#endif
import CReferenceDecoders
import FoundationEssentials

/// The floor of a thumbnail: reads a file, and decodes it with a plain C loop over the library, at the scale that the
/// decoder of the package uses. Nothing is filtered.
struct CThumbnails {
    private let decode: (UnsafePointer<UInt8>, Int) -> Int

    /// Creates the loop for a format, or nil if there is none.
    ///
    /// - Parameter frameLimit: The maximum number of frames of an animation, or nil for still images.
    init?(_ format: ImageFormat, frameLimit: Int? = nil) {
        let side = PipelineThumbnails.side
        switch (format, frameLimit) {
        case (.jpeg, nil): decode = { alcedo_reference_reduce_jpeg($0, $1, side) }
        case (.png, nil): decode = alcedo_reference_decode_png
        case (.webp, nil): decode = alcedo_reference_decode_webp
        case (.webp, let limit?): decode = { alcedo_reference_decode_webp_frames($0, $1, limit) }
        case (.gif, let limit?): decode = { alcedo_reference_decode_gif_frames($0, $1, limit) }
        #if AVIF
            case (.avif, nil): decode = alcedo_reference_decode_avif
        #endif
        #if HEIF
            case (.heif, nil): decode = alcedo_reference_decode_heif
        #endif
        #if JXL
            case (.jxl, nil): decode = alcedo_reference_decode_jxl
        #endif
        #if SVG
            case (.svg, nil): decode = { alcedo_reference_draw_svg($0, $1, side) }
        #endif
        default: return nil
        }
    }

    /// Reads and decodes a file, and returns the duration. Throws ``BenchError`` if the loop cannot decode it.
    func make(_ path: String) async throws -> ThumbnailTime {
        try await ThumbnailTime.of {
            let data = try Data(contentsOf: URL(filePath: path))
            let count = data.withUnsafeBytes { bytes in
                bytes.baseAddress.map { decode($0.assumingMemoryBound(to: UInt8.self), bytes.count) } ?? 0
            }
            guard count > 0 else { throw BenchError(description: "the C loop cannot decode \(path)") }
        }
    }
}
