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
