import AlcedoCore

/// A decoder of one image that returns each row as soon as enough bytes are available. Its buffer has space for one
/// row and eight LZW strings of the maximum length.
final class GIFRowDecoder {
    private let frame: GIFFrame
    private var lzw: LZWDecoder
    private let indices: UnsafeMutableBufferPointer<UInt8>
    /// The position of the first index that has not been returned.
    private var start = 0
    private var count = 0
    /// The number of used bytes in the current sub-block.
    private var position = 0
    /// The offset of the current sub-block's count.
    private var offset: Int
    private let rowOrder: [Int]
    private let codeSize: UInt8
    /// Whether the last sub-block of the image has been read.
    private var hasEnded = false
    private var isPadded = false

    /// The number of rows that have been returned. In an interlaced image, they need not be the topmost rows.
    private(set) var rowCount = 0

    /// Creates a decoder. `codeSize` is the byte at the image's `dataStart`.
    init(_ frame: GIFFrame, codeSize: UInt8) {
        self.frame = frame
        self.codeSize = codeSize
        lzw = LZWDecoder(minimumCodeSize: Int(min(max(1, codeSize), 11)))
        indices = .allocate(capacity: frame.size.width + 8 * LZWDecoder.maximumStringLength)
        offset = frame.dataStart + 1
        rowOrder = frame.rowOrder
    }

    deinit { indices.deallocate() }

    var isComplete: Bool { rowCount == rowOrder.count }

    /// Whether the data of the image has ended without a single pixel, as in files that serve as placeholders.
    var isEmpty: Bool { hasEnded && rowCount == 0 && count == start }

    /// The damage of the rows that have been returned, and of those that cannot be decoded when no bytes follow.
    var damage: ImageDamage? {
        guard isComplete else {
            let message = "GIF: the data ends after \(rowCount) of \(rowOrder.count) rows"
            return ImageDamage(.missingPixels, ImageDecodingError(hasEnded ? .corrupt : .truncated, message))
        }
        guard lzw.hasWrongCodes || isPadded else { return nil }
        return ImageDamage(.wrongPixels, ImageDecodingError(.corrupt, "GIF: an image has invalid codes"))
    }

    /// Returns the next row, or `nil` when more bytes are needed, the data of the image has ended, or all rows have
    /// been returned.
    ///
    /// - Parameter bytes: All bytes of the file received so far.
    /// - Returns: The number of the row and its indices, which are valid until the next call.
    /// - Throws: `corrupt` for an invalid size of codes.
    func next(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> (y: Int, indices: UnsafePointer<UInt8>)? {
        guard !isComplete, let base = indices.baseAddress else { return nil }
        let width = frame.size.width
        if count - start < width { try fill(bytes) }
        guard count - start >= width else { return nil }
        defer {
            start += width
            rowCount += 1
        }
        return (rowOrder[rowCount], UnsafePointer(base + start))
    }

    /// Decodes until a row is complete or more bytes are needed.
    private func fill(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard let base = indices.baseAddress else { return }
        count -= start
        base.update(from: base + start, count: count)
        start = 0
        while count < frame.size.width, !hasEnded, let block = bytes.subBlock(at: offset) {
            if block.isEmpty {
                hasEnded = true
            } else if lzw.hasEnded {
                // An end code before the last row, and before the end of the data, is a wrong code.
                guard block.upperBound < bytes.count else { return }
                if bytes[block.upperBound] == 0 { hasEnded = true } else { lzw.resume() }
            } else if position >= block.count {
                offset = block.upperBound
                position = 0
            } else {
                try LZWDecoder.checkCodeSize(codeSize)
                lzw.decode(
                    UnsafeBufferPointer(rebasing: bytes[block]), position: &position, into: indices, count: &count)
            }
        }
        if hasEnded, count < frame.size.width, lacksFewRows { pad() }
    }

    /// Whether the data of the image is complete except for few rows. Wrong codes then stand for too few pixels.
    private var lacksFewRows: Bool { 8 * (rowOrder.count - rowCount) <= rowOrder.count }

    /// Completes a row with an index that is transparent, or with that of the first color.
    private func pad() {
        isPadded = true
        let index = UInt8(truncatingIfNeeded: frame.transparentIndex ?? 0)
        indices[count..<frame.size.width].update(repeating: index)
        count = frame.size.width
    }
}

/// The color of every 8-bit index, as the four bytes of a pixel. Indices without a color are opaque black, except for
/// the transparent index.
struct GIFPalette: Sendable {
    /// The maximum number of colors in a palette.
    private static let maximumCount = 256

    /// One word per index: red, green, blue and alpha in memory order.
    private var pixels = [UInt32](repeating: Self.word(0, 0, 0, 255), count: Self.maximumCount)

    /// Creates the palette of an image: its own or the global one, whose bytes must be available. All indices of an
    /// image without a palette are transparent, as in browsers.
    init(of frame: GIFFrame, in structure: GIFStructure, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let palette = structure.palette(of: frame) else {
            pixels = Array(repeating: 0, count: Self.maximumCount)
            return
        }
        let rgb = bytes[palette]
        for index in 0..<min(Self.maximumCount, rgb.count / 3) {
            let color = rgb.startIndex + 3 * index
            pixels[index] = Self.word(rgb[color], rgb[color + 1], rgb[color + 2], 255)
        }
        if let index = frame.transparentIndex, pixels.indices.contains(index) { pixels[index] = 0 }
    }

    /// Writes the pixels of `count` indices.
    func write(_ indices: UnsafePointer<UInt8>, count: Int, to out: UnsafeMutableRawPointer) {
        let out = out.assumingMemoryBound(to: UInt32.self)
        pixels.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return }
            for x in 0..<count { out[x] = table[Int(indices[x])] }
        }
    }

    private static func word(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24)
    }
}
