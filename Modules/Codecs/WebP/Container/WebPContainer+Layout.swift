import AlcedoCore

extension WebPContainer {
    /// The animation of the frames so far; nil without frames.
    ///
    /// Frames on an empty canvas replace it, as libwebp's own player has it; its blending would round their colours.
    var layout: AnimationLayout? {
        guard let canvas, !frames.isEmpty else { return nil }
        var layout = AnimationLayout(canvas: canvas, frames: [], playCount: loopCount.map { $0 == 0 ? nil : $0 } ?? 1)
        var canvasIsEmpty = true
        for frame in frames {
            let isWhole = frame.area.size == canvas
            layout.frames.append(
                AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.isCleared ? .clear : .keep,
                    blend: frame.isBlended && !canvasIsEmpty ? .overAsLibwebp : .source,
                    isOpaque: !frame.declaresAlpha))
            canvasIsEmpty = frame.isCleared && (isWhole || canvasIsEmpty)
        }
        return layout
    }
}
