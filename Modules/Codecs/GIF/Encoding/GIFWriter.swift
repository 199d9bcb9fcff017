import AlcedoCore
import FoundationEssentials

/// The place of an image on the canvas, its delay and its disposal.
struct GIFPlacement {
    /// The part of the canvas.
    var area: PixelRect
    /// The delay in hundredths of a second, at most 65,535.
    var delay: Int
    /// The change of the area after the image has been displayed.
    var disposal: FrameDisposal
    /// Whether no other image follows.
    var isLast: Bool
}

/// A writer of the blocks of a file. Source: GIF89a; XMP specification part 3, section 1.1.2.
///
/// Images share a palette, the global one, as long as it has room for their colors. Later images whose colors do not
/// fit, or that are smaller with one, have a palette of their own.
struct GIFWriter {
    /// The number of bytes before the global palette.
    private static let headerByteCount = 13

    private let maximumColorCount: Int
    private let maximumByteCount: Int
    private var file: Data
    /// The global palette, which is written at the end.
    private var palette = ExactPalette()

    /// Writes the header and the extensions that apply to the whole file.
    ///
    /// - Parameters:
    ///   - size: The size of the canvas, at most 65,535 pixels on a side.
    ///   - maximumColorCount: The maximum number of colors in a palette, from 2 to 256.
    ///   - loopCount: The loop count of a NETSCAPE2.0 extension, from 0 to 65,535, or `nil` for no extension.
    ///   - colorProfile: The ICC profile, or `nil`.
    ///   - xmp: The XMP packet, or `nil`.
    ///   - maximumByteCount: The maximum number of bytes of the file.
    init(
        size: PixelSize, maximumColorCount: Int, loopCount: Int?, colorProfile: Data?, xmp: Data?,
        maximumByteCount: Int
    ) {
        self.maximumColorCount = maximumColorCount
        self.maximumByteCount = maximumByteCount
        file = Data("GIF89a".utf8) + Self.word(size.width) + Self.word(size.height) + [0, 0, 0]
        if let loopCount { append("NETSCAPE2.0", [1] + Self.word(loopCount)) }
        if let profile = ICCProfile.encoded(colorProfile, isGray: false), !profile.isEmpty {
            append("ICCRGBG1012", [UInt8](profile))
        }
        if let xmp, !xmp.isEmpty {
            // The packet is not divided into blocks. A reader that does not know it jumps to the bytes after it, in
            // which every length leads to the terminator.
            file += [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8)
            file += xmp
            file += [1] + (0...255).reversed().map { UInt8($0) } + [0]
        }
    }

    private mutating func append(_ name: String, _ data: [UInt8]) {
        file += [0x21, 0xFF, 11] + Array(name.utf8)
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            file += [UInt8(block.count)] + block
        }
        file.append(0)
    }

    /// Writes one image: the smallest of some that show the same.
    ///
    /// - Parameters:
    ///   - candidates: The images, which have the size of the placement's area; at least one.
    ///   - placement: The placement of the image.
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `exceedsLimit`, or `failed` when the work of the thread is
    ///   canceled.
    mutating func add(
        _ candidates: [GIFIndexedImage], at placement: GIFPlacement
    ) throws(ImageEncodingError) {
        var best: (block: [UInt8], palette: ExactPalette)?
        let used = Self.tableByteCount(palette.colors)
        var left = maximumByteCount - file.count - used
        for image in candidates {
            let shared = shared(for: image)
            if let (shared, indices) = shared {
                // Later images use the colors that are added, too.
                let growth = placement.isLast ? Self.tableByteCount(shared.colors) - used : 0
                let image = image.mapped(to: indices)
                let block = try block(
                    image, of: shared.colors, isLocal: false, placement, maximumByteCount: left - growth)
                if let block { (best, left) = ((block, shared), block.count + growth - 1) }
            }
            // Indices of fewer bits save less than a palette of more than 32 colors takes.
            guard shared == nil || !palette.colors.isEmpty && image.colors.count <= 32 else { continue }
            let block = try block(image, of: image.colors, isLocal: true, placement, maximumByteCount: left)
            if let block { (best, left) = ((block, palette), block.count - 1) }
        }
        guard let best else { throw .exceeds(maximumByteCount, .gif) }
        file += best.block
        palette = best.palette
    }

    /// Returns the global palette with the colors of an image, and the indices of these colors, or nil if there is no
    /// room for them. The transparent index is any that the image does not use.
    private func shared(for image: GIFIndexedImage) -> (palette: ExactPalette, indices: [UInt8])? {
        let opaque = image.colors.filter { $0 != 0 }
        guard var shared = palette.adding(opaque, maximumCount: maximumColorCount) else { return nil }
        var indices = image.colors.map { shared.index(of: $0) ?? 0 }
        guard let transparent = image.transparentIndex else { return (shared, indices) }
        let used = Set(opaque.compactMap { shared.index(of: $0) })
        guard let free = (0..<maximumColorCount).first(where: { !used.contains(UInt8($0)) }) else { return nil }
        if free == shared.colors.count { _ = shared.insert(0) }
        indices[Int(transparent)] = UInt8(free)
        return (shared, indices)
    }

    /// Returns the blocks of an image, or nil if they have more than `maximumByteCount` bytes.
    private func block(
        _ image: GIFIndexedImage, of colors: [UInt32], isLocal: Bool, _ placement: GIFPlacement, maximumByteCount: Int
    ) throws(ImageEncodingError) -> [UInt8]? {
        var block: [UInt8] = []
        var transparent = image.transparentIndex
        // Some decoders clear with the background color if the image has no transparent index.
        if transparent == nil, placement.disposal == .clear {
            transparent = image.unusedIndex(below: 1 << Self.bitCount(of: colors))
        }
        if placement.delay > 0 || placement.disposal != .keep || transparent != nil {
            let method: UInt8 =
                switch placement.disposal {
                case .keep: 1
                case .clear: 2
                case .restore: 3
                }
            block += [0x21, 0xF9, 4, method << 2 | (transparent == nil ? 0 : 1)] + Self.word(placement.delay)
            block += [transparent ?? 0, 0]
        }
        let area = placement.area
        block += [0x2C] + Self.word(area.x) + Self.word(area.y)
        block += Self.word(area.size.width) + Self.word(area.size.height)
        block += isLocal ? [Self.tableFlags(colors)] + Self.table(colors) : [0]
        return try LZWEncoder.encode(
            image.indices, width: area.size.width, after: block, maximumByteCount: maximumByteCount)
    }

    /// Writes the global palette and the trailer, and returns the file.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError`` `exceedsLimit`.
    mutating func finish() throws(ImageEncodingError) -> Data {
        file.append(0x3B)
        file[Self.headerByteCount - 3] = Self.tableFlags(palette.colors) | 0x70
        file.insert(contentsOf: Self.table(palette.colors), at: Self.headerByteCount)
        guard file.count <= maximumByteCount else { throw .exceeds(maximumByteCount, .gif) }
        return file
    }

    // MARK: Fields

    private static func word(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    /// Returns the number of bits of the indices of a palette, whose number of colors is a power of two.
    private static func bitCount(of colors: [UInt32]) -> Int {
        max(1, Int.bitWidth - (colors.count - 1).leadingZeroBitCount)
    }

    private static func tableFlags(_ colors: [UInt32]) -> UInt8 {
        colors.isEmpty ? 0 : 0x80 | UInt8(bitCount(of: colors) - 1)
    }

    private static func tableByteCount(_ colors: [UInt32]) -> Int { colors.isEmpty ? 0 : 3 << bitCount(of: colors) }

    private static func table(_ colors: [UInt32]) -> [UInt8] {
        let bytes = colors.flatMap { color in withUnsafeBytes(of: color) { Array($0.prefix(3)) } }
        return bytes + [UInt8](repeating: 0, count: tableByteCount(colors) - bytes.count)
    }
}

extension ExactPalette {
    /// Returns the palette with further colors, or nil if it then has more than `maximumCount`.
    fileprivate func adding(_ colors: [UInt32], maximumCount: Int) -> ExactPalette? {
        var palette = self
        for color in colors {
            guard palette.insert(color) != nil, palette.colors.count <= maximumCount else { return nil }
        }
        return palette
    }
}
