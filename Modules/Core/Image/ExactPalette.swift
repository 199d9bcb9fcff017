/// The colours of a picture that has few, in the order they were first seen.
///
/// An open hash table of four times as many slots as colours, so that a look-up is a step or two.
package struct ExactPalette: Sendable {
    /// The most colours of a PNG or GIF palette.
    package static let maximumCount = 256

    /// Each as the four bytes of a pixel in memory: red, green, blue, alpha.
    package private(set) var colors: [UInt32] = []
    private var slots = [Int16](repeating: -1, count: 4 * maximumCount)

    package init() {}

    /// Makes the palette of all pixels of a straight or opaque RGBA8 picture; nil when there are more colours than fit.
    /// O(*w* × *h*).
    package init?(_ pixels: PixelBuffer) {
        for y in 0..<pixels.height {
            let row = pixels.row(y)
            var last: UInt32?
            for x in 0..<pixels.width {
                let color = row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)
                guard color != last else { continue }
                guard insert(color) != nil else { return nil }
                last = color
            }
        }
    }

    /// The colour's index, new or old; nil when it would be one too many.
    package mutating func insert(_ color: UInt32) -> UInt8? {
        let slot = slot(of: color)
        if slots[slot] >= 0 { return UInt8(truncatingIfNeeded: slots[slot]) }
        guard colors.count < Self.maximumCount else { return nil }
        slots[slot] = Int16(colors.count)
        colors.append(color)
        return UInt8(truncatingIfNeeded: colors.count - 1)
    }

    /// The index of a colour; nil when the palette lacks it.
    package func index(of color: UInt32) -> UInt8? {
        let index = slots[slot(of: color)]
        return index >= 0 ? UInt8(truncatingIfNeeded: index) : nil
    }

    /// Where the colour is, or would be put.
    private func slot(of color: UInt32) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the colour.
        var slot = Int((color &* 0x9E37_79B1) >> 22)
        while slots[slot] >= 0, colors[Int(slots[slot])] != color { slot = (slot + 1) % slots.count }
        return slot
    }
}
