import Alcedo
import Foundation

/// A Python process that does with Pillow what it is asked for, and says how long that took.
final class PillowPeer {
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
        guard try answer() == "ready" else { throw BenchError(description: "\(python) says something unexpected") }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// How long Pillow takes. Blocks.
    func milliseconds(of request: String) throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\(request)\n".utf8))
        guard let time = Double(try answer()) else { throw BenchError(description: "Pillow cannot do '\(request)'") }
        return time
    }

    /// One line: the next comes only after another request.
    private func answer() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw BenchError(description: "Python has ended; does it have Pillow?") }
            line += piece
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
