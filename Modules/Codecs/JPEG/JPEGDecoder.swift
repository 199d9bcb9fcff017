public import AlcedoCore
private import CJPEGShim
package import FoundationEssentials

/// Decodes JPEG as `CodecRegistry.Entry.jpeg` describes.
///
/// A file that ends early or lost entropy-coded data is an error, although libjpeg only warns and fills in gray. Codes that
/// are none are an error where it notices them, which it does not with many bytes at hand; they do no harm. Of an image in
/// one scan a part is the rows above the cut; of one in several it is the whole, coarser. Arithmetic coding gives no parts.
/// An XMP packet beyond its first 64 KiB is not read. Source: ITU-T T.81; Adobe technical note 5116 for the inverted
/// ink of CMYK.
package struct JPEGDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            guard let info = try JPEGReader(bytes, limits: limits, keepsMetadata: true).info else {
                throw Self.noHeader
            }
            return info
        }
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        do throws(ImageDecodingError) {
            return try JPEGPartialImage.decode(data, options)
        } catch {
            return try JPEGDecodingState.part(of: data, options: options, partialError: error)
        }
    }

    /// Hands over rows as they are decoded. Memory is O(*w*) for one scan; several need all coefficients, about two bytes
    /// a sample. A picture that must be turned is decoded whole.
    ///
    /// - Throws: ``ImageDecodingError``, and what the consumer throws.
    package func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
        try data.withUnsafeBytes { memory in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
            let reader = try JPEGReader(memory.assumingMemoryBound(to: UInt8.self), limits: options.limits)
            guard !options.appliesOrientation || reader.info?.orientation == .up else {
                return try decode(data, options: options.forRows).sendRows(to: consumer)
            }
            try reader.sendRows(options, to: consumer)
        }
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(JPEGDecodingState(options: options))
    }

    /// The output, a second one where it is turned, and the coefficients of an image in several scans.
    ///
    /// - Throws: ``ImageDecodingError`` as ``inspect(_:limits:)``.
    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try JPEGReader(bytes, limits: options.limits).byteCount(options)
        }
    }

    private static var noHeader: ImageDecodingError { ImageDecodingError(.corrupt, "JPEG: there is no header") }
}

extension CodecRegistry.Entry {
    /// JPEG by libjpeg-turbo: baseline and progressive, Huffman and arithmetic coding; gray, YCbCr, RGB, CMYK, YCCK.
    /// Recognized by its start-of-image marker and the marker that follows it. The encoder's best quality keeps colors at
    /// full resolution.
    ///
    /// The result is opaque RGBA8, or gray8 for a gray file on request, with the accurate integer DCT and smooth upsampling,
    /// the library's own defaults. With a target size the DCT scales to an eighth, a quarter or a half, and the full-size
    /// image is never in memory.
    ///
    /// A file that ends early or lost entropy-coded data is an error, although libjpeg only warns and fills in gray. A partial
    /// image of a file in one scan has the rows above the damage; of one in several scans it is the whole image, coarser.
    /// Arithmetic coding gives no partial images. An XMP packet beyond its first 64 KiB is not read.
    public static var jpeg: Self {
        Self(
            format: .jpeg, decoder: JPEGDecoder(), signatures: [[0xFF, 0xD8, 0xFF]],
            makeEncoder: { quality in
                JPEGEncoder(quality: Int((quality * 100).rounded()), subsampling: quality < 1 ? .both : .none)
            })
    }
}

/// The plain C loop over libjpeg that benchmarks compare ``JPEGDecoder`` with.
package enum JPEGReference {
    /// Decodes and throws the pixels away. Returns their number, 0 on any error.
    package static func decode(_ data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return alcedo_jpeg_reference_decode(base.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }
}
