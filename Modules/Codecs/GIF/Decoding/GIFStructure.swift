import AlcedoCore
import FoundationEssentials

/// The content of a file's blocks, without the pixels.
struct GIFStructure: Sendable {
    var canvas: PixelSize
    /// The byte range of the global palette, or `nil` when the file has none.
    var palette: Range<Int>?
    /// The frames whose bytes are complete, and the first frame of a file that has ended. In a copy for a still image,
    /// only the first frame, complete or not.
    var frames: [GIFFrame] = []
    /// The number of repeats after the first play as stored in the file. 0 means that the animation repeats forever.
    /// `nil` means that the file stores no number and the animation plays once.
    var loopCount: Int?
    var metadata = ImageMetadata()

    /// The ICC profile of decoded samples, which are always RGB; nil for sRGB.
    var sampleProfile: Data? { ICCProfile.ofSamples(metadata.colorProfile, isGray: false) }

    /// The number of plays, or `nil` when the animation repeats forever.
    var playCount: Int? { loopCount.map { $0 == 0 ? nil : $0 + 1 } ?? 1 }

    /// Whether a frame has a transparent color or leaves an empty part of the canvas uncovered. Ignores parts that the
    /// disposal `restore` empties again.
    var hasAlpha: Bool {
        // The empty area before the next frame: first the whole canvas, later the area that the previous frame cleared.
        var empty: PixelRect? = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
        for frame in frames {
            if mayBeTransparent(frame) { return true }
            if let empty, !frame.covers(empty) { return true }
            empty = frame.disposal == .clear ? frame.area.clipped(to: canvas) : nil
        }
        return false
    }

    /// The byte range of the palette of a frame: its own or the global one; nil when it has none.
    func palette(of frame: GIFFrame) -> Range<Int>? { frame.palette ?? palette }

    /// Returns whether a pixel of a frame can be transparent.
    func mayBeTransparent(_ frame: GIFFrame) -> Bool { frame.transparentIndex != nil || palette(of: frame) == nil }

    var info: ImageInfo {
        ImageInfo(
            format: .gif, size: canvas, hasAlpha: hasAlpha, colorModel: .palette, frameCount: max(1, frames.count),
            loopCount: loopCount, delays: frames.count > 1 ? frames.map(\.delay) : [], metadata: metadata)
    }

    /// The animation, or `nil` without frames.
    var layout: AnimationLayout? {
        guard !frames.isEmpty else { return nil }
        return AnimationLayout(
            canvas: canvas,
            frames: frames.enumerated().map { index, frame in
                // On an empty canvas or without a transparent color, both modes give the same result, and copying is
                // faster.
                let replaces = index == 0 || !mayBeTransparent(frame)
                return AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.disposal,
                    blend: replaces ? .source : .over)
            },
            playCount: playCount)
    }

    /// Returns the number of bytes for displaying one frame: the canvas, the pixels of the frame, which can be larger
    /// than the canvas, and the buffers that the options require. If the frame is the only one to be displayed, and
    /// fills the canvas exactly, its pixels are the canvas.
    func byteCount(of frame: GIFFrame, _ options: DecodingOptions, isOnly: Bool = false) -> Int {
        let isCanvas = isOnly && frame.area == PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
        let reduction = BoxReduction(from: canvas, towards: options.averagingTarget)
        let shown = PixelBuffer.byteCount(size: reduction.size(of: canvas), format: .rgba8) ?? 0
        // The limits were checked, so the sum does not overflow.
        let held = isCanvas ? [canvas] : [frame.size, canvas]
        return held.reduce(0) { $0 + (PixelBuffer.byteCount(size: $1, format: .rgba8) ?? 0) }
            + (reduction.factor > 1 ? shown : 0) + (options.alphaMode == .premultiplied ? shown : 0)
    }
}

/// One image of a file, without its pixels.
///
/// Source: GIF89a sections 20 and 23.
struct GIFFrame: Sendable {
    var area: PixelRect
    var isInterlaced: Bool
    /// The byte range of the image's own palette, or `nil` when it uses the global palette.
    var palette: Range<Int>?
    var transparentIndex: Int?
    var disposal: FrameDisposal
    var delay: Duration
    /// The offset of the minimum code size, which takes one byte. The sub-blocks of the pixels follow.
    var dataStart: Int

    /// The size of the image before it is clipped to the canvas.
    var size: PixelSize { area.size }

    /// The rows of the image in stored order. Source: GIF89a appendix E.
    var rowOrder: [Int] {
        guard isInterlaced else { return Array(0..<size.height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: size.height, by: $0.1)) }
    }

    /// Returns whether every pixel of `other` lies within this image.
    func covers(_ other: PixelRect) -> Bool {
        area.x <= other.x && area.x + area.size.width >= other.x + other.size.width
            && area.y <= other.y && area.y + area.size.height >= other.y + other.size.height
    }
}
