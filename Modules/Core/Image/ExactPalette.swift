/// The palette of an image with few colors, in the order of their first occurrence.
///
/// An open-addressing hash table with four times as many slots as a full palette has colors, so that a lookup usually
/// takes one or two steps.
package struct ExactPalette: Sendable {
    /// The maximum number of colors in a PNG or GIF palette.
    package static let maximumCount = 256

    /// The colors, each with the bytes of a pixel in memory order: red, green, blue, alpha.
    package private(set) var colors: [UInt32] = []
    private var slots = [Int16](repeating: -1, count: 4 * maximumCount)

    package init() {}

    /// Creates the palette of a straight or opaque RGBA8 image. Returns nil when the image has more than
    /// ``maximumCount`` colors. O(*w* × *h*).
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

    /// Returns the index of the color, and adds the color if the palette does not contain it. Returns nil if the color
    /// cannot be added because the palette is full.
    package mutating func insert(_ color: UInt32) -> UInt8? {
        let slot = slot(of: color)
        if slots[slot] >= 0 { return UInt8(truncatingIfNeeded: slots[slot]) }
        guard colors.count < Self.maximumCount else { return nil }
        slots[slot] = Int16(colors.count)
        colors.append(color)
        return UInt8(truncatingIfNeeded: colors.count - 1)
    }

    /// Returns the index of a color, or nil when the palette does not contain it.
    package func index(of color: UInt32) -> UInt8? {
        let index = slots[slot(of: color)]
        return index >= 0 ? UInt8(truncatingIfNeeded: index) : nil
    }

    /// Returns the slot that holds the color, or the free slot for it.
    private func slot(of color: UInt32) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the color.
        var slot = Int((color &* 0x9E37_79B1) >> 22)
        while slots[slot] >= 0, colors[Int(slots[slot])] != color { slot = (slot + 1) % slots.count }
        return slot
    }
}
