import AlcedoCore
import Foundation

/// Makes BMP files and the bitmaps of icons byte by byte.
struct BMPWriter {
    var width: Int
    var height: Int
    var bits: Int
    var compression = 0
    /// The number of bytes of the second header.
    var headerByteCount = 40
    var isTopDown = false
    /// Red, green, blue and alpha. In headers of 40 bytes, they follow the header.
    var masks: [UInt32] = []
    var palette: [[UInt8]] = []
    var declaredColorCount: Int?
    var declaredPixelByteCount = 0
    /// The pixels of the rows in the order of the image, packed and without padding.
    var rows: [[UInt8]] = []
    /// The stored pixels instead of `rows`.
    var pixels: [UInt8]?
    var profile: [UInt8] = []
    /// Bytes between the palette and the pixels.
    var gap: [UInt8] = []
    var pixelOffset: Int?

    /// The bytes of the file.
    var file: Data {
        let head = header + masksAfterHeader + paletteBytes + gap
        let stored = storedPixels
        let start = 14 + head.count
        let size = start + stored.count + profile.count
        var bytes: [UInt8] = [0x42, 0x4D]
        bytes += Self.bytes(size, 4) + Self.bytes(0, 4) + Self.bytes(pixelOffset ?? start, 4)
        bytes += head + stored + profile
        return Data(bytes)
    }

    /// The bytes of an icon's bitmap: the height counts the rows of the mask, which follow the pixels.
    func icon(mask: [[UInt8]]) -> [UInt8] {
        var writer = self
        writer.height *= 2
        let rows = isTopDown ? mask : mask.reversed()
        let maskBytes = rows.flatMap(Self.padded)
        return writer.header + masksAfterHeader + paletteBytes + storedPixels + maskBytes
    }

    private var header: [UInt8] {
        if headerByteCount == 12 {
            return Self.bytes(12, 4) + [width, height, 1, bits].flatMap { Self.bytes($0, 2) }
        }
        var bytes = Self.bytes(headerByteCount, 4) + Self.bytes(width, 4) + Self.bytes(isTopDown ? -height : height, 4)
        bytes += Self.bytes(1, 2) + Self.bytes(bits, 2) + Self.bytes(compression, 4)
        bytes += Self.bytes(declaredPixelByteCount, 4) + Self.bytes(2835, 4) + Self.bytes(2835, 4)
        bytes += Self.bytes(declaredColorCount ?? palette.count, 4) + Self.bytes(0, 4)
        if headerByteCount >= 52 { bytes += masks.flatMap { Self.bytes(Int($0), 4) } }
        bytes += [UInt8](repeating: 0, count: max(0, headerByteCount - bytes.count))
        if !profile.isEmpty {
            bytes.replaceSubrange(56..<60, with: Self.bytes(0x4D42_4544, 4))
            let start = headerByteCount + paletteBytes.count + gap.count + storedPixels.count
            bytes.replaceSubrange(112..<120, with: Self.bytes(start, 4) + Self.bytes(profile.count, 4))
        }
        return Array(bytes.prefix(headerByteCount))
    }

    private var masksAfterHeader: [UInt8] {
        headerByteCount == 40 ? masks.flatMap { Self.bytes(Int($0), 4) } : []
    }

    private var paletteBytes: [UInt8] {
        palette.flatMap { color -> [UInt8] in
            headerByteCount == 12 ? [color[2], color[1], color[0]] : [color[2], color[1], color[0], 0]
        }
    }

    private var storedPixels: [UInt8] {
        pixels ?? (isTopDown ? rows : rows.reversed()).flatMap(Self.padded)
    }

    private static func padded(_ row: [UInt8]) -> [UInt8] {
        row + [UInt8](repeating: 0, count: (4 - row.count % 4) % 4)
    }

    /// The little-endian bytes of a number.
    static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Packs indices of fewer than eight bits, the first in the highest bits.
    static func packed(_ indices: [UInt8], bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (indices.count * bits + 7) / 8)
        for (x, index) in indices.enumerated() {
            bytes[x * bits / 8] |= index << UInt8(8 - bits - x * bits % 8)
        }
        return bytes
    }
}

/// Makes icon files.
enum ICOWriter {
    /// An image of an icon: the size that the directory declares, the bit count, and the bytes.
    typealias Image = (side: Int, bits: Int, bytes: [UInt8])

    static func file(_ images: [Image]) -> Data {
        var directory: [UInt8] = [0, 0, 1, 0] + BMPWriter.bytes(images.count, 2)
        var offset = 6 + 16 * images.count
        for image in images {
            let side = UInt8(truncatingIfNeeded: image.side)
            directory += [side, side, 0, 0] + BMPWriter.bytes(1, 2) + BMPWriter.bytes(image.bits, 2)
            directory += BMPWriter.bytes(image.bytes.count, 4) + BMPWriter.bytes(offset, 4)
            offset += image.bytes.count
        }
        return Data(directory + images.flatMap { $0.bytes })
    }
}
