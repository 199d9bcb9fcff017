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
