import AlcedoCore

/// One image of a file: where it lies on the canvas, how it is shown, and where its parts are among the bytes.
///
/// Source: GIF89a sections 20 and 23.
struct GIFFrame: Sendable {
    var area: PixelRect
    var isInterlaced: Bool
    /// Byte range of its own palette; nil when the global one counts.
    var palette: Range<Int>?
    var transparentIndex: Int?
    var disposal: FrameDisposal
    var delay: Duration
    /// Where the size of the first code is; the pixels' sub-blocks follow.
    var dataStart: Int

    /// The size that its palette indices fill.
    var size: PixelSize { area.size }

    /// The rows of the image in the order they are stored. Source: GIF89a appendix E.
    var rowOrder: [Int] {
        guard isInterlaced else { return Array(0..<size.height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: size.height, by: $0.1)) }
    }

    /// Whether every pixel of `other` lies within this image.
    func covers(_ other: PixelRect) -> Bool {
        area.x <= other.x && area.x + area.size.width >= other.x + other.size.width
            && area.y <= other.y && area.y + area.size.height >= other.y + other.size.height
    }
}
