public import AlcedoCore
private import CPNGShim
package import FoundationEssentials

/// Decodes PNG as `CodecRegistry.Entry.png` describes.
///
/// A damaged file is read once more, or twice for a part of it, and nothing is allocated for its pixels before it is known
/// that there will be an image. Source: W3C PNG specification, third edition.
package struct PNGDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    /// O(chunks): metadata may come after the pixels, and are found when the bytes are there.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` for a file that ends before its pixels, and an animation without its
    ///   end, `exceedsLimit` for more frames than `limits` allows.
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try PNGWholeImage.inspect(data, limits: limits)
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try PNGWholeImage.decode(data, options: options)
    }

    package func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
        var strict = options
        // Nothing that was handed over could be taken back.
        strict.allowsPartial = false
        strict.includesAnimation = false
        let isStreamed = try data.bytes.withUnsafeBytes { memory in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
            let file = try PNGFile(memory.assumingMemoryBound(to: UInt8.self), limits: options.limits)
            let still = try PNGStill(file, strict)
            guard file.outline.animation == nil, still.plan.streams, still.plan.pendingOrientation == .up else {
                return false
            }
            try still.sendRows(to: consumer)
            return true
        }
        if !isStreamed { try decode(data, options: strict).sendRows(to: consumer) }
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(PNGIncrementalState(options: options))
    }

    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let file = try PNGFile(bytes, limits: options.limits)
            guard file.outline.animation != nil else {
                return PNGPlan(file.reader.header, file.info, options).byteCount
            }
            // The canvas, the one it is restored from, a frame, and the finished picture with its turn.
            let canvas = PixelBuffer.byteCount(size: file.info.size, format: .rgba8) ?? Int.max
            let (total, overflow) = canvas.multipliedReportingOverflow(by: 5)
            return overflow ? Int.max : total
        }
    }
}

extension CodecRegistry.Entry {
    /// PNG of every color type, bit depth and interlacing, and animated PNG, by libpng. Recognized by its eight-byte
    /// signature.
    ///
    /// The result is RGBA8: palettes, gray levels and `tRNS` are expanded, 16-bit samples lose their low byte. On request
    /// gray without transparency is gray8, and a file of 16 bits is rgba16. Animations are always RGBA8. No gamma is applied.
    /// The orientation is that of EXIF or, without any, of XMP.
    ///
    /// Memory is O(*w*) for a target size and for rows, also for damaged files; an interlaced image, one that is turned, and
    /// an animation need all their pixels.
    public static var png: Self {
        Self(
            format: .png, decoder: PNGDecoder(),
            signatures: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]],
            makeEncoder: { _ in PNGEncoder() })
    }
}

/// The plain C loop over libpng that benchmarks compare ``PNGDecoder`` with.
package enum PNGReference {
    /// Decodes and throws the pixels away. Returns their number, 0 on any error.
    package static func decode(_ data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return alcedo_png_reference_decode(base.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }
}
