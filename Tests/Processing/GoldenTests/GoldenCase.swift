import AlcedoCore
import AlcedoProcessing
import Testing

/// A picture that another program made, and how near ours must come.
struct GoldenCase: Sendable, CustomTestStringConvertible {
    /// The file without its extension; begins with the program's name.
    let file: String
    /// The file that it was made of.
    let source: String
    let processor: any ImageProcessing
    /// The largest difference in levels of 255, colour multiplied by alpha.
    let tolerance: Int
    /// Pixels from the picture's edges, and from transparent ones, that do not count: the programs' edges differ.
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
