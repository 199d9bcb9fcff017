import AlcedoColor
import AlcedoCore
import FoundationEssentials

/// Compares images that are converted to sRGB with the results of other color engines.
struct ColorCheck {
    let directory: String
    private let codecs = CodecRegistry.conformance
    /// The references have no black point compensation.
    private let converter = LittleCMSColorConverter(compensatesBlackPoint: false)
    /// The differences of all files whose subject is color.
    private(set) var differences = ColorDifferences()

    init(directory: String) { self.directory = directory }

    /// Converts a bad file to sRGB, which must neither crash nor hang.
    func convert(_ data: Data) {
        var options = DecodingOptions()
        options.keepsInks = true
        guard let image = try? codecs.decode(data, options: options) else { return }
        _ = try? converter.converted(image)
    }

    /// Returns a list of problems. It is empty for files without a reference in sRGB.
    mutating func problems(_ file: Manifest.File, _ data: Data) -> [String] {
        guard let reference = file.srgbBoxReference else { return [] }
        do {
            var options = file.options
            options.keepsInks = true
            let image = try codecs.decode(data, options: options)
            // An unusable profile is ignored, as in a pipeline.
            let plan = ColorConversionPlan(image.rowHeader, to: .sRGB, by: converter)
            let pixels = plan.applied(to: image, by: converter, .sRGB).pixels
            if file.directory == "icc", let means = try file.means(reference, in: directory) {
                differences.add(reference.boxGrid(of: pixels).means, Array(means))
            }
            if try file.isNear(pixels, reference, in: directory) { return [] }
            return ["the colors in sRGB differ" + (plan.error.map { " (\($0))" } ?? "")]
        } catch {
            return ["\(error)"]
        }
    }
}
