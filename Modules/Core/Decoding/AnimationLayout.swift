/// The canvas, the frames and the play count of an animation, without pixels.
package struct AnimationLayout: Sendable {
    package var canvas: PixelSize
    /// The frames; at least one.
    package var frames: [AnimationFrame]
    /// The number of plays; nil means forever.
    package var playCount: Int?

    package init(canvas: PixelSize, frames: [AnimationFrame], playCount: Int?) {
        self.canvas = canvas
        self.frames = frames
        self.playCount = playCount
    }

    /// The index, for each frame, of the frame at which drawing must begin to show it: the last frame, up to and
    /// including the frame itself, that does not depend on earlier frames. O(number of frames).
    package var keyFrames: [Int] {
        var keyFrames: [Int] = []
        keyFrames.reserveCapacity(frames.count)
        // The key frame of later frames that are none themselves.
        var last = 0
        for (index, frame) in frames.enumerated() {
            let isAfterClearing =
                index > 0 && frames[index - 1].disposal == .clear && frames[index - 1].area.covers(canvas)
            let hidesEverything = frame.hidesEverything(of: canvas)
            keyFrames.append(isAfterClearing || hidesEverything ? index : last)
            // After a frame with the disposal `restore`, the pixels that it covered are visible again in later frames.
            if isAfterClearing || hidesEverything && frame.disposal != .restore { last = index }
        }
        return keyFrames
    }
}

/// The placement, duration, disposal and blending of one frame.
package struct AnimationFrame: Sendable, Hashable {
    /// The rectangle of the frame's pixels. Parts outside the canvas are clipped.
    package var area: PixelRect
    /// The duration as stored in the file.
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

    /// The duration for which the frame is shown. Durations of at most 10 ms become 100 ms, as in browsers, because
    /// files contain them by mistake.
    package var delay: Duration { rawDelay <= .milliseconds(10) ? .milliseconds(100) : rawDelay }

    /// Whether the frame replaces the whole canvas, so that nothing of the earlier frames remains visible.
    package func hidesEverything(of canvas: PixelSize) -> Bool {
        area.covers(canvas) && (blend == .source || isOpaque)
    }
}

/// The change to a frame's area before the next frame is drawn.
package enum FrameDisposal: Sendable, Hashable {
    /// The frame remains.
    case keep
    /// The area becomes transparent black.
    case clear
    /// The area becomes what it was before the frame was drawn.
    case restore
}

/// The blending of a frame with the canvas. All samples are straight.
package enum FrameBlend: Sendable, Hashable {
    /// The frame's pixels replace those of the canvas, even where they are transparent.
    case source
    /// The frame's pixels are drawn over those of the canvas, rounded to nearest. Source: W3C PNG specification, third
    /// edition, section 13.16.
    case over
    /// The frame's pixels are drawn over those of the canvas with the fixed-point arithmetic of libwebp's
    /// `WebPAnimDecoder`, bit-identical to its results.
    case overAsLibwebp
}
