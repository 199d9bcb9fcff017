import AlcedoCore

/// The entries of an icon or cursor file. A cursor has a hot spot in place of the numbers of planes and bits, which are
/// not read.
///
/// Source: Raymond Chen, "The evolution of the ICO file format", parts 1 to 4 (Microsoft, 2010).
struct IconDirectory {
    /// One image of the file.
    struct Entry {
        let offset: Int
        /// The offset after the last byte that can belong to the image: that of the next image, or of the file.
        var end: Int
        /// The size that the image itself declares. The directory stores sides only up to 256.
        let size: PixelSize
        let bitsPerPixel: Int
        let isPNG: Bool
        /// Whether the image is whole, as far as this is known without decoding it.
        var isWhole: Bool
        /// Whether the limits allow the image in RGBA8. The format does not depend on the options of decoding, so that
        /// inspecting and decoding select the same image.
        let isWithinLimits: Bool
    }

    private static let headerByteCount = 6
    private static let entryByteCount = 16
    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The number of images that are tried until one can be decoded. It limits the time for a damaged file.
    private static let maximumEntryCount = 8

    /// The best images, at least one. An image within the limits is better than one that exceeds them. Of these, a
    /// whole image is better than a damaged one. Then more pixels decide, then more bits per pixel, then the earlier
    /// place.
    let entries: [Entry]
    /// The damage of the directory and of other images; nil when none was found.
    private(set) var damage: ImageDamage?

    /// Reads the directory and the header of each image.
    ///
    /// - Parameters:
    ///   - reader: The bytes of the file.
    ///   - readsPNG: Whether PNG images can be decoded. If not, they are not considered.
    ///   - limits: The limits of the image to select.
    /// - Throws: `truncated`, `corrupt`, and `unsupportedVariant` when no image can be decoded.
    init(_ reader: ByteReader, readsPNG: Bool, limits: DecodingLimits) throws(ImageDecodingError) {
        // The type is 1 for an icon and 2 for a cursor.
        let types: [ClosedRange<UInt8>] = [0...0, 0...0, 1...2, 0...0]
        for (index, bytes) in types.enumerated() where index < reader.bytes.count {
            guard bytes.contains(reader.bytes[index]) else {
                throw ImageDecodingError(.corrupt, "ICO: the signature is missing")
            }
        }
        let count = try reader.number(at: 4, byteCount: 2)
        guard count > 0 else { throw ImageDecodingError(.corrupt, "ICO: the file has no image") }
        var (entries, offsets): ([Entry], [Int]) = ([], [])
        var failures: [ImageDecodingError] = []
        var unsupported: ImageDecodingError?
        // The first image begins where the directory ends, which may have fewer entries than it declares.
        var end = Self.headerByteCount + count * Self.entryByteCount
        for index in 0..<count {
            let start = Self.headerByteCount + index * Self.entryByteCount
            guard start + Self.entryByteCount <= end else {
                failures.append(ImageDecodingError(.corrupt, "ICO: the directory has fewer images than it declares"))
                break
            }
            do throws(ImageDecodingError) {
                let byteCount = try reader.number(at: start + 8, byteCount: 4)
                let offset = try reader.number(at: start + 12, byteCount: 4)
                if offset + byteCount > reader.bytes.count {
                    failures.append(ImageDecodingError(.truncated, "ICO: the data ends within an image"))
                }
                guard offset >= start + Self.entryByteCount, byteCount > 0 else {
                    throw ImageDecodingError(.corrupt, "ICO: image \(index) has an invalid range")
                }
                offsets.append(offset)
                let entry = try Self.entry(offset, byteCount: byteCount, reader, limits)
                end = min(end, offset)
                if readsPNG || !entry.isPNG {
                    entries.append(entry)
                    let stored = PixelSize(
                        width: try reader.number(at: start, byteCount: 1),
                        height: try reader.number(at: start + 1, byteCount: 1))
                    // A side of 256 is stored as 0, which also stands for a larger one.
                    let isRight = [(stored.width, entry.size.width), (stored.height, entry.size.height)].allSatisfy {
                        $0 == 0 ? $1 >= 256 : $0 == $1
                    }
                    if !isRight {
                        failures.append(ImageDecodingError(.corrupt, "ICO: image \(index) has a wrong size"))
                    }
                } else {
                    unsupported = ImageDecodingError(
                        .unsupportedVariant, "ICO: a PNG image, which cannot be decoded without a codec of PNG")
                }
            } catch {
                failures.append(error)
            }
        }
        let failure = failures.first { $0.code == .truncated } ?? failures.first
        guard !entries.isEmpty else {
            throw failure ?? unsupported ?? ImageDecodingError(.corrupt, "ICO: the file has no image")
        }
        let best = Self.sorted(entries).prefix(Self.maximumEntryCount).map { entry in
            var entry = entry
            // The mask must not be taken from the next image. An image that is cut, or that another one overlaps,
            // extends to the end of the file.
            let next = entry.isPNG ? nil : offsets.filter { $0 >= entry.end }.min()
            entry.end = min(next ?? reader.bytes.count, reader.bytes.count)
            entry.isWhole = entry.isWhole(reader, limits)
            return entry
        }
        self.entries = Self.sorted(best)
        let cut = ImageDecodingError(.truncated, "ICO: the data ends within an image")
        if let failure = failure ?? (best.allSatisfy { $0.isWhole || !$0.isWithinLimits } ? nil : cut) {
            damage = ImageDamage(.harmless, failure)
        }
    }

    /// Returns the entries, the best one first, and equal ones in their order.
    private static func sorted(_ entries: [Entry]) -> [Entry] {
        entries.enumerated().sorted { first, second in
            first.element.isBetter(than: second.element)
                || !second.element.isBetter(than: first.element) && first.offset < second.offset
        }.map(\.element)
    }

    private static func entry(
        _ start: Int, byteCount: Int, _ reader: ByteReader, _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> Entry {
        let count = reader.bytes.count
        var isPNG = true
        for (index, byte) in pngSignature.enumerated() where isPNG {
            isPNG = try reader.number(at: start + index, byteCount: 1) == Int(byte)
        }
        guard isPNG else {
            let header = try BitmapHeader(reader, at: start, isIcon: true)
            guard header.compression != .runLengths else {
                throw ImageDecodingError(.unsupportedVariant, "ICO: run-length compression")
            }
            let isWithinLimits = (try? limits.check(header.size, format: .rgba8)) != nil
            // Within the limits, the products do not overflow.
            let end =
                isWithinLimits
                ? start + header.byteCount + header.maskByteCount
                    + header.paletteEntryByteCount * header.storedColorCount + header.minimumPixelByteCount : count + 1
            return Entry(
                offset: start, end: end <= count ? end : count, size: header.size, bitsPerPixel: header.bitsPerPixel,
                isPNG: false, isWhole: end <= count, isWithinLimits: isWithinLimits)
        }
        // The first chunk is IHDR: its length and type, then width, height, bit depth and color type.
        let size = PixelSize(
            width: try reader.bigEndianNumber(at: start + 16),
            height: try reader.bigEndianNumber(at: start + 20))
        let bitDepth = try reader.number(at: start + 24, byteCount: 1)
        let colorType = try reader.number(at: start + 25, byteCount: 1)
        let sampleCount = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1
        return Entry(
            offset: start, end: count, size: size, bitsPerPixel: bitDepth * sampleCount, isPNG: true,
            isWhole: start + byteCount <= count,
            isWithinLimits: (try? limits.check(size, format: .rgba8)) != nil)
    }
}

private extension IconDirectory.Entry {
    /// Returns whether the image is whole: whether no chunk of a PNG image is cut, or whether a bitmap has all pixels
    /// and no cut mask.
    func isWhole(_ reader: ByteReader, _ limits: DecodingLimits) -> Bool {
        if isPNG { return hasWholeChunks(reader) }
        guard isWhole, isWithinLimits else { return isWhole }
        let bytes = UnsafeBufferPointer(rebasing: reader.bytes[offset..<end])
        guard let bitmap = try? Bitmap(icon: bytes, options: DecodingOptions(limits: limits)) else { return false }
        return (bitmap.damage?.kind ?? .harmless) == .harmless
    }

    private func hasWholeChunks(_ reader: ByteReader) -> Bool {
        let (pixelData, end) = (0x4944_4154, 0x4945_4E44)
        // The first chunk follows the signature. Icons have few chunks.
        var position = offset + 8
        var last = 0
        for _ in 0..<1_000 {
            guard let length = try? reader.bigEndianNumber(at: position),
                let type = try? reader.bigEndianNumber(at: position + 4), Self.isChunkType(type)
            else { break }
            position += 12 + length
            last = type
            guard position <= reader.bytes.count else { return false }
            if type == end { break }
        }
        // An image that ends after its pixel data lacks only the mark of its end, if the directory says so.
        return last == end || isWhole && last == pixelData
    }

    /// Whether a number is the type of a chunk: four letters.
    private static func isChunkType(_ type: Int) -> Bool {
        [24, 16, 8, 0].allSatisfy { shift in
            let letter = UInt8(truncatingIfNeeded: type >> shift) | 0x20
            return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
        }
    }

    func isBetter(than other: Self) -> Bool {
        if isWithinLimits != other.isWithinLimits { return isWithinLimits }
        if isWhole != other.isWhole { return isWhole }
        let (pixels, others) = (size.pixelCount, other.size.pixelCount)
        return pixels != others ? pixels > others : bitsPerPixel > other.bitsPerPixel
    }
}
