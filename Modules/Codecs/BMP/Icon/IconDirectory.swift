import AlcedoCore

/// The entries of an icon file.
///
/// Source: Raymond Chen, "The evolution of the ICO file format", parts 1 to 4 (Microsoft, 2010).
struct IconDirectory {
    /// One image of the file.
    struct Entry {
        /// The bytes of the image.
        let range: Range<Int>
        /// The size that the image itself declares. The directory stores sides only up to 256.
        let size: PixelSize
        let bitsPerPixel: Int
        let isPNG: Bool
    }

    private static let headerByteCount = 6
    private static let entryByteCount = 16
    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The image with the most pixels among those within the limits, or among all if every image exceeds them. Of
    /// several such images, it is the one with the most bits per pixel, and then the first.
    let best: Entry
    /// The error when the bytes end before one of the images does.
    private(set) var problem: ImageDecodingError?

    /// Reads the directory and the header of each image.
    ///
    /// - Parameters:
    ///   - reader: The bytes of the file.
    ///   - readsPNG: Whether PNG images can be decoded. If not, they are not considered.
    ///   - limits: The limits of the image to select.
    /// - Throws: `truncated`, `corrupt`, and `unsupportedVariant` when no image can be decoded.
    init(_ reader: ByteReader, readsPNG: Bool, limits: DecodingLimits) throws(ImageDecodingError) {
        for (index, byte) in [UInt8(0), 0, 1, 0].enumerated() where index < reader.bytes.count {
            guard reader.bytes[index] == byte else {
                throw ImageDecodingError(.corrupt, "ICO: the signature is missing")
            }
        }
        let count = try reader.number(at: 4, byteCount: 2)
        let end = Self.headerByteCount + count * Self.entryByteCount
        guard count > 0 else { throw ImageDecodingError(.corrupt, "ICO: the file has no image") }
        var (best, failure): (Entry?, ImageDecodingError?) = (nil, nil)
        for index in 0..<count {
            let start = Self.headerByteCount + index * Self.entryByteCount
            let byteCount = try reader.number(at: start + 8, byteCount: 4)
            let offset = try reader.number(at: start + 12, byteCount: 4)
            if offset + byteCount > reader.bytes.count {
                problem = ImageDecodingError(.truncated, "ICO: the data ends within an image")
            }
            do throws(ImageDecodingError) {
                guard offset >= end, byteCount > 0 else {
                    throw ImageDecodingError(.corrupt, "ICO: image \(index) has an invalid range")
                }
                let entry = try Self.entry(offset..<offset + byteCount, reader)
                guard readsPNG || !entry.isPNG else {
                    throw ImageDecodingError(
                        .unsupportedVariant, "ICO: a PNG image, which cannot be decoded without a codec of PNG")
                }
                if let other = best, !entry.isBetter(than: other, within: limits) { continue }
                best = entry
            } catch {
                failure = failure ?? error
            }
        }
        guard let best else {
            throw problem ?? failure ?? ImageDecodingError(.corrupt, "ICO: the file has no image")
        }
        self.best = best
    }

    private static func entry(_ range: Range<Int>, _ reader: ByteReader) throws(ImageDecodingError) -> Entry {
        let start = range.lowerBound
        var isPNG = true
        for (index, byte) in pngSignature.enumerated() where isPNG {
            isPNG = try reader.number(at: start + index, byteCount: 1) == Int(byte)
        }
        guard isPNG else {
            let header = try BitmapHeader(reader, at: start, isIcon: true)
            guard header.compression != .runLengths else {
                throw ImageDecodingError(.unsupportedVariant, "ICO: run-length compression")
            }
            return Entry(range: range, size: header.size, bitsPerPixel: header.bitsPerPixel, isPNG: false)
        }
        // The first chunk is IHDR: its length and type, then width, height, bit depth and color type.
        let size = PixelSize(
            width: try reader.bigEndianNumber(at: start + 16),
            height: try reader.bigEndianNumber(at: start + 20))
        let bitDepth = try reader.number(at: start + 24, byteCount: 1)
        let colorType = try reader.number(at: start + 25, byteCount: 1)
        let sampleCount = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1
        return Entry(range: range, size: size, bitsPerPixel: bitDepth * sampleCount, isPNG: true)
    }
}

private extension IconDirectory.Entry {
    func isBetter(than other: Self, within limits: DecodingLimits) -> Bool {
        let (fits, otherFits) = (isWithin(limits), other.isWithin(limits))
        guard fits == otherFits else { return fits }
        let (pixels, others) = (size.pixelCount, other.size.pixelCount)
        return pixels != others ? pixels > others : bitsPerPixel > other.bitsPerPixel
    }

    /// Whether the limits allow the image in RGBA8. The format does not depend on the options of decoding, so that
    /// inspecting and decoding select the same image.
    private func isWithin(_ limits: DecodingLimits) -> Bool { (try? limits.check(size, format: .rgba8)) != nil }
}
