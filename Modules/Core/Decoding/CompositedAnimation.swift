import AlcedoRuntime

/// The frames of an animation, composited on its canvas.
///
/// Memory does not depend on the number of frames: one canvas, a second canvas while a frame with the disposal
/// `restore` is shown, and the pixels of one frame while it is drawn. Advancing to the next frame draws one frame. A
/// jump to another frame draws at most the frames from the key frame of the requested frame to the requested frame.
/// Concurrent calls wait for each other while they draw.
///
/// The animation ends before a frame after the first that is damaged: one that cannot be decoded, misses pixels, or has
/// more damage than the options tolerate.
package final class CompositedAnimation<Decoder: FrameDecoding>: ImageFrameSource {
    private struct State {
        var canvas: FrameCanvas?
        /// The index of the frame that the canvas shows. It has no meaning without a canvas.
        var index = -1
        /// The index of the first frame that was drawn on the canvas. The canvas cannot be used for a frame whose key
        /// frame has a lower index.
        var start = 0
    }

    package let layout: AnimationLayout
    private let keyFrames: [Int]
    private let decoder: Decoder
    private let options: DecodingOptions
    private let orientation: ImageOrientation
    private let reduction: BoxReduction
    private let found: FrameDamage
    private let state = Locked(State())

    /// Creates the frames of an animation.
    ///
    /// - Parameters:
    ///   - layout: The frames and the canvas.
    ///   - decoder: The decoder of single frames.
    ///   - orientation: The orientation of the file's rows. It is applied when the options request it.
    ///   - options: The alpha mode, orientation, target size and tolerance of the frames. The codec has already checked
    ///     the limits.
    package init(
        _ layout: AnimationLayout, decoder: Decoder, orientation: ImageOrientation = .up, options: DecodingOptions
    ) {
        found = FrameDamage(frameCount: layout.frames.count)
        self.layout = layout
        keyFrames = layout.keyFrames
        self.decoder = decoder
        self.options = options
        self.orientation = options.appliesOrientation ? orientation : .up
        reduction = BoxReduction(from: layout.canvas, orientation: orientation, towards: options.averagingTarget)
    }

    package var canvasSize: PixelSize {
        let size = reduction.size(of: layout.canvas)
        return orientation.swapsSides ? size.transposed : size
    }

    package var frameCount: Int { found.frameCount }

    package var damage: ImageDamage? { found.worst }

    package var playCount: Int? { layout.playCount }

    /// The bytes that the decoder keeps, plus two canvases.
    package var cost: Int {
        decoder.byteCount + 2 * (PixelBuffer.byteCount(size: layout.canvas, format: .rgba8) ?? 0)
    }

    package func delay(at index: Int) -> Duration { layout.frames[index].delay }

    package func rawDelay(at index: Int) -> Duration { layout.frames[index].rawDelay }

    package func frame(at index: Int) throws -> PixelBuffer { try composited(index) }

    /// Returns the canvas with frame `index` drawn, converted as the options request. Throws the error of the decoder,
    /// the error that ended the animation before the frame, or `outOfMemory`. Traps unless the layout has the frame.
    package func composited(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        precondition(layout.frames.indices.contains(index), "the animation has no frame \(index)")
        let canvas = try state.withLock { state throws(ImageDecodingError) in
            try found.check(index)
            return try draw(index, &state)
        }
        return try finished(canvas)
    }

    private func draw(_ index: Int, _ state: inout State) throws(ImageDecodingError) -> PixelBuffer {
        if state.index == index, let canvas = state.canvas { return canvas.pixels }
        let keyFrame = keyFrames[index]
        var next = state.index + 1
        if state.canvas == nil || next > index || next < keyFrame || state.start > keyFrame {
            next = keyFrame
            state.start = keyFrame
            state.canvas = nil
        }
        // The state has no canvas until the frame is complete, so a damaged frame leaves no half-drawn canvas in it.
        var canvas = state.canvas
        state.canvas = nil
        while next <= index {
            let rows = try decoded(next)
            if canvas == nil {
                canvas = FrameCanvas(size: layout.canvas, showing: rows, as: layout.frames[next])
            } else {
                canvas?.draw(rows, as: layout.frames[next])
            }
            next += 1
        }
        guard let canvas else { throw ImageDecodingError.noMemory(for: layout.canvas) }
        state.canvas = canvas
        state.index = index
        return canvas.pixels
    }

    private func decoded(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        try found.frame(index) { () throws(ImageDecodingError) in
            let (pixels, damage) = try decoder.decodeFrame(index)
            // The damage of the first frame is that of the image, which has been tolerated.
            guard index > 0, let damage else { return pixels }
            if damage.kind > min(options.tolerance, .wrongPixels) { throw damage.error }
            found.record(damage)
            return pixels
        }
    }

    private func finished(_ canvas: PixelBuffer) throws(ImageDecodingError) -> PixelBuffer {
        let reduced = try canvas.reduced(by: reduction)
        let upright = try reduced.upright(from: orientation)
        return options.alphaMode == .premultiplied ? upright.converted(to: .premultiplied) : upright
    }
}

/// A decoder of the single frames of an animation, which ``CompositedAnimation`` composites.
package protocol FrameDecoding: Sendable {
    /// Returns the pixels of frame `index` without the canvas, straight RGBA8 with the size of the frame's area, and
    /// the damage of its data, of any kind, if it was decoded nevertheless. Calls run one at a time.
    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?)

    /// The number of bytes that the decoder keeps in memory, including the encoded file.
    var byteCount: Int { get }
}

/// The canvas of an animation, on which frames are drawn in sequence. Straight RGBA8.
///
/// Memory: the canvas, plus a second canvas while a frame with the disposal `restore` is shown.
private struct FrameCanvas {
    private(set) var pixels: PixelBuffer
    private var saved: PixelBuffer?
    private var last: AnimationFrame?

    /// Creates a canvas with its first frame, which becomes the canvas if it fills it exactly. Returns nil when the
    /// memory of a canvas cannot be allocated.
    init?(size: PixelSize, showing rows: PixelBuffer, as frame: AnimationFrame) {
        if frame.hidesEverything(of: size), rows.size == size, frame.disposal != .restore {
            pixels = rows.reinterpreted(as: .straight)
            last = frame
            return
        }
        guard let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) else { return nil }
        // No other variable may hold the buffer, because drawing would then copy it.
        self.pixels = consume pixels
        draw(rows, as: frame)
    }

    /// Disposes of the previous frame and draws the next one.
    ///
    /// - Parameters:
    ///   - rows: The pixels of the frame, with the size of its area.
    ///   - frame: The area, the disposal and the blending of the frame.
    mutating func draw(_ rows: PixelBuffer, as frame: AnimationFrame) {
        disposeOfLast()
        // libwebp copies pixels, instead of blending them, where the previous frame has just been cleared.
        let cleared = last?.disposal == .clear && frame.blend == .overAsLibwebp ? last?.area : nil
        saved = frame.disposal == .restore ? pixels : nil
        last = frame
        guard let visible = frame.area.clipped(to: pixels.size) else { return }
        if frame.hidesEverything(of: pixels.size), rows.size == pixels.size {
            pixels = rows.reinterpreted(as: .straight)
            return
        }
        draw(rows, at: frame.area, inside: visible, frame.blend)
        if let copied = cleared?.clipped(to: visible) { draw(rows, at: frame.area, inside: copied, .source) }
    }

    /// Draws the pixels of a frame that lie inside `part`. `part` must lie inside the frame's area and on the canvas.
    private mutating func draw(_ rows: PixelBuffer, at area: PixelRect, inside part: PixelRect, _ blend: FrameBlend) {
        let stride = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { canvas in
            rows.withUnsafeBytes { source in
                for y in part.y..<part.y + part.size.height {
                    let from = (y - area.y) * rows.bytesPerRow + (part.x - area.x) * 4
                    let to = y * stride + part.x * 4
                    Self.draw(
                        UnsafeRawBufferPointer(rebasing: source[from..<from + part.size.width * 4]),
                        over: UnsafeMutableRawBufferPointer(rebasing: canvas[to..<to + part.size.width * 4]), blend)
                }
            }
        }
    }

    private mutating func disposeOfLast() {
        guard let last else { return }
        switch last.disposal {
        case .keep: break
        case .clear:
            guard let area = last.area.clipped(to: pixels.size) else { return }
            let stride = pixels.bytesPerRow
            pixels.withUnsafeMutableBytes { canvas in
                for y in area.y..<area.y + area.size.height {
                    let start = y * stride + area.x * 4
                    UnsafeMutableRawBufferPointer(rebasing: canvas[start..<start + area.size.width * 4])
                        .initializeMemory(as: UInt8.self, repeating: 0)
                }
            }
        case .restore:
            if let saved { pixels = saved }
        }
        saved = nil
    }

    private static func draw(
        _ source: UnsafeRawBufferPointer, over target: UnsafeMutableRawBufferPointer, _ blend: FrameBlend
    ) {
        switch blend {
        case .source: target.copyMemory(from: source)
        case .over: PixelBlending.drawOver(source, target, PixelBlending.over)
        case .overAsLibwebp: PixelBlending.drawOver(source, target, PixelBlending.overAsLibwebp)
        }
    }
}

enum PixelBlending {
    /// Blends rows of equal length. Opaque source pixels replace the target; transparent ones leave it unchanged.
    @inline(__always)
    static func drawOver(
        _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
        _ blend: (_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32>
    ) {
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        for offset in stride(from: 0, to: source.count, by: 4) {
            let pixel = from.load(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            if pixel.w == 255 {
                to.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
            } else if pixel.w > 0 {
                let below = to.load(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                let result = blend(SIMD4(truncatingIfNeeded: pixel), SIMD4(truncatingIfNeeded: below))
                to.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: result), toByteOffset: offset, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Returns the exact result of source-over blending, rounded to nearest.
    static func over(_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let above = source.w &* 255
        let below = target.w &* (255 &- source.w)
        let alpha = above &+ below
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let color = source &* above &+ target &* below &+ SIMD4(repeating: alpha / 2)
        return SIMD4(color.x / alpha, color.y / alpha, color.z / alpha, (alpha &+ 127) / 255)
    }

    /// Returns the result of libwebp's `BlendPixelNonPremult` (`src/demux/anim_decode.c`).
    static func overAsLibwebp(_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let below = (target.w &* (256 &- source.w)) &>> 8
        let alpha = source.w &+ below
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let scale = (UInt32(1) &<< 24) / alpha
        var result = ((source &* source.w &+ target &* below) &* scale) &>> 24
        result.w = alpha
        return result
    }
}
