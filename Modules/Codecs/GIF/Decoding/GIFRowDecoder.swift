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

    /// The number of rows that have been returned. In an interlaced image, they need not be the topmost rows.
    private(set) var rowCount = 0

    /// Creates a decoder. `codeSize` is the byte at the image's `dataStart`.
    init(_ frame: GIFFrame, codeSize: UInt8) throws(ImageDecodingError) {
        try LZWDecoder.checkCodeSize(codeSize)
        self.frame = frame
        lzw = LZWDecoder(minimumCodeSize: Int(codeSize))
        indices = .allocate(capacity: frame.size.width + 8 * LZWDecoder.maximumStringLength)
        offset = frame.dataStart + 1
        rowOrder = frame.rowOrder
    }

    deinit { indices.deallocate() }

    var isComplete: Bool { rowCount == rowOrder.count }

    /// Returns the next row, or `nil` when more bytes are needed or all rows have been returned.
    ///
    /// - Parameter bytes: All bytes of the file received so far.
    /// - Returns: The number of the row and its indices, which are valid until the next call.
    /// - Throws: `corrupt` for invalid codes and for pixel data that ends early.
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
        while count < frame.size.width, let block = bytes.subBlock(at: offset) {
            if position >= block.count || block.isEmpty {
                guard !block.isEmpty else { throw shortage }
                offset = block.upperBound
                position = 0
                continue
            }
            try lzw.decode(
                UnsafeBufferPointer(rebasing: bytes[block]), position: &position, into: indices, count: &count)
            if lzw.hasEnded, count < frame.size.width { throw shortage }
        }
    }

    private var shortage: ImageDecodingError {
        ImageDecodingError(.corrupt, "GIF: the data ends after \(rowCount) of \(rowOrder.count) rows")
    }
}

/// The color of every 8-bit index, as the four bytes of a pixel. Indices without a color are opaque black, except for
/// the transparent index.
struct GIFPalette: Sendable {
    /// The maximum number of colors in a palette.
    private static let maximumCount = 256

    /// One word per index: red, green, blue and alpha in memory order.
    private var pixels = [UInt32](repeating: Self.word(0, 0, 0, 255), count: Self.maximumCount)

    /// Creates the palette of an image: its own or the global one. Its bytes must be available.
    init(of frame: GIFFrame, in structure: GIFStructure, _ bytes: UnsafeBufferPointer<UInt8>) {
        let rgb = (frame.palette ?? structure.palette).map { bytes[$0] } ?? bytes[0..<0]
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
