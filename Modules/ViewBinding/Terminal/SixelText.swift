import AlcedoCore

/// Pixels as a Sixel sequence.
///
/// Source: "VT330/VT340 Programmer Reference Manual", volume 2, chapter 14.
enum SixelText {
    /// Rows of a band, one for each bit of a character.
    private static let bandHeight = 6
    /// Runs of fewer characters are as short written out.
    private static let shortestRun = 4

    /// Draws an image at the cursor. Where that is afterwards, terminals do not agree.
    static func show(_ image: SixelImage) -> String {
        // Pixels of no colour stay as they are; one by one; the size.
        var bytes = Array("\u{1B}P0;1;0q\"1;1;\(image.size.width);\(image.size.height)".utf8)
        for (index, color) in image.palette.enumerated() {
            let percents = [color.x, color.y, color.z].map { (Int($0) * 100 + 127) / 255 }
            bytes += "#\(index);2;\(percents[0]);\(percents[1]);\(percents[2])".utf8
        }
        for top in stride(from: 0, to: image.size.height, by: bandHeight) {
            if top > 0 { bytes.append(UInt8(ascii: "-")) }
            appendBand(of: image, from: top, to: &bytes)
        }
        bytes += "\u{1B}\\".utf8
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Draws up to six rows, one colour after another over the same place.
    private static func appendBand(of image: SixelImage, from top: Int, to bytes: inout [UInt8]) {
        let width = image.size.width
        var masks = [[UInt8]?](repeating: nil, count: image.palette.count)
        for y in top..<min(top + bandHeight, image.size.height) {
            for x in 0..<width {
                let index = Int(image.indices[y * width + x])
                masks[index, default: width][x] |= 1 << UInt8(y - top)
            }
        }
        var isFirst = true
        for case (let index, var mask?) in masks.enumerated() {
            if !isFirst { bytes.append(UInt8(ascii: "$")) }
            isFirst = false
            bytes += "#\(index)".utf8
            while mask.last == 0 { mask.removeLast() }
            appendRuns(of: mask, to: &bytes)
        }
    }

    private static func appendRuns(of mask: [UInt8], to bytes: inout [UInt8]) {
        var start = 0
        while start < mask.count {
            var end = start + 1
            while end < mask.count, mask[end] == mask[start] { end += 1 }
            let character = mask[start] + UInt8(ascii: "?")
            if end - start >= shortestRun {
                bytes += "!\(end - start)".utf8
                bytes.append(character)
            } else {
                bytes += repeatElement(character, count: end - start)
            }
            start = end
        }
    }
}

extension [[UInt8]?] {
    /// The row of a colour; empty ones of `width` zeros begin where there was none.
    fileprivate subscript(index: Int, default width: Int) -> [UInt8] {
        get { self[index] ?? [UInt8](repeating: 0, count: width) }
        _modify {
            if self[index] == nil { self[index] = [UInt8](repeating: 0, count: width) }
            var row = self[index].take() ?? []
            defer { self[index] = row }
            yield &row
        }
    }
}

/// An image in at most 256 colours.
struct SixelImage {
    /// A fixed palette with finer steps where the eye sees finer: 6 levels of red, 7 of green, 6 of blue.
    private static let levels = SIMD3<Int>(6, 7, 6)

    /// Where a step of rounding begins, in 64ths: an ordered dither, because one that spreads errors flickers when the
    /// pictures move. Source: B. E. Bayer, "An optimum method for two-level rendition of continuous-tone pictures", 1973.
    private static let thresholds: [Int] = (0..<64).map { index in
        let (x, y) = (index % 8, index / 8)
        return (0..<3).reduce(0) { sum, bit in
            let (a, b) = (x >> bit & 1, y >> bit & 1)
            return sum + ((a ^ b) * 2 + b) << (2 * (2 - bit))
        }
    }

    let size: PixelSize
    /// Red, green, blue.
    let palette: [SIMD3<UInt8>]
    /// One for each pixel, row after row.
    let indices: [UInt8]

    /// The exact colours, when there are few; else the nearest mixtures of fixed ones. O(*w* × *h*).
    ///
    /// - Parameter pixels: Four bytes a pixel, opaque.
    init(_ pixels: PixelBuffer) {
        size = pixels.size
        var indices: [UInt8] = []
        indices.reserveCapacity(size.pixelCount)
        let exact = ExactPalette(pixels)
        for y in 0..<pixels.height {
            let row = pixels.row(y)
            for x in 0..<pixels.width {
                if let exact {
                    indices.append(exact.index(of: row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)) ?? 0)
                } else {
                    let pixel = row.unsafeLoad(fromByteOffset: 4 * x, as: SIMD4<UInt8>.self)
                    indices.append(Self.mixture(of: pixel, x: x, y: y))
                }
            }
        }
        self.indices = indices
        palette = exact.map { $0.colors.map(Self.color) } ?? Self.fixed
    }

    private static let fixed: [SIMD3<UInt8>] = (0..<levels.x * levels.y * levels.z).map { index in
        let steps = SIMD3(index / (levels.y * levels.z), index / levels.z % levels.y, index % levels.z)
        return SIMD3(truncatingIfNeeded: steps &* 255 / (levels &- 1))
    }

    private static func color(_ pixel: UInt32) -> SIMD3<UInt8> {
        let bytes = withUnsafeBytes(of: pixel) { Array($0) }
        return SIMD3(bytes[0], bytes[1], bytes[2])
    }

    private static func mixture(of pixel: SIMD4<UInt8>, x: Int, y: Int) -> UInt8 {
        let threshold = thresholds[y % 8 * 8 + x % 8] * 255 / 64
        let samples = SIMD3<Int>(Int(pixel.x), Int(pixel.y), Int(pixel.z))
        let steps = (samples &* (levels &- 1) &+ threshold) / 255
        return UInt8(truncatingIfNeeded: (steps.x * levels.y + steps.y) * levels.z + steps.z)
    }
}
