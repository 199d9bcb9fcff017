public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.ico(png:)`, whose comment describes the behavior.
package struct ICODecoder: ImageDecoding {
    private let png: (any ImageDecoding)?

    /// Creates a decoder.
    ///
    /// - Parameter png: The decoder of PNG images; nil to ignore them.
    package init(png: (any ImageDecoding)?) { self.png = png }

    /// Reads the directory and the headers of the images. O(images), and the cost of the decoder of PNG.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the data ends before one of the images does.
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        let (directory, part) = try bestImage(in: data, within: limits)
        if let problem = directory.problem { throw problem }
        if let png = pngDecoder(for: directory) {
            var info = try png.inspect(part, limits: limits)
            try limits.check(info.size, format: .rgba8)
            (info.format, info.frameCount, info.loopCount, info.delays) = (.ico, 1, nil, [])
            return info
        }
        return try part.withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
            let header = try BitmapHeader(ByteReader(bytes: bytes, format: "ICO"), at: 0, isIcon: true)
            try limits.check(header.size, format: .rgba8)
            var info = header.info(format: .ico)
            // The mask can make every pixel transparent.
            info.hasAlpha = true
            return info
        }
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let (directory, part) = try bestImage(in: data, within: options.limits)
        if let problem = directory.problem, !options.allows(problem) { throw problem }
        var image: DecodedImage
        if let png = pngDecoder(for: directory) {
            var options = options
            options.includesAnimation = false
            image = try png.decode(part, options: options)
            image.format = .ico
        } else {
            image = try part.withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
                try Bitmap(icon: bytes, options: options).image(options, as: .ico)
            }
        }
        if let problem = directory.problem { image.partialError = problem }
        return image
    }

    /// Sends the rows of the image. Memory is O(*w*), and for a PNG image that of its decoder.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
    package func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        let (directory, part) = try bestImage(in: data, within: options.limits)
        if let problem = directory.problem { throw problem }
        if let png = pngDecoder(for: directory) {
            return try png.decodeRows(part, options: options.forRows, into: consumer)
        }
        try sendRows(ofBitmap: part, options: options, to: consumer)
        return nil
    }

    // A function of its own, because Swift 6.2 with assertions rejects `bytes` of data after an early return.
    private func sendRows(
        ofBitmap data: Data, options: DecodingOptions, to consumer: any PixelRowConsumer
    ) throws {
        try data.bytes.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            try Bitmap(icon: bytes, options: options).sendRows(options, to: consumer)
        }
    }

    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let (directory, part) = try bestImage(in: data, within: options.limits)
        if let problem = directory.problem { throw problem }
        if let png = pngDecoder(for: directory) { return try png.decodingByteCount(part, options: options.forRows) }
        return try part.withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
            let header = try BitmapHeader(ByteReader(bytes: bytes, format: "ICO"), at: 0, isIcon: true)
            try options.limits.check(header.size, format: Bitmap.format(of: header, options))
            return header.decodingByteCount(options)
        }
    }

    private func pngDecoder(for directory: IconDirectory) -> (any ImageDecoding)? {
        directory.best.isPNG ? png : nil
    }

    /// Returns the directory and the bytes from the beginning of the best image. The part of a bitmap extends to the
    /// end of the file, because some writers do not count the mask.
    private func bestImage(
        in data: Data, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> (directory: IconDirectory, part: Data) {
        let directory = try data.withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
            try IconDirectory(ByteReader(bytes: bytes, format: "ICO"), readsPNG: png != nil, limits: limits)
        }
        let rest = data.dropFirst(directory.best.range.lowerBound)
        return (directory, directory.best.isPNG ? rest.prefix(directory.best.range.count) : rest)
    }
}

extension CodecRegistry.Entry {
    /// Returns the codec of Windows icons (ICO). The format cannot be written.
    ///
    /// ```swift
    /// let codecs = CodecRegistry([.png, .bmp, .ico(png: .png)])
    /// ```
    ///
    /// The result is the image with the most pixels among those within the limits. Of several such images, it is the
    /// one with the most bits per pixel. If every image exceeds the limits, decoding throws an error with the code
    /// `exceedsLimit`. Bitmaps are decoded as by `bmp`, but run lengths are not supported. The mask makes pixels
    /// transparent black, except in 32-bit images with alpha. The given codec decodes PNG images, without their
    /// animations.
    ///
    /// The format is recognized by its first six bytes: the type, and a number of images below 256. Cursors are not
    /// decoded. A file that ends before one of its images does is an error with the code `truncated`, even if the image
    /// to decode is complete, unless the options allow a partial image.
    ///
    /// - Parameter png: The codec of PNG images, for example `png` of AlcedoPNG. With nil, PNG images are ignored, and
    ///   a file that has no other images is an error with the code `unsupportedVariant`.
    public static func ico(png: CodecRegistry.Entry?) -> Self {
        // A box of 256 bytes, with which files of AVIF and HEIF can begin, has the same first four bytes.
        Self(format: .ico, decoder: ICODecoder(png: png?.decoder), signatures: [[0, 0, 1, 0, nil, 0]])
    }
}
