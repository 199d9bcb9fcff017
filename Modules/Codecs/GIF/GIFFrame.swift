import AlcedoCore

/// Where an image lies on the canvas, and how its rows are stored. Source: GIF89a section 20.
struct GIFFrame {
    var left: Int
    var top: Int
    var size: PixelSize
    var isInterlaced: Bool
    var transparentIndex: Int?

    /// The columns of the image that lie on a canvas of this width.
    func visibleColumns(canvasWidth: Int) -> Range<Int> { 0..<max(0, min(size.width, canvasWidth - left)) }

    /// Whether every pixel of `other` lies within this image.
    func covers(_ other: GIFFrame) -> Bool {
        left <= other.left && left + size.width >= other.left + other.size.width
            && top <= other.top && top + size.height >= other.top + other.size.height
    }

    func covers(canvas: PixelSize) -> Bool {
        covers(GIFFrame(left: 0, top: 0, size: canvas, isInterlaced: false))
    }

    /// The rows of the image in the order they are stored. Source: GIF89a appendix E.
    var rowOrder: some Sequence<Int> {
        let passes = isInterlaced ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
        let height = size.height
        return passes.lazy.flatMap { stride(from: $0.0, to: height, by: $0.1) }
    }
}
