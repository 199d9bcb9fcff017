/// The canvas of an animation, on which frames are drawn one after another. Straight RGBA8.
///
/// Memory: the canvas, and a second one while a frame is shown that will be taken away again.
struct FrameCanvas {
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
            pixels = rows.relabelled(.straight)
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
