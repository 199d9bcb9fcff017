import AlcedoCore
import FoundationEssentials

/// What the blocks of a file say, without its pixels.
struct GIFStructure: Sendable {
    var canvas: PixelSize
    /// Byte range of the global palette.
    var palette: Range<Int>?
    /// Those whose last byte has been seen.
    var frames: [GIFFrame] = []
    /// As the file says it: how often the animation is repeated after its first play; 0 for ever.
    var loopCount: Int?
    var metadata = ImageMetadata()

    /// How often the animation plays; nil for ever.
    var playCount: Int? { loopCount.map { $0 == 0 ? nil : $0 + 1 } ?? 1 }

    /// Whether a frame has a transparent colour or leaves an empty place of the canvas uncovered.
    var hasAlpha: Bool {
        // What is empty before the next frame: first the whole canvas, later what the frame before left behind.
        var empty: PixelRect? = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
        for frame in frames {
            if frame.transparentIndex != nil { return true }
            if let empty, !frame.covers(empty) { return true }
            empty = frame.disposal == .clear ? frame.area.clipped(to: canvas) : nil
        }
        return false
    }

    var info: ImageInfo {
        ImageInfo(
            format: .gif, size: canvas, hasAlpha: hasAlpha, colorModel: .palette, frameCount: max(1, frames.count),
            loopCount: loopCount, delays: frames.count > 1 ? frames.map(\.delay) : [], metadata: metadata)
    }

    /// The animation; nil without frames.
    var layout: AnimationLayout? {
        guard !frames.isEmpty else { return nil }
        return AnimationLayout(
            canvas: canvas,
            frames: frames.enumerated().map { index, frame in
                // On an empty canvas it is all the same, and copying is faster.
                let replaces = index == 0 || frame.transparentIndex == nil
                return AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.disposal,
                    blend: replaces ? .source : .over)
            },
            playCount: playCount)
    }

    /// The maximum number of bytes that one frame takes until it is shown: its pixels, which may be more than the
    /// canvas's, the canvas, and what the options make of that.
    func byteCount(of frame: GIFFrame, _ options: DecodingOptions) -> Int {
        let reduction = BoxReduction(from: canvas, towards: options.target)
        let shown = PixelBuffer.byteCount(size: reduction.size(of: canvas), format: .rgba8) ?? 0
        // The limits were checked, so the sum fits.
        return [frame.size, canvas].reduce(0) { $0 + (PixelBuffer.byteCount(size: $1, format: .rgba8) ?? 0) }
            + (reduction.factor > 1 ? shown : 0) + (options.alphaMode == .premultiplied ? shown : 0)
    }
}

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
