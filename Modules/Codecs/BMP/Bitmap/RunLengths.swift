import AlcedoCore

/// The rows of a bitmap with run-length compression.
///
/// Rows are stored from the bottom, and a code can skip pixels and rows. Creating the value reads all codes once and
/// records the beginning of each row, so that the rows can be written from the top with memory of O(*h*).
///
/// Runs that extend beyond the width are clipped, as in other decoders. Sources: Microsoft, "Bitmap Compression"; the
/// runs of 24-bit colors of OS/2 as in the file `rgb24rle24.bmp` of Jason Summers's BMP Suite.
struct RunLengths {
    /// The beginning of a row: the offset of its first code and the column that it applies to.
    private struct Row {
        var offset: UInt32
        var column: UInt32

        static let skipped = Row(offset: .max, column: 0)
    }

    /// One step of the codes.
    private enum Code {
        /// Pixels of one color, or of two by turns, which are stored at an offset.
        case run(count: Int, offset: Int)
        /// Pixels that are stored one by one, beginning at an offset.
        case pixels(count: Int, offset: Int)
        case skip(columns: Int, rows: Int)
        case endOfRow
        case endOfBitmap
    }

    /// The number of bytes that are recorded for each row.
    static let byteCountPerRow = 8

    private let bytes: UnsafeBufferPointer<UInt8>
    private let size: PixelSize
    /// The number of bits of a pixel: 4, 8 or 24.
    private let bitsPerPixel: Int
    /// The stored rows, from the bottom.
    private var rows: [Row]
    /// The number of pixels that the codes set.
    private(set) var coveredPixelCount = 0
    /// Whether the codes end with the end code, as the format requires, and not because there are no more bytes.
    private(set) var isComplete = false
    /// Whether the codes reach the end of the last row, or end as the format requires.
    private(set) var hasAllRows = false

    /// Reads the codes in `bytes`, which begin with the first pixel. The size must be within the limits.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ header: BitmapHeader) {
        // Offsets have 32 bits. No header can declare more bytes.
        self.bytes = UnsafeBufferPointer(rebasing: bytes.prefix(Int(UInt32.max) - 1))
        size = header.size
        bitsPerPixel = header.bitsPerPixel
        rows = Array(repeating: .skipped, count: header.size.height)
        readRows()
    }

    private mutating func readRows() {
        var (offset, column, row) = (0, 0, 0)
        rows[0] = Row(offset: 0, column: 0)
        while row < size.height {
            guard let code = next(&offset) else {
                hasAllRows = row == size.height - 1 && column == size.width
                return
            }
            switch code {
            case .run(let count, _), .pixels(let count, _):
                let visible = min(count, size.width - column)
                coveredPixelCount += visible
                column += visible
                continue
            case .skip(let columns, let skipped):
                column = min(size.width, column + columns)
                if skipped == 0 { continue }
                row += skipped
            case .endOfRow: (row, column) = (row + 1, 0)
            case .endOfBitmap:
                (isComplete, hasAllRows) = (true, true)
                return
            }
            if row < size.height {
                rows[row] = Row(
                    offset: UInt32(truncatingIfNeeded: offset), column: UInt32(truncatingIfNeeded: column))
            }
        }
        hasAllRows = true
        // Only the end code follows the last row.
        if case .endOfBitmap = next(&offset) { isComplete = true }
    }

    /// Reads a code and advances the offset. Returns nil when the bytes end within the code.
    @inline(__always)
    private func next(_ offset: inout Int) -> Code? {
        guard offset <= bytes.count - 2 else { return nil }
        let (count, value) = (bytes[offset], bytes[offset + 1])
        guard count == 0 else {
            let start = offset + 1
            let used = (bitsPerPixel + 7) / 8
            guard used <= bytes.count - start else { return nil }
            offset = start + used
            return .run(count: Int(count), offset: start)
        }
        offset += 2
        switch value {
        case 0: return .endOfRow
        case 1: return .endOfBitmap
        case 2:
            guard offset <= bytes.count - 2 else { return nil }
            offset += 2
            return .skip(columns: Int(bytes[offset - 2]), rows: Int(bytes[offset - 1]))
        default:
            let start = offset
            let used = (Int(value) * bitsPerPixel + 7) / 8
            guard used <= bytes.count - offset else { return nil }
            // Stored pixels are padded to 16 bits.
            offset += (used + 1) / 2 * 2
            return .pixels(count: Int(value), offset: start)
        }
    }

    /// Writes the pixels of a stored row that the codes set. The caller has cleared the row.
    ///
    /// - Parameters:
    ///   - index: The index of the row, from the bottom.
    ///   - target: `width` pixels.
    ///   - palette: 256 colors.
    func write(_ index: Int, to target: UnsafeMutablePointer<SIMD4<UInt8>>, _ palette: Palette) {
        let row = rows[index]
        guard row.offset != .max else { return }
        var (offset, column) = (Int(row.offset), Int(row.column))
        while let code = next(&offset) {
            switch code {
            case .run(let count, let start):
                let visible = min(count, size.width - column)
                let even = color(0, from: start, palette)
                let odd = bitsPerPixel == 4 ? color(1, from: start, palette) : even
                for x in 0..<visible { target[column + x] = x & 1 == 0 ? even : odd }
                column += visible
            case .pixels(let count, let start):
                let visible = min(count, size.width - column)
                for x in 0..<visible { target[column + x] = color(x, from: start, palette) }
                column += visible
            case .skip(let columns, rows: 0): column = min(size.width, column + columns)
            case .skip, .endOfRow, .endOfBitmap: return
            }
        }
    }

    /// Returns the color of one of the pixels that are stored from an offset on.
    @inline(__always)
    private func color(_ index: Int, from start: Int, _ palette: Palette) -> SIMD4<UInt8> {
        switch bitsPerPixel {
        case 4:
            let value = bytes[start + index / 2]
            return palette[index & 1 == 0 ? value >> 4 : value & 15]
        case 8: return palette[bytes[start + index]]
        default:
            let pixel = start + 3 * index
            return SIMD4(bytes[pixel + 2], bytes[pixel + 1], bytes[pixel], 255)
        }
    }
}

/// The colors of a bitmap, always 256. Indices beyond the stored colors are opaque black.
struct Palette {
    private let colors: [SIMD4<UInt8>]

    /// Reads at most 256 colors, stored as blue, green, red and an unused byte.
    init(_ bytes: UnsafeBufferPointer<UInt8>, entryByteCount: Int) {
        var colors = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 255), count: 256)
        for index in 0..<min(256, bytes.count / entryByteCount) {
            let entry = index * entryByteCount
            colors[index] = SIMD4(bytes[entry + 2], bytes[entry + 1], bytes[entry], 255)
        }
        self.colors = colors
    }

    subscript(index: UInt8) -> SIMD4<UInt8> { colors.withUnsafeBufferPointer { $0[Int(index)] } }
}
