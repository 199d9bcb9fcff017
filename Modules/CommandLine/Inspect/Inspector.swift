import Alcedo
import FoundationEssentials

/// Fills in reports.
struct Inspector: Sendable {
    let codecs: CodecRegistry
    let limits: DecodingLimits
    let decodesPixels: Bool

    /// Returns the report with what the bytes say, or with the error and what was known before it. Blocks.
    func inspect(_ data: Data, _ blank: ImageReport) -> ImageReport {
        var report = blank
        report.format = codecs.entry(for: data)?.format.rawValue
        do throws(ImageDecodingError) {
            report.take(try codecs.inspect(data, limits: limits))
            if decodesPixels { report.frames = try digests(of: data) }
        } catch {
            report.error = "\(error.code.rawValue): \(error.message)"
        }
        return report
    }

    private func digests(of data: Data) throws(ImageDecodingError) -> [FrameDigest] {
        let image = try codecs.decode(data, options: DecodingOptions(limits: limits, appliesOrientation: false))
        guard let animation = image.frames else { return [FrameDigest(image.pixels)] }
        var digests: [FrameDigest] = []
        for index in 0..<animation.frameCount {
            do {
                digests.append(FrameDigest(try animation.frame(at: index)))
            } catch {
                throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "frame \(index): \(error)")
            }
        }
        return digests
    }
}
