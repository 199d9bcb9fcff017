import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench resize`
struct ResizeBenchCommand: ProgramCommand {
    static let name = "resize"
    static let help = """
        usage: alcedo-bench resize [--python PATH] [--rounds N] [--size WxH]

        Measures the processors on an image of noise in memory, in milliseconds, on one thread: resizing to a tenth,
        with averaging first and with the filter alone, and other processors. With --python, also measures Pillow
        alternately in the same run and prints the ratios. Scripts/bench-peers installs such an interpreter and prints
        its path.

          --python PATH  use the Python interpreter PATH, which has Pillow (default: none)
          --rounds N     measure N rounds; the best counts (default: 7)
          --size WxH     use an image of W x H pixels (default: 4000x3000)

        """

    private var python: String?
    private var rounds = 7
    private var size = PixelSize(width: 4000, height: 3000)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        case "--size": size = try Self.size(try arguments.value(of: option))
        default: return false
        }
        return true
    }

    func run() throws -> ExitStatus {
        let peer: PillowPeer?
        do {
            peer = try python.map { try PillowPeer(python: $0, size: size) }
        } catch {
            Console.problem("alcedo-bench: \(error)")
            return .failure
        }
        try ResizeBenchmark(size: size, rounds: rounds, peer: peer).run()
        return .success
    }

    private static func size(_ word: String) throws -> PixelSize {
        let sides = word.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (10...20_000).contains($0) }) else {
            throw UsageError("--size needs a width and a height from 10 to 20000, such as 4000x3000, not '\(word)'")
        }
        return PixelSize(width: sides[0], height: sides[1])
    }
}

/// Times processors, and Pillow doing the same, in turns.
private struct ResizeBenchmark {
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
                BenchFigure("\(exercise.name), over Pillow", ours / theirs, .atMost(limit)).record()
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
        // One pass more, which warms both and does not count.
        for round in 0...rounds {
            // Who goes first changes, so that neither always inherits the other's caches.
            for pass in 0..<2 {
                if (round + pass) % 2 == 0 {
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
        let badge = try ImageProcessors.Resize(to: tenth).process(straight).pixels
        return [
            Exercise(
                name: "tenth, RGBA", image: straight, processor: .resize(fitting: tenth), peer: "gap RGBA \(tenth)"),
            Exercise(
                name: "tenth, filter alone, RGBA", image: straight, processor: .resize(fitting: tenth, sampling: alone),
                peer: "resize RGBA \(tenth)"),
            Exercise(name: "tenth, RGB", image: opaque, processor: .resize(fitting: tenth), peer: "gap RGB \(tenth)"),
            Exercise(
                name: "tenth, filter alone, RGB", image: opaque, processor: .resize(fitting: tenth, sampling: alone),
                peer: "resize RGB \(tenth)"),
            Exercise(
                name: "tenth, linear light, RGB", image: opaque, processor: .resize(fitting: tenth, sampling: linear),
                peer: nil),
            Exercise(
                name: "half, RGBA", image: straight, processor: .resize(fitting: half), peer: "resize RGBA \(half)"),
            Exercise(name: "blur, sigma 2, RGB", image: opaque, processor: .blur(sigma: 2), peer: "blur RGB 2"),
            Exercise(
                name: "blur, sigma 20, RGB", image: opaque, processor: .blur(sigma: 20), peer: "blur RGB 20"),
            Exercise(name: "blur, sigma 20, RGBA", image: straight, processor: .blur(sigma: 20), peer: nil),
            Exercise(
                name: "rotate by 30, RGB", image: opaque, processor: .rotate(clockwise: 30), peer: "rotate RGB 30"),
            Exercise(
                name: "quarter turn, RGBA", image: straight, processor: ImageProcessors.Rotate(clockwise: 90),
                peer: "turn RGBA 90"),
            Exercise(
                name: "brightness, RGB", image: opaque, processor: .adjust(brightness: 1.2),
                peer: "brightness RGB 1.2"),
            Exercise(name: "black and white, RGB", image: opaque, processor: .grayscale, peer: "gray RGB 0"),
            Exercise(
                name: "tint, soft light, RGBA", image: straight,
                processor: .tint(PixelColor(red: 200, green: 90, blue: 0), mode: .softLight), peer: nil),
            Exercise(name: "badge over RGBA", image: straight, processor: .overlay(badge, at: .bottomRight), peer: nil),
            Exercise(name: "round corners, RGB", image: opaque, processor: .roundedCorners(radius: 200), peer: nil),
            Exercise(name: "flatten, RGBA", image: straight, processor: .flatten(), peer: "flatten RGBA 0"),
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
        guard let pixels else { throw ImageProcessingError(.tooLarge, "cannot allocate \(size) pixels: out of memory") }
        return pixels
    }
}

/// A Python process that does with Pillow what it is asked for, and says how long that took.
private final class PillowPeer {
    /// Reads lines of an operation, a mode and a value; writes milliseconds.
    private static let program = """
        import os, sys, time
        from PIL import Image, ImageEnhance, ImageFilter
        width, height = int(sys.argv[1]), int(sys.argv[2])
        pictures = {mode: Image.frombytes(mode, (width, height), os.urandom(width * height * len(mode)))
                    for mode in ("RGB", "RGBA")}
        def size(value):
            return tuple(int(side) for side in value.split("x"))
        def flatten(picture):
            white = Image.new("RGB", picture.size, "white")
            white.paste(picture, mask=picture.getchannel("A"))
        work = {
            "resize": lambda p, v: p.resize(size(v), Image.Resampling.LANCZOS),
            "gap": lambda p, v: p.resize(size(v), Image.Resampling.LANCZOS, reducing_gap=2),
            "blur": lambda p, v: p.filter(ImageFilter.GaussianBlur(float(v))),
            "rotate": lambda p, v: p.rotate(-float(v), Image.Resampling.BICUBIC, expand=True),
            "turn": lambda p, v: p.transpose(Image.Transpose.ROTATE_270),
            "brightness": lambda p, v: ImageEnhance.Brightness(p).enhance(float(v)),
            "gray": lambda p, v: p.convert("L"),
            "flatten": lambda p, v: flatten(p),
        }
        print("ready", flush=True)
        for line in sys.stdin:
            name, mode, value = line.rstrip().split(" ", 2)
            value = value.replace(" ", "")
            start = time.perf_counter()
            work[name](pictures[mode], value)
            print((time.perf_counter() - start) * 1000, flush=True)
        """

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(python: String, size: PixelSize) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, "-c", Self.program, "\(size.width)", "\(size.height)"]
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw BenchError(description: "cannot run \(python)")
        }
        guard try answer() == "ready" else { throw BenchError(description: "unexpected output of \(python)") }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// How long Pillow takes. Blocks.
    func milliseconds(of request: String) throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\(request)\n".utf8))
        guard let time = Double(try answer()) else {
            throw BenchError(description: "Pillow failed to run '\(request)'")
        }
        return time
    }

    /// One line: the next comes only after another request.
    private func answer() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw BenchError(description: "Python exited; check that Pillow is installed") }
            line += piece
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
