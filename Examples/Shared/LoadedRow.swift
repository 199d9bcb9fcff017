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

    /// Why there is no image, in words that quote no password.
    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var name: String
    var result: Result<Facts, Problem>
}
