/// An animation without its pixels.
package struct AnimationLayout: Sendable {
    package var canvas: PixelSize
    /// At least one.
    package var frames: [AnimationFrame]
    /// nil for ever.
    package var playCount: Int?

    package init(canvas: PixelSize, frames: [AnimationFrame], playCount: Int?) {
        self.canvas = canvas
        self.frames = frames
        self.playCount = playCount
    }

    /// The frame from which drawing must begin to show frame `index`: the last up to it that does not build on others.
    /// O(*index*).
    package func keyFrame(for index: Int) -> Int {
        var candidate = index
        while candidate > 0 {
            let frame = frames[candidate]
            // A frame that is taken away again brings back what it hid, for those after it.
            if frame.hidesEverything(of: canvas), candidate == index || frame.disposal != .restore { return candidate }
            let before = frames[candidate - 1]
            if before.disposal == .clear, before.area.covers(canvas) { return candidate }
            candidate -= 1
        }
        return 0
    }
}

/// Where one frame lies on the canvas and how it gets there.
package struct AnimationFrame: Sendable, Hashable {
    /// Where the frame's pixels lie; may reach over the canvas's edges, where it is cut off.
    package var area: PixelRect
    /// As the file says it.
    package var rawDelay: Duration
    package var disposal: FrameDisposal
    package var blend: FrameBlend
    /// Whether every pixel of the frame is known to be opaque.
    package var isOpaque: Bool

    package init(
        area: PixelRect, rawDelay: Duration, disposal: FrameDisposal, blend: FrameBlend, isOpaque: Bool = false
    ) {
        self.area = area
        self.rawDelay = rawDelay
        self.disposal = disposal
        self.blend = blend
        self.isOpaque = isOpaque
    }

    /// How long the frame is shown: browsers take 10 ms and less for a mistake and show such frames for 100 ms.
    package var delay: Duration { rawDelay <= .milliseconds(10) ? .milliseconds(100) : rawDelay }

    /// Whether the frame leaves nothing visible of what was on the canvas.
    package func hidesEverything(of canvas: PixelSize) -> Bool {
        area.covers(canvas) && (blend == .source || isOpaque)
    }
}

/// What becomes of a frame's rectangle before the next frame is drawn.
package enum FrameDisposal: Sendable, Hashable {
    /// It stays.
    case keep
    /// It becomes transparent black.
    case clear
    /// It becomes what it was before the frame was drawn.
    case restore
}

/// How the pixels of a frame meet those of the canvas. All samples are straight.
package enum FrameBlend: Sendable, Hashable {
    /// They replace them, transparent ones too.
    case source
    /// They are laid over them, rounded to nearest. Source: W3C PNG specification, third edition, section 13.16.
    case over
    /// They are laid over them with the fixed-point arithmetic of libwebp's `WebPAnimDecoder`, to the bit.
    case overAsLibwebp
}
