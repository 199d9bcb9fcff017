/// The frames of an animation, composited on its canvas.
///
/// Holds one canvas, a second one while a frame is shown that will be taken away again, and the pixels of one frame
/// while it is drawn, whatever the number of frames. Going forward draws one frame; a jump begins at the last key frame.
/// Calls take turns.
package final class CompositedAnimation<Decoder: FrameDecoding>: ImageFrameSource {
    private struct State {
        var canvas: FrameCanvas?
        /// The frame that the canvas shows.
        var index = -1
        /// The frame that was drawn first. A later frame that needs what was before it cannot be drawn on this canvas.
        var start = 0
    }

    package let layout: AnimationLayout
    private let decoder: Decoder
    private let options: DecodingOptions
    private let orientation: ImageOrientation
    private let reduction: BoxReduction
    private let state = Locked(State())

    /// - Parameters:
    ///   - orientation: How the file's rows relate to the upright picture; applied when the options say so.
    ///   - options: Alpha mode, orientation and target size of the frames. The limits were checked by the codec.
    package init(
        _ layout: AnimationLayout, decoder: Decoder, orientation: ImageOrientation = .up, options: DecodingOptions
    ) {
        self.layout = layout
        self.decoder = decoder
        self.options = options
        self.orientation = options.appliesOrientation ? orientation : .up
        reduction = BoxReduction(from: layout.canvas, orientation: orientation, towards: options.target)
    }

    package var canvasSize: PixelSize {
        let size = reduction.size(of: layout.canvas)
        return orientation.swapsSides ? size.transposed : size
    }

    package var frameCount: Int { layout.frames.count }

    package var playCount: Int? { layout.playCount }

    /// The file, and two canvases.
    package var cost: Int {
        decoder.byteCount + 2 * (PixelBuffer.byteCount(size: layout.canvas, format: .rgba8) ?? 0)
    }

    package func delay(at index: Int) -> Duration { layout.frames[index].delay }

    package func rawDelay(at index: Int) -> Duration { layout.frames[index].rawDelay }

    package func frame(at index: Int) throws -> PixelBuffer { try composited(index) }

    /// The frame as the options want it. Traps unless `0 <= index < frameCount`.
    package func composited(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        precondition(layout.frames.indices.contains(index), "the animation has no frame \(index)")
        let canvas = try state.withLock { state throws(ImageDecodingError) in try draw(index, &state) }
        return try finished(canvas)
    }

    private func draw(_ index: Int, _ state: inout State) throws(ImageDecodingError) -> PixelBuffer {
        if state.index == index, let canvas = state.canvas { return canvas.pixels }
        let keyFrame = layout.keyFrame(for: index)
        var next = state.index + 1
        if state.canvas == nil || next > index || next < keyFrame || state.start > keyFrame {
            next = keyFrame
            state.start = keyFrame
            state.canvas = nil
        }
        // Until it is whole the state does not have it: a damaged frame leaves no half-drawn canvas behind.
        guard var canvas = state.canvas ?? FrameCanvas(size: layout.canvas) else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(layout.canvas) pixels")
        }
        state.canvas = nil
        while next <= index {
            canvas.draw(try decoder.decodeFrame(next), as: layout.frames[next])
            next += 1
        }
        state.canvas = canvas
        state.index = index
        return canvas.pixels
    }

    private func finished(_ canvas: PixelBuffer) throws(ImageDecodingError) -> PixelBuffer {
        let reduced = try canvas.reduced(by: reduction)
        let upright = try reduced.upright(from: orientation)
        return options.alphaMode == .premultiplied ? upright.premultiplied() : upright
    }
}
