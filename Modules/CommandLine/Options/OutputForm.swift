import Alcedo
import AlcedoProgramSupport

/// The form of the files that a command writes: their sizes, processors, encoder and metadata.
struct OutputForm: Sendable {
    let fit: FitOptions
    /// The processors applied after resizing, with overlays, in order.
    let processors: [any ImageProcessing]
    let encoder: any ImageEncoding
    let metadata: MetadataPolicy
    /// The resolution to write, or nil for the one that the policy keeps.
    let resolution: ImageResolution?
    /// The index of the only frame to write. Default: nil, for an animation or, in a thumbnail, the first frame.
    var frame: Int?
    /// Whether an overlay is drawn, for which colors are converted to sRGB. Default: false.
    var hasOverlay = false

    /// Whether ``variants(of:in:keepsAnimation:keepsDepth:with:)`` makes the files.
    var needsConverter: Bool { fit.sizes.count > 1 || frame != nil || hasOverlay }

    /// The losses that the options request, which are not reported.
    var expectedLosses: Set<Loss> {
        Set(frame == nil ? [] : [.animation]).union(hasOverlay ? [.profile] : [])
    }

    /// The processors of the only file of an image.
    var allProcessors: [any ImageProcessing] { fit.sizes.first.map { [fit.processor($0)] + processors } ?? processors }

    /// Converts an image to one file for each size, or to one file without a size, with one decode, when the memory for
    /// it is available.
    ///
    /// - Parameters:
    ///   - original: The original bytes of the image.
    ///   - colorSpace: The color space of the files.
    ///   - keepsAnimation: Whether an animation stays one. Otherwise, its first frame is converted.
    ///   - keepsDepth: Whether samples of more than 8 bits are kept, if the format holds them.
    ///   - tools: The tools of the job.
    /// - Throws: The errors of the converter, and ``OutputError`` after the time limit.
    func variants(
        of original: FileTools.Original, in colorSpace: OutputColorSpace, keepsAnimation: Bool, keepsDepth: Bool,
        with tools: FileTools
    ) async throws -> ConvertedImages {
        var converter = tools.converter(for: original)
        converter.keepsDepth = keepsDepth
        (converter.metadata, converter.resolution) = (metadata, resolution)
        converter.colorSpace = colorSpace
        converter.processors = processors
        converter.frame = frame ?? (keepsAnimation ? nil : 0)
        let variants =
            fit.sizes.isEmpty
            ? [ImageConverter.Variant(encoder)] : fit.sizes.map { ImageConverter.Variant(fit.processor($0), encoder) }
        return try await tools.timeLimit.apply { [converter] _ in
            try await converter.convert(original.data, to: variants)
        }
    }
}
