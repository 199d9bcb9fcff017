public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.ico(png:)`, whose comment describes the behavior.
package struct ICODecoder: ImageDecoding {
    private let png: (any ImageDecoding)?

    /// Creates a decoder.
    ///
    /// - Parameter png: The decoder of PNG images; nil to ignore them.
    package init(png: (any ImageDecoding)?) { self.png = png }

    /// Reads the directory and the headers of the images, and opens the best image. O(images), and the cost of the
    /// decoder of PNG.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the data ends within the directory.
    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedIcon(data, png: png, limits: limits)
    }
}

/// An icon whose directory has been read.
final class OpenedIcon: FileReading {
    let file: OpenedFile<IconDirectory>
    private let png: (any ImageDecoding)?
    private let limits: DecodingLimits
    /// The PNG image that was opened last. No other one stays open, because each may hold a worker of a sandbox.
    private var opened: (offset: Int, limits: DecodingLimits, reader: any ImageReading)?
    private(set) var header = ImageHeader(format: .ico, size: PixelSize(width: 0, height: 0))

    init(_ data: Data, png: (any ImageDecoding)?, limits: DecodingLimits) throws(ImageDecodingError) {
        self.png = png
        self.limits = limits
        file = try OpenedFile(data, of: "ICO", limits: limits) { bytes, limits throws(ImageDecodingError) in
            try IconDirectory(ByteReader(bytes: bytes, format: "ICO"), readsPNG: png != nil, limits: limits)
        }
        header = try firstResult(directory(limits)) { entry throws(ImageDecodingError) in
            var header = try reader(of: entry, limits)?.header ?? ImageHeader(format: .ico, size: entry.size)
            header.format = .ico
            return header
        }
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        try firstResult(directory(limits)) { entry throws(ImageDecodingError) in
            if let reader = try reader(of: entry, limits) {
                var info = try reader.info()
                try limits.check(info.size, format: .rgba8)
                (info.format, info.frameCount, info.loopCount, info.delays) = (.ico, 1, nil, [])
                return info
            }
            return try withHeader(of: entry) { header throws(ImageDecodingError) in
                try limits.check(header.size, format: .rgba8)
                var info = header.info(format: .ico)
                // The mask can make every pixel transparent.
                info.hasAlpha = true
                return info
            }
        }
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let directory = try directory(options.limits)
        var options = options
        options.includesAnimation = false
        if directory.entries.count > 1 {
            // A smaller image is better than a damaged one.
            for tolerance in DamageTolerance.allCases where tolerance < options.tolerance {
                var strict = options
                strict.tolerance = tolerance
                if let image = try? image(directory, strict) { return image }
            }
        }
        return try image(directory, options)
    }

    /// Returns the best image that can be decoded. Throws the error of the best one.
    private func image(
        _ directory: IconDirectory, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        var damage = directory.damage
        var image = try firstResult(directory) { entry throws(ImageDecodingError) in
            do throws(ImageDecodingError) {
                if let reader = try reader(of: entry, options.limits) { return try reader.decode(options) }
                return try bytes(of: entry).withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
                    try Bitmap(icon: bytes, options: options).image(options, as: .ico)
                }
            } catch {
                damage = ImageDamage.worst(damage, ImageDamage(.harmless, error))
                throw error
            }
        }
        image.format = .ico
        image.damage = ImageDamage.worst(image.damage, damage)
        return image
    }

    /// Sends the rows of the image. Memory is O(*w*), and for a PNG image that of its decoder. In a file with several
    /// images, the image is decoded as a whole, because another one may replace it.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let directory = try directory(options.limits)
        let best = directory.entries[0]
        guard directory.entries.count == 1 else { return try decode(options.forRows).sendRows(to: consumer) }
        if let reader = try reader(of: best, options.limits) {
            let damage = try reader.decodeRows(options.forRows, into: consumer)
            return ImageDamage.worst(damage, directory.damage)
        }
        return ImageDamage.worst(try sendRows(ofBitmap: bytes(of: best), options, to: consumer), directory.damage)
    }

    // A function of its own, because Swift 6.2 with assertions rejects `bytes` of data after an early return.
    private func sendRows(
        ofBitmap data: Data, _ options: DecodingOptions, to consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        try data.bytes.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            return try Bitmap(icon: bytes, options: options).sendRows(options, to: consumer)
        }
    }

    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let directory = try directory(options.limits)
        var options = options
        // Like partial images, those of a file with several are not decoded by their rows.
        if directory.entries.count > 1 { options.allowsPartial = true }
        // Any of the images may be decoded if the better ones are damaged. The best one is the last, and stays open.
        var (largest, failure): (Int?, ImageDecodingError?) = (nil, nil)
        for entry in directory.entries.reversed()
        where entry.isWithinLimits == directory.entries[0].isWithinLimits {
            do throws(ImageDecodingError) {
                largest = max(largest ?? 0, try byteCount(of: entry, options))
            } catch {
                failure = error
            }
        }
        guard let largest else { throw failure ?? ImageDecodingError(.corrupt, "ICO: the file has no image") }
        return largest
    }

    private func byteCount(
        of entry: IconDirectory.Entry, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> Int {
        if let reader = try reader(of: entry, options.limits) { return try reader.decodingByteCount(options) }
        return try withHeader(of: entry) { header throws(ImageDecodingError) in
            try options.limits.check(header.size, format: Bitmap.format(of: header, options))
            return header.decodingByteCount(options)
        }
    }

    private func withHeader<Result>(
        of entry: IconDirectory.Entry, _ body: (BitmapHeader) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try bytes(of: entry).withDecoderInput(of: "ICO") { bytes throws(ImageDecodingError) in
            try body(BitmapHeader(ByteReader(bytes: bytes, format: "ICO"), at: 0, isIcon: true))
        }
    }

    /// Returns the first result for an image of the directory, from the best one. Throws the error for the best one
    /// when there is none, and `outOfMemory`.
    private func firstResult<Result>(
        _ directory: IconDirectory, _ body: (IconDirectory.Entry) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        var failure: ImageDecodingError?
        for entry in directory.entries {
            do throws(ImageDecodingError) { return try body(entry) } catch {
                if error.code == .outOfMemory { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? ImageDecodingError(.corrupt, "ICO: the file has no image")
    }

    /// Returns the opened PNG image of an entry, or nil when it is a bitmap.
    private func reader(
        of entry: IconDirectory.Entry, _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> (any ImageReading)? {
        guard entry.isPNG, let png else { return nil }
        if let opened, opened.offset == entry.offset, opened.limits == limits { return opened.reader }
        opened = nil
        let reader = try png.open(bytes(of: entry), limits: limits)
        opened = (entry.offset, limits, reader)
        return reader
    }

    private func bytes(of entry: IconDirectory.Entry) -> Data { entry.bytes(in: file.data) }

    private func directory(_ limits: DecodingLimits) throws(ImageDecodingError) -> IconDirectory {
        try file.withFile(limits) { directory, _ throws(ImageDecodingError) in directory }
    }
}

extension IconDirectory.Entry {
    /// Returns the bytes from the beginning of the image. They can extend beyond the number that the directory states,
    /// because some writers do not count the mask, and others state a wrong number.
    func bytes(in data: Data) -> Data { data.dropFirst(offset).prefix(end - offset) }
}

extension CodecRegistry.Entry {
    /// Returns the codec of Windows icons (ICO) and cursors (CUR). The format cannot be written.
    ///
    /// ```swift
    /// let codecs = CodecRegistry([.png, .bmp, .ico(png: .png)])
    /// ```
    ///
    /// The result is the image with the most pixels among those that are whole and within the limits. Of several such
    /// images, it is the one with the most bits per pixel. If every image exceeds the limits, decoding throws an error
    /// with the code `exceedsLimit`. Bitmaps are decoded as by `bmp`, but run lengths are not supported. The mask makes
    /// pixels transparent black, except in 32-bit images with alpha. The given codec decodes PNG images, without their
    /// animations.
    ///
    /// Damage of the directory and of other images, and a missing mask, are harmless. If the best image is damaged, up
    /// to seven others are tried before its damage is tolerated. An incomplete mask means wrong pixels, unless the
    /// image has alpha.
    ///
    /// The format is recognized by its first six bytes: the type, and a number of images below 256. Cursors are decoded
    /// as icons, as in browsers, and their hot spots are ignored.
    ///
    /// - Parameter png: The codec of PNG images, for example `png` of AlcedoPNG. With nil, PNG images are ignored, and
    ///   a file that has no other images is an error with the code `unsupportedVariant`.
    public static func ico(png: CodecRegistry.Entry?) -> Self {
        // A box of 256 bytes, with which files of AVIF and HEIF can begin, has the same first four bytes.
        Self(
            format: .ico, decoder: ICODecoder(png: png?.decoder),
            signatures: [[0, 0, 1, 0, nil, 0], [0, 0, 2, 0, nil, 0]])
    }
}
