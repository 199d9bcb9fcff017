import AlcedoCore

/// An encoder for Sixel sequences.
enum SixelText {
    /// The number of rows in a band, one for each bit of a character.
    private static let bandHeight = 6
    /// The length from which a run is encoded with a repeat count. Shorter runs are written out, which takes no more
    /// characters.
    private static let shortestRun = 4

    /// Returns the sequence that draws an image at the cursor. The final position of the cursor differs between
    /// terminals.
    static func show(_ image: SixelImage) -> String {
        // The first parameters keep pixels without a color unchanged. The second ones set the size and square pixels.
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

    /// Appends up to six rows, one color after another over the same band.
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
    /// The row of a color; `width` zeros if the color has no row yet. A change stores the row.
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

/// An image with at most 256 colors.
struct SixelImage {
    /// The levels of the fixed palette: 6 levels of red, 7 of green and 6 of blue. The eye distinguishes green more
    /// finely.
    private static let levels = SIMD3<Int>(6, 7, 6)

    /// The thresholds of an ordered dither, in 64ths. Error diffusion is not used, because it flickers in animations.
    ///
    /// Source: B. E. Bayer, "An optimum method for two-level rendition of continuous-tone pictures", 1973.
    private static let thresholds: [Int] = (0..<64).map { index in
        let (x, y) = (index % 8, index / 8)
        return (0..<3).reduce(0) { sum, bit in
            let (a, b) = (x >> bit & 1, y >> bit & 1)
            return sum + ((a ^ b) * 2 + b) << (2 * (2 - bit))
        }
    }

    let size: PixelSize
    /// The colors of the palette, as red, green and blue.
    let palette: [SIMD3<UInt8>]
    /// The palette index of each pixel, row by row.
    let indices: [UInt8]

    /// Creates an image with the exact colors if there are at most 256, and otherwise with a dithered fixed palette.
    /// O(*w* × *h*).
    ///
    /// - Parameter pixels: The pixels, opaque and with four bytes per pixel.
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
