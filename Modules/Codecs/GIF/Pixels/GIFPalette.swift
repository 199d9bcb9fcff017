import AlcedoCore

/// The colour of every index, as the four bytes of a pixel. Indices without a colour are opaque black.
struct GIFPalette: Sendable {
    /// The most colours of a palette.
    private static let maximumCount = 256

    /// One word an index; in memory red, green, blue, alpha.
    private var pixels = [UInt32](repeating: Self.word(0, 0, 0, 255), count: Self.maximumCount)

    /// The palette of an image, which must be among the bytes: its own, or the global one.
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
