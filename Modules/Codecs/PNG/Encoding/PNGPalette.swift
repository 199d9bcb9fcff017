import AlcedoCore
import CPNGShim

/// A picture of at most 256 colours as PNG stores it: indices of as few bits as will do.
struct PNGPalette {
    /// Four bytes a colour, those that are not opaque first, because `tRNS` lists alpha from the first colour on.
    let colors: [UInt8]
    let transparentCount: Int
    let bitDepth: Int
    private let palette: ExactPalette
    /// Where the palette's colours are in `colors`.
    private let positions: [UInt8]

    /// nil when the picture has too many colours, or is so small that the palette weighs more than it saves.
    init?(_ pixels: PixelBuffer) {
        guard pixels.format == .rgba8, pixels.alphaMode != .premultiplied, let palette = ExactPalette(pixels) else {
            return nil
        }
        let alphas = palette.colors.map { UInt8(truncatingIfNeeded: UInt32(littleEndian: $0) >> 24) }
        let order = alphas.indices.filter { alphas[$0] < 255 } + alphas.indices.filter { alphas[$0] == 255 }
        var positions = [UInt8](repeating: 0, count: order.count)
        for (position, index) in order.enumerated() { positions[index] = UInt8(position) }
        let count = palette.colors.count
        self.palette = palette
        self.positions = positions
        colors = order.flatMap { index in withUnsafeBytes(of: palette.colors[index]) { Array($0) } }
        transparentCount = alphas.count { $0 < 255 }
        bitDepth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8
        let chunks = 12 + 3 * count + (transparentCount > 0 ? 12 + transparentCount : 0)
        let channels = pixels.alphaMode == .opaque ? 3 : 4
        guard chunks + pixels.size.pixelCount * bitDepth / 8 < pixels.size.pixelCount * channels else { return nil }
    }

    /// The indices of one row of the picture, a byte each.
    func indices(_ row: RawSpan, into output: inout [UInt8]) {
        var last: (color: UInt32, index: UInt8)?
        for x in output.indices {
            let color = row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)
            if color != last?.color { last = (color, positions[Int(palette.index(of: color) ?? 0)]) }
            output[x] = last?.index ?? 0
        }
    }
}
