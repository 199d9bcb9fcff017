import AlcedoCore
import AlcedoTesting
import TestSupport

/// Frames of random pixels, and the expected canvas, calculated per pixel in floating point.
final class SyntheticAnimation: FrameDecoding {
    let layout: AnimationLayout
    /// Indices of the frames that were decoded, in order.
    let calls = Watched<[Int]>([])
    /// Frames that cannot be decoded.
    let broken = Watched<Set<Int>>([])
    /// The damage of frames that can be decoded.
    let damage = Watched<[Int: DamageTolerance]>([:])
    private let frames: [[SIMD4<UInt8>]]

    init(canvas: PixelSize, frames: [AnimationFrame], playCount: Int? = nil, seed: UInt64 = 1) {
        var generator = SeededGenerator(seed: seed)
        layout = AnimationLayout(canvas: canvas, frames: frames, playCount: playCount)
        self.frames = frames.map { frame in
            (0..<frame.area.size.pixelCount).map { _ in
                let alpha: UInt8 =
                    frame.isOpaque
                    ? 255
                    : [0, 255, .random(in: 1...254, using: &generator)]
                        .randomElement(using: &generator) ?? 0
                return SIMD4(
                    .random(in: 0...255, using: &generator), .random(in: 0...255, using: &generator),
                    .random(in: 0...255, using: &generator), alpha)
            }
        }
    }

    /// Random frames on this canvas: clipped, outside, covering, with every disposal and blend.
    convenience init(random seed: UInt64, count: Int, canvas: PixelSize = PixelSize(width: 9, height: 7)) {
        var generator = SeededGenerator(seed: seed)
        let frames = (0..<count).map { index in
            let covers = Int.random(in: 0..<4, using: &generator) == 0
            let area =
                covers
                ? PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
                : PixelRect(
                    x: .random(in: -4...canvas.width, using: &generator),
                    y: .random(in: -4...canvas.height, using: &generator),
                    width: .random(in: 1...canvas.width + 3, using: &generator),
                    height: .random(in: 1...canvas.height + 3, using: &generator))
            return AnimationFrame(
                area: area, rawDelay: .milliseconds(10 * index),
                disposal: [.keep, .clear, .restore].randomElement(using: &generator) ?? .keep,
                blend: [.source, .over].randomElement(using: &generator) ?? .over,
                isOpaque: .random(using: &generator))
        }
        self.init(canvas: canvas, frames: frames, seed: seed &+ 1000)
    }

    var byteCount: Int { 77 }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?) {
        calls.update { $0.append(index) }
        guard !broken.value.contains(index) else { throw ImageDecodingError(.corrupt, "frame \(index) is damaged") }
        let pixels = frames[index]
        let size = layout.frames[index].area.size
        let buffer = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    memory.storeBytes(
                        of: pixels[y * size.width + x], toByteOffset: y * stride + x * 4, as: SIMD4<UInt8>.self)
                }
            }
        }
        guard let buffer else { throw ImageDecodingError(.outOfMemory, "no frame") }
        let error = ImageDecodingError(.corrupt, "frame \(index) is damaged in part")
        return (buffer, damage.value[index].map { ImageDamage($0, error) })
    }

    /// Returns the canvas at every frame. The color of blended transparent pixels may be anything.
    func expected() -> [[SIMD4<UInt8>]] {
        let (width, height) = (layout.canvas.width, layout.canvas.height)
        var canvas = [SIMD4<UInt8>](repeating: SIMD4(repeating: 0), count: width * height)
        return layout.frames.indices.map { index in
            let frame = layout.frames[index]
            let before = canvas
            func visit(_ body: (_ position: Int, _ source: Int) -> Void) {
                for y in 0..<frame.area.size.height {
                    for x in 0..<frame.area.size.width {
                        let (column, row) = (frame.area.x + x, frame.area.y + y)
                        guard 0..<width ~= column, 0..<height ~= row else { continue }
                        body(row * width + column, y * frame.area.size.width + x)
                    }
                }
            }
            visit { position, source in
                let pixel = frames[index][source]
                canvas[position] = frame.blend == .source ? pixel : Self.over(pixel, canvas[position])
            }
            let shown = canvas
            switch frame.disposal {
            case .keep: break
            case .clear: visit { position, _ in canvas[position] = SIMD4(repeating: 0) }
            case .restore: canvas = before
            }
            return shown
        }
    }

    static func over(_ source: SIMD4<UInt8>, _ target: SIMD4<UInt8>) -> SIMD4<UInt8> {
        let above = Double(source.w) / 255
        let below = Double(target.w) / 255 * (1 - above)
        let alpha = above + below
        guard source.w > 0 else { return target }
        var result = SIMD4<UInt8>(repeating: 0)
        for channel in 0..<3 {
            let color = (Double(source[channel]) * above + Double(target[channel]) * below) / alpha
            result[channel] = UInt8(color.rounded())
        }
        result.w = UInt8((alpha * 255).rounded())
        return result
    }
}

extension PixelBuffer {
    /// All pixels of an RGBA8 buffer.
    var pixelVectors: [SIMD4<UInt8>] {
        withUnsafeBytes { memory in
            (0..<height).flatMap { y in
                (0..<width).map { memory.load(fromByteOffset: y * bytesPerRow + $0 * 4, as: SIMD4<UInt8>.self) }
            }
        }
    }
}
