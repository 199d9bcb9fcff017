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
        saved = frame.disposal == .restore ? pixels : nil
        last = frame
        guard let visible = frame.area.clipped(to: pixels.size) else { return }
        if frame.hidesEverything(of: pixels.size), rows.size == pixels.size {
            pixels = rows.relabelled(.straight)
            return
        }
        let stride = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { canvas in
            rows.withUnsafeBytes { source in
                for y in 0..<visible.size.height {
                    let from = (visible.y - frame.area.y + y) * rows.bytesPerRow + (visible.x - frame.area.x) * 4
                    let to = (visible.y + y) * stride + visible.x * 4
                    Self.draw(
                        UnsafeRawBufferPointer(rebasing: source[from..<from + visible.size.width * 4]),
                        over: UnsafeMutableRawBufferPointer(rebasing: canvas[to..<to + visible.size.width * 4]),
                        frame.blend)
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
