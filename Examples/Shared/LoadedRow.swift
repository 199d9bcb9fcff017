import Alcedo

/// What became of one image.
struct LoadedRow: Sendable {
    struct Facts: Sendable {
        var layer: ImageResponse.Layer
        var format: ImageFormat?
        var size: PixelSize
        /// Encoded bytes; nil for an image from memory.
        var byteCount: Int?
        var duration: Duration
    }

    var name: String
    var result: Result<Facts, any Error>
}
