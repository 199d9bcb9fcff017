import AlcedoRuntime

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
            throw ImageDecodingError.noMemory(for: layout.canvas)
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

/// Decodes single frames of an animation, of which a codec knows the order and ``CompositedAnimation`` the rest.
package protocol FrameDecoding: Sendable {
    /// The pixels of frame `index` alone: straight RGBA8, of the size of its area. Calls come one at a time.
    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer

    /// Bytes kept, the encoded file included.
    var byteCount: Int { get }
}

/// The canvas of an animation, on which frames are drawn one after another. Straight RGBA8.
///
/// Memory: the canvas, and a second one while a frame is shown that will be taken away again.
private struct FrameCanvas {
    private(set) var pixels: PixelBuffer
    private var saved: PixelBuffer?
    private var last: AnimationFrame?

    /// An empty canvas; nil when there is no memory for it.
    init?(size: PixelSize) {
        guard let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) else { return nil }
        self.pixels = pixels
    }

    /// Disposes of the frame before and draws this one.
    ///
    /// - Parameter rows: The frame's pixels, of the size of its area.
    mutating func draw(_ rows: PixelBuffer, as frame: AnimationFrame) {
        disposeOfLast()
        // What libwebp blends with a place that has just been cleared, it copies.
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

    /// Draws the part of a frame's pixels that lies inside `part`, which lies inside its area and on the canvas.
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

/// Laying one straight pixel over another.
enum PixelBlending {
    /// Blends rows of equal length. Opaque pixels replace, transparent ones change nothing.
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

    /// Exact, rounded to nearest.
    static func over(_ source: SIMD4<UInt32>, _ target: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let above = source.w &* 255
        let below = target.w &* (255 &- source.w)
        let alpha = above &+ below
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let color = source &* above &+ target &* below &+ SIMD4(repeating: alpha / 2)
        return SIMD4(color.x / alpha, color.y / alpha, color.z / alpha, (alpha &+ 127) / 255)
    }

    /// Source: libwebp's `BlendPixelNonPremult`, of `src/demux/anim_decode.c`.
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
