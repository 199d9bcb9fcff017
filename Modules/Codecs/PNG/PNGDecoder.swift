public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.png`, whose comment describes the behavior.
///
/// When a still image seems damaged after the header, ``decode(_:options:)`` reads the file again to determine the
/// final error, if any, and a third time if the result is an image. Source: W3C PNG specification, third edition.
package struct PNGDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    /// Reads the properties of a file. Visits the chunks after the pixels, too, because they can contain metadata.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, such as `truncated` when the file ends before its pixels, or
    ///   `exceedsLimit` when it declares more frames than `limits` allows.
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try PNGWholeImage.inspect(data, limits: limits)
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try PNGWholeImage.decode(data, options: options)
    }

    @discardableResult
    package func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        let strict = options.forRows
        let streamed = try data.bytes.withUnsafeBytes { memory -> ImageDamage?? in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "PNG: the data is empty") }
            let file = try PNGFile(memory.assumingMemoryBound(to: UInt8.self), limits: options.limits)
            let still = try PNGStill(file, strict)
            guard file.outline.animation == nil, still.plan.streams, still.plan.pendingOrientation == .up else {
                return nil
            }
            let damage = try still.sendRows(to: consumer)
            return .some(file.outline.ignoresAnimation ? .worst(damage, PNGOutline.ignoredAnimation) : damage)
        }
        return try streamed ?? decode(data, options: strict).sendRows(to: consumer)
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(PNGIncrementalState(options: options))
    }

    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try data.withDecoderInput(of: "PNG") { bytes throws(ImageDecodingError) in
            let file = try PNGFile(bytes, limits: options.limits)
            guard file.outline.animation != nil else {
                return PNGPlan(file.reader.header, file.info, options).byteCount(isStill: true)
            }
            // Five buffers: the canvas, the saved canvas, one frame, the finished image and its rotated copy.
            let canvas = PixelBuffer.byteCount(size: file.info.size, format: .rgba8) ?? Int.max
            // Rows are padded, so the rotated copy can be larger than the canvas.
            let rotated = PixelBuffer.byteCount(size: file.info.uprightSize, format: .rgba8) ?? Int.max
            let (stored, overflow) = canvas.multipliedReportingOverflow(by: 4)
            let (total, isTooLarge) = stored.addingReportingOverflow(rotated)
            // The still image is decoded when the animation cannot be used.
            let still = PNGPlan(file.reader.header, file.info, options).byteCount(isStill: false)
            return overflow || isTooLarge ? Int.max : max(total, still)
        }
    }
}

extension CodecRegistry.Entry {
    /// The PNG codec, based on libpng. It decodes all color types, bit depths and interlacing, and animated PNG. PNG is
    /// recognized by its eight-byte signature.
    ///
    /// Images are decoded to RGBA8: palettes, gray levels and `tRNS` are expanded, and 16-bit samples lose their low
    /// byte. If the options request it, gray images without transparency are decoded to gray8 and 16-bit files to
    /// rgba16. Animations, and gray partial images that are interlaced or miss rows, are always RGBA8. Gamma is not
    /// applied. The orientation is read from EXIF, or from XMP when there is no EXIF.
    ///
    /// When a target size makes the image smaller or when rows are requested, decoding needs O(*w*) memory in addition
    /// to the result, even for damaged files. Interlaced images, the frames of animations and incremental decoding need
    /// full-size buffers. An image that must be reoriented needs a second buffer, and its requested rows are collected
    /// in memory first.
    ///
    /// ```swift
    /// let png = CodecRegistry([.png])
    /// let image = try png.decode(data, options: DecodingOptions(target: TargetSize(width: 320, height: 320)))
    /// ```
    public static var png: Self {
        Self(
            format: .png, decoder: PNGDecoder(),
            signatures: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]],
            makeEncoder: { _ in PNGEncoder() })
    }
}
