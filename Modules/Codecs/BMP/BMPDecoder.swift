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

    /// Reads the header and finds the color profile. O(1).
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the data ends within the headers or the palette.
    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedBMP(data, limits: limits)
    }
}

/// A bitmap whose headers have been read.
final class OpenedBMP: FileReading {
    let file: OpenedFile<BMPFile>
    private let limits: DecodingLimits
    let header: ImageHeader

    init(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) {
        file = try OpenedFile(data, of: "BMP", limits: limits) { bytes, limits throws(ImageDecodingError) in
            try BMPFile(bytes, limits: limits)
        }
        self.limits = limits
        header = try file.withFile { file, _ throws(ImageDecodingError) in
            ImageHeader(format: .bmp, size: file.header.size)
        }
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        try limits.check(header.size, format: .rgba8)
        return try file.withFile { file, bytes throws(ImageDecodingError) in
            file.header.info(format: .bmp, colorProfile: file.profile.map { Data(bytes[$0]) })
        }
    }

    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in
            try options.limits.check(file.header.size, format: Bitmap.format(of: file.header, options))
            return file.header.decodingByteCount(options)
        }
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in
            try file.bitmap(options).image(options, as: .bmp)
        }
    }

    /// Sends the rows of the image. Memory is O(*w*), and O(*h*) for run-length compression.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, before the first row, and the errors of the consumer.
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try file.withFileForRows(options.limits) { file, _ in
            try file.bitmap(options).sendRows(options, to: consumer)
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
    /// 4, 8, 16, 24 and 32 bits, run lengths (RLE4, RLE8, RLE24) and bit fields. The format is recognized by `BM` and
    /// the number of bytes of its second header. A bitmap without the first header is recognized by a second header of
    /// 40 bytes with one plane.
    ///
    /// The result is RGBA8, or RGBA16 when it is requested and samples have more than 8 bits. Bits without a mask are
    /// unused: pixels have alpha only if the header has an alpha mask and a pixel has a bit of it. Pixels that run
    /// lengths skip are transparent black, as in browsers. Indices beyond the palette are opaque black. An embedded
    /// color profile is that of the result, unless it is a gray one. Linked profiles, and the primaries and gamma
    /// values of headers, are ignored. With a target size, square cells of pixels are averaged. There are no previews.
    ///
    /// A missing end code of run lengths, missing padding of the last row, an offset of the pixels within the header
    /// and a missing color profile are harmless damage. Missing pixels are transparent.
    ///
    /// Embedded JPEG and PNG, and the Huffman compression of OS/2, are errors with the code `unsupportedVariant`.
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
    /// Windows icons and cursors.
    public static let ico = ImageFormat(rawValue: "ico")
}
