import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench resize`
struct ResizeBenchCommand: ProgramCommand {
    static let name = "resize"
    static let help = """
        usage: alcedo-bench resize [--python PATH] [--rounds N] [--size WxH]

        Measures the processors on an image of noise in memory, in milliseconds, on one thread: resizing to a tenth,
        with averaging first and with the filter only, and other processors. With --python, also measures Pillow
        alternately in the same run and prints the ratios. Tests/Benchmarks/bench-peers installs such an interpreter and
        prints its path.

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

/// A benchmark that measures the processors alternately with the same operations of Pillow.
private struct ResizeBenchmark {
    private struct Operation {
        let name: String
        let image: DecodedImage
        let processor: any ImageProcessing
        /// The request to the Pillow process; nil if Pillow has no such operation.
        let peer: String?
    }

    let size: PixelSize
    let rounds: Int
    let peer: PillowPeer?

    func run() throws {
        Console.output("\(size) pixels of noise; milliseconds, best of \(rounds)\n")
        Console.output(BenchTable.row(["", "Alcedo", "Pillow", "Alcedo / Pillow"]))
        for operation in try operations() {
            let (alcedo, pillow) = try measure(operation)
            var cells = [operation.name, "\(BenchTable.rounded(alcedo))"]
            if let pillow, let limit = Self.goals[operation.name] {
                BenchFigure("resize to \(operation.name): time relative to Pillow", alcedo / pillow, .atMost(limit))
                    .record()
            }
            if let pillow { cells += ["\(BenchTable.rounded(pillow))", "\((alcedo / pillow * 100).rounded() / 100)"] }
            Console.output(BenchTable.row(cells))
        }
    }

    /// The maximum time relative to Pillow, by the name of the operation.
    private static let goals = ["1/10, RGBA": 0.3]

    private func measure(_ operation: Operation) throws -> (alcedo: Double, pillow: Double?) {
        var best = (alcedo: Double.infinity, pillow: Double.infinity)
        let clock = ContinuousClock()
        // The additional first round warms both up and is not counted.
        for round in 0...rounds {
            // The order alternates, so that neither always runs with the caches that the other has filled.
            for pass in 0..<2 {
                if (round + pass) % 2 == 0 {
                    let time = try clock.measure { _ = try operation.processor.process(operation.image) }
                    if round > 0 { best.alcedo = min(best.alcedo, time / .milliseconds(1)) }
                } else if let peer, let request = operation.peer {
                    let time = try peer.milliseconds(of: request)
                    if round > 0 { best.pillow = min(best.pillow, time) }
                }
            }
        }
        return (best.alcedo, best.pillow.isFinite ? best.pillow : nil)
    }

    private func operations() throws -> [Operation] {
        let straight = DecodedImage(pixels: try noise(.rgba8, .straight))
        let opaque = DecodedImage(pixels: try noise(.rgbx8, .opaque))
        let tenth = PixelSize(width: size.width / 10, height: size.height / 10)
        let half = PixelSize(width: size.width / 2, height: size.height / 2)
        let linear = ResizeSampling(inLinearLight: true)
        let overlay = try ImageProcessors.Resize(to: tenth).process(straight).pixels
        return [
            Operation(
                name: "1/10, RGBA", image: straight, processor: .resize(fitting: tenth), peer: "resize RGBA \(tenth)"),
            Operation(
                name: "1/10, RGB", image: opaque, processor: .resize(fitting: tenth), peer: "resize RGB \(tenth)"),
            Operation(
                name: "1/10, linear light, RGB", image: opaque, processor: .resize(fitting: tenth, sampling: linear),
                peer: nil),
            Operation(
                name: "1/2, RGBA", image: straight, processor: .resize(fitting: half), peer: "resize RGBA \(half)"),
            Operation(name: "blur, sigma 2, RGB", image: opaque, processor: .blur(sigma: 2), peer: "blur RGB 2"),
            Operation(
                name: "blur, sigma 20, RGB", image: opaque, processor: .blur(sigma: 20), peer: "blur RGB 20"),
            Operation(name: "blur, sigma 20, RGBA", image: straight, processor: .blur(sigma: 20), peer: nil),
            Operation(
                name: "rotate by 30, RGB", image: opaque, processor: .rotate(clockwise: 30), peer: "rotate RGB 30"),
            Operation(
                name: "rotate by 90, RGBA", image: straight, processor: ImageProcessors.Rotate(clockwise: 90),
                peer: "turn RGBA 90"),
            Operation(
                name: "brightness, RGB", image: opaque, processor: .adjust(brightness: 1.2),
                peer: "brightness RGB 1.2"),
            Operation(name: "grayscale, RGB", image: opaque, processor: .grayscale, peer: "gray RGB 0"),
            Operation(
                name: "tint, soft light, RGBA", image: straight,
                processor: .tint(PixelColor(red: 200, green: 90, blue: 0), mode: .softLight), peer: nil),
            Operation(
                name: "overlay, RGBA", image: straight, processor: .overlay(overlay, at: .bottomRight), peer: nil),
            Operation(name: "rounded corners, RGB", image: opaque, processor: .roundedCorners(radius: 200), peer: nil),
            Operation(name: "flatten, RGBA", image: straight, processor: .flatten(), peer: "flatten RGBA 0"),
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

/// A Python process that performs requested operations with Pillow and reports the duration of each.
private final class PillowPeer {
    /// Reads lines with an operation, a mode and a value. Writes the milliseconds of each.
    private static let program = """
        import os, sys, time
        from PIL import Image, ImageEnhance, ImageFilter
        width, height = int(sys.argv[1]), int(sys.argv[2])
        images = {mode: Image.frombytes(mode, (width, height), os.urandom(width * height * len(mode)))
                  for mode in ("RGB", "RGBA")}
        def size(value):
            return tuple(int(side) for side in value.split("x"))
        def flatten(image):
            white = Image.new("RGB", image.size, "white")
            white.paste(image, mask=image.getchannel("A"))
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
            work[name](images[mode], value)
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
        guard try readLine() == "ready" else { throw BenchError(description: "unexpected output of \(python)") }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the duration of an operation of Pillow. Blocks.
    func milliseconds(of request: String) throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\(request)\n".utf8))
        guard let time = Double(try readLine()) else {
            throw BenchError(description: "Pillow failed to run '\(request)'")
        }
        return time
    }

    /// Returns one line. The process writes the next line only after another request.
    private func readLine() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw BenchError(description: "Python exited; check that Pillow is installed") }
            line += piece
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
