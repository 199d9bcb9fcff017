import Alcedo
import ExampleSupport
import Foundation

/// Times processors, and Pillow doing the same, in turns.
struct ResizeBenchmark {
    private struct Exercise {
        let name: String
        let image: DecodedImage
        let processor: any ImageProcessing
        /// What Pillow is asked for; nil where it has nothing of the kind.
        let peer: String?
    }

    let size: PixelSize
    let rounds: Int
    let peer: PillowPeer?

    func run() throws {
        Console.output("\(size) pixels of noise; milliseconds, best of \(rounds)\n")
        Console.output(BenchTable.row(["", "ours", "Pillow", "ours / Pillow"]))
        for exercise in try exercises() {
            let (ours, theirs) = try measure(exercise)
            var cells = [exercise.name, "\(BenchTable.rounded(ours))"]
            if let theirs, let limit = Self.goal[exercise.name] {
                BenchFigure("\(exercise.name), over Pillow", ours / theirs, .atMost(limit)).note()
            }
            if let theirs { cells += ["\(BenchTable.rounded(theirs))", "\((ours / theirs * 100).rounded() / 100)"] }
            Console.output(BenchTable.row(cells))
        }
    }

    /// Most of our time over Pillow's.
    private static let goal = ["tenth, RGBA": 1.0, "tenth, filter alone, RGBA": 0.3]

    private func measure(_ exercise: Exercise) throws -> (ours: Double, theirs: Double?) {
        var best = (ours: Double.infinity, theirs: Double.infinity)
        let clock = ContinuousClock()
        // One turn more, which warms both and does not count.
        for round in 0...rounds {
            // Who goes first changes, so that neither always inherits the other's caches.
            for turn in 0..<2 {
                if (round + turn) % 2 == 0 {
                    let time = try clock.measure { _ = try exercise.processor.process(exercise.image) }
                    if round > 0 { best.ours = min(best.ours, time / .milliseconds(1)) }
                } else if let peer, let request = exercise.peer {
                    let time = try peer.milliseconds(of: request)
                    if round > 0 { best.theirs = min(best.theirs, time) }
                }
            }
        }
        return (best.ours, best.theirs.isFinite ? best.theirs : nil)
    }

    private func exercises() throws -> [Exercise] {
        let straight = DecodedImage(pixels: try noise(.rgba8, .straight))
        let opaque = DecodedImage(pixels: try noise(.rgbx8, .opaque))
        let tenth = PixelSize(width: size.width / 10, height: size.height / 10)
        let half = PixelSize(width: size.width / 2, height: size.height / 2)
        let alone = ResizeSampling(averagesFirst: false)
        let linear = ResizeSampling(inLinearLight: true)
        let badge = try Resize(to: tenth).process(straight).pixels
        return [
            Exercise(name: "tenth, RGBA", image: straight, processor: Resize(to: tenth), peer: "gap RGBA \(tenth)"),
            Exercise(
                name: "tenth, filter alone, RGBA", image: straight, processor: Resize(to: tenth, sampling: alone),
                peer: "resize RGBA \(tenth)"),
            Exercise(name: "tenth, RGB", image: opaque, processor: Resize(to: tenth), peer: "gap RGB \(tenth)"),
            Exercise(
                name: "tenth, filter alone, RGB", image: opaque, processor: Resize(to: tenth, sampling: alone),
                peer: "resize RGB \(tenth)"),
            Exercise(
                name: "tenth, linear light, RGB", image: opaque, processor: Resize(to: tenth, sampling: linear),
                peer: nil),
            Exercise(name: "half, RGBA", image: straight, processor: Resize(to: half), peer: "resize RGBA \(half)"),
            Exercise(name: "blur, sigma 2, RGB", image: opaque, processor: GaussianBlur(sigma: 2), peer: "blur RGB 2"),
            Exercise(
                name: "blur, sigma 20, RGB", image: opaque, processor: GaussianBlur(sigma: 20), peer: "blur RGB 20"),
            Exercise(name: "blur, sigma 20, RGBA", image: straight, processor: GaussianBlur(sigma: 20), peer: nil),
            Exercise(name: "rotate by 30, RGB", image: opaque, processor: Rotate(clockwise: 30), peer: "rotate RGB 30"),
            Exercise(
                name: "quarter turn, RGBA", image: straight, processor: Rotate(quarterTurns: 1), peer: "turn RGBA 90"),
            Exercise(
                name: "brightness, RGB", image: opaque, processor: ColorAdjustment(brightness: 1.2),
                peer: "brightness RGB 1.2"),
            Exercise(name: "black and white, RGB", image: opaque, processor: BlackAndWhite(), peer: "gray RGB 0"),
            Exercise(
                name: "tint, soft light, RGBA", image: straight,
                processor: Tint(PixelColor(red: 200, green: 90, blue: 0), mode: .softLight), peer: nil),
            Exercise(name: "badge over RGBA", image: straight, processor: Overlay(badge, at: .bottomRight), peer: nil),
            Exercise(name: "round corners, RGB", image: opaque, processor: RoundedCorners(CornerRadii(200)), peer: nil),
            Exercise(name: "flatten, RGBA", image: straight, processor: Flatten(), peer: "flatten RGBA 0"),
        ]
    }

    private func noise(_ format: PixelFormat, _ alphaMode: AlphaMode) throws -> PixelBuffer {
        var state: UInt32 = 1
        let pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, _ in
            for index in memory.indices {
                state = state &* 1_664_525 &+ 1_013_904_223
                memory[index] = alphaMode == .opaque && index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state >> 24)
            }
        }
        guard let pixels else { throw ImageProcessingError(.tooLarge, "there is no memory for \(size) pixels") }
        return pixels
    }
}
