import AlcedoCore
import AlcedoProcessing
import Testing

/// An image made by another program, and the tolerance for this module's result.
struct GoldenCase: Sendable, CustomTestStringConvertible {
    /// The file name without extension, which begins with the name of the program.
    let file: String
    /// The file from which it was made.
    let source: String
    let processor: any ImageProcessing
    /// The largest difference in levels of 255, with premultiplied color.
    let tolerance: Int
    /// The distance from the image's edges and from transparent pixels within which pixels do not count, because the
    /// programs treat edges differently.
    let margin: Int

    init(
        _ file: String, of source: String = "color", _ processor: any ImageProcessing, within tolerance: Int,
        margin: Int = 0
    ) {
        self.file = file
        self.source = source
        self.processor = processor
        self.tolerance = tolerance
        self.margin = margin
    }

    var testDescription: String { file }
}
