import Alcedo
import ExampleSupport

/// What was made of an image.
struct MadeImage: Sendable {
    /// Of the files, in pixels.
    var size: PixelSize
    var layer: ImageResponse.Layer
    /// Encoded bytes that were read.
    var bytesIn: Int
    /// Bytes that were written.
    var bytesOut: Int
    /// The frame in each file; nil: the image.
    var frames: [Int?] = [nil]
    var losses: [Loss] = []
    /// False when an interruption has come between the frames.
    var isWhole = true
}
