public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.bmp`, whose comment describes the behavior.
///
/// Decoding holds no copy of the bitmap in addition to the result: rows are read from the data in the order of the
/// image, even when the file stores them from the bottom. Source: Microsoft, "Bitmap Storage" and "Bitmap Header
/// Types".
package struct BMPDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    /// Reads the header and the color profile. O(1).
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the data ends within the headers or the palette.
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput(of: "BMP") { bytes throws(ImageDecodingError) in
            let file = try BMPFile(bytes, limits: limits)
            try limits.check(file.header.size, format: .rgba8)
            return file.header.info(format: .bmp, colorProfile: file.profile.map { Data(bytes[$0]) })
        }
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput(of: "BMP") { bytes throws(ImageDecodingError) in
            try BMPFile(bytes, limits: options.limits).bitmap(options).image(options, as: .bmp)
        }
    }

    /// Sends the rows of the image. Memory is O(*w*), and O(*h*) for run-length compression.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, before the first row, and the errors of the consumer.
    @discardableResult
    package func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        try data.bytes.withUnsafeBytes { memory in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "BMP: the data is empty") }
            return try BMPFile(memory.assumingMemoryBound(to: UInt8.self), limits: options.limits).bitmap(options)
                .sendRows(options, to: consumer)
        }
    }

    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try data.withDecoderInput(of: "BMP") { bytes throws(ImageDecodingError) in
            let file = try BMPFile(bytes, limits: options.limits)
            try options.limits.check(file.header.size, format: Bitmap.format(of: file.header, options))
            return file.header.decodingByteCount(options)
        }
    }
}

extension CodecRegistry.Entry {
    /// The codec of Windows and OS/2 bitmaps (BMP), which decodes without a C library. The format cannot be written.
    ///
    /// ```swift
    /// let image = try CodecRegistry([.bmp]).decode(data)
    /// ```
    ///
    /// The codec supports all headers of Microsoft (core, info, versions 4 and 5), the headers of OS/2, pixels of 1, 2,
    /// 4, 8, 16, 24 and 32 bits, run lengths (RLE4, RLE8) and bit fields. The format is recognized by `BM` and the
    /// number of bytes of its second header. A bitmap without the first header is recognized by a second header of 40
    /// bytes with one plane.
    ///
    /// The result is RGBA8, or RGBA16 when it is requested and samples have more than 8 bits. Bits without a mask are
    /// unused: pixels have alpha only if the header has an alpha mask. Without bit fields, the mask applies when a
    /// pixel has a bit of it. Pixels that run lengths skip are transparent black, as in browsers. Indices beyond the
    /// palette are opaque black. An embedded color profile is that of the result, unless it is a gray one. Linked
    /// profiles, and the primaries and gamma values of headers, are ignored. With a target size, square cells of pixels
    /// are averaged. There are no previews.
    ///
    /// A missing end code of run lengths, missing padding of the last row, an offset of the pixels within the header
    /// and a missing color profile are harmless damage. Missing pixels are transparent.
    ///
    /// Embedded JPEG and PNG, and the compressions of OS/2, are errors with the code `unsupportedVariant`.
    public static var bmp: Self {
        // The number of bytes of the second header follows after 14 bytes; it is below 256.
        let unknown = [UInt8?](repeating: nil, count: 13)
        return Self(
            format: .bmp, decoder: BMPDecoder(),
            signatures: [[0x42, 0x4D] + unknown + [0, 0, 0], BMPFile.signatureWithoutFileHeader])
    }
}

extension ImageFormat {
    /// Windows and OS/2 bitmaps.
    public static let bmp = ImageFormat(rawValue: "bmp")
    /// Windows icons.
    public static let ico = ImageFormat(rawValue: "ico")
}
