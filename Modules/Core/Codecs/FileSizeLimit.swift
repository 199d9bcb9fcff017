import FoundationEssentials

extension ImageEncoding {
    /// Returns an encoder whose files have at most a number of bytes. It lowers the quality as far as necessary.
    ///
    /// ```swift
    /// let encoder = ImageEncoder.jpeg(quality: 85).limitingFileSize(to: 200_000)
    /// let data = try await ImageConverter().convert(upload, to: encoder)
    /// ```
    ///
    /// The file has the highest quality, in steps of a hundredth, at which it fits, and at most that of this encoder.
    /// The quality is found by bisection, which encodes the image at most eight times, and only once if the first file
    /// fits. Metadata, the color profile and the frames of an animation count.
    ///
    /// If no file fits, or if the only file of a format without quality (PNG, GIF, or without loss) does not fit, the
    /// error is `exceedsFileSize`. To make such an image fit, resize it first.
    ///
    /// The encoder holds the whole image, and up to two files at a time.
    ///
    /// - Parameter byteCount: The maximum number of bytes of a file.
    public func limitingFileSize(to byteCount: Int) -> ImageEncoder {
        ImageEncoder(SizeLimitedEncoder(encoder: self, byteCount: max(0, byteCount)))
    }
}

/// An encoder that lowers the quality of another one until the file fits.
private struct SizeLimitedEncoder: ImageEncoding {
    let encoder: any ImageEncoding
    /// The maximum number of bytes of a file.
    let byteCount: Int

    var format: ImageFormat { encoder.format }

    var holdsDeepSamples: Bool { encoder.holdsDeepSamples }

    func canEncode(_ image: DecodedImage) -> Bool { encoder.canEncode(image) }

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        if let file = try file(of: image, by: encoder) { return file }
        var best: Data?
        // A file of a higher quality than that of the encoder is the one that does not fit.
        var (low, high) = (0, 99)
        while low <= high {
            let percent = (low + high) / 2
            guard let reduced = encoder.limitingQuality(to: Double(percent) / 100) else {
                throw error("the file has more than \(byteCount) bytes, and no lower quality")
            }
            if let file = try file(of: image, by: reduced) {
                best = file
                low = percent + 1
            } else {
                high = percent - 1
            }
        }
        guard let best else { throw error("the file has more than \(byteCount) bytes, even at the lowest quality") }
        return best
    }

    /// Returns the file of an encoder, or nil if it has too many bytes.
    private func file(
        of image: DecodedImage, by encoder: any ImageEncoding
    ) throws(ImageEncodingError) -> Data? {
        try ImageEncodingError.checkCancellation(format)
        do throws(ImageEncodingError) {
            // Encoders of animations count the encoded frames beside the file, and may encode a frame in several ways.
            let limit = image.isAnimated ? 4 * min(byteCount, .max / 4) : byteCount
            let file = try encoder.encode(image, maximumByteCount: limit)
            // Metadata may be added after the limit was checked.
            return file.count <= byteCount ? file : nil
        } catch {
            guard error.code == .exceedsLimit else { throw error }
            return nil
        }
    }

    private func error(_ message: String) -> ImageEncodingError {
        ImageEncodingError(.exceedsFileSize, "\(format): \(message)")
    }

    /// Returns the memory of the encoder, and that of the best file so far.
    func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        withBestFile(encoder.encodingByteCount(of: size, format: format))
    }

    /// Returns the memory of the encoder, and that of the best file so far.
    func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        withBestFile(encoder.encodingByteCount(of: size, format: format, frameCount: frameCount))
    }

    /// The number for an encoder contains that of a whole file.
    private func withBestFile(_ count: Int) -> Int { count.addingClamped(min(count, byteCount)) }

    func embedding(_ metadata: ImageMetadata) -> Self {
        Self(encoder: encoder.embedding(metadata), byteCount: byteCount)
    }

    func limitingQuality(to quality: Double) -> Self? {
        encoder.limitingQuality(to: quality).map { Self(encoder: $0, byteCount: byteCount) }
    }
}
