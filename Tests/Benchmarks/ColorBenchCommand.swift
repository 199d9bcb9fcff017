import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// `alcedo-bench color`
struct ColorBenchCommand: ProgramCommand {
    static let name = "color"
    static let help = """
        usage: alcedo-bench color [--python PATH] [--rounds N]

        Measures color conversion, in milliseconds: a thumbnail of a JPEG in Display P3 and of the same JPEG without a
        profile, and the conversion of 12 megapixels to sRGB on one thread. With --python, also measures libvips
        alternately in the same run and prints the ratio. Tests/Benchmarks/bench-peers installs such an interpreter and
        prints its path.

          --python PATH  use the Python interpreter PATH, which has pyvips (default: none)
          --rounds N     measure N rounds; the best counts (default: 15)

        """

    private var python: String?
    private var rounds = 15

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--python": python = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...10_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        let directory = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { directory.remove() }
        try await ColorBenchmark(directory: directory.url, rounds: rounds, python: python).run()
        return .success
    }
}

/// A benchmark that measures images with a profile alternately with images without one, and with libvips.
private struct ColorBenchmark {
    private static let size = PixelSize(width: 4000, height: 3000)
    /// Converts an image for each line. Writes the milliseconds of each.
    private static let program = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        import pyvips
        pyvips.cache_set_max(0)
        image = pyvips.Image.new_from_file(sys.argv[1]).copy_memory()
        options = {"embedded": True, "intent": "relative", "black_point_compensation": True}
        for line in sys.stdin:
            try:
                start = time.perf_counter()
                image.icc_transform("srgb", **options).write_to_memory()
                print((time.perf_counter() - start) * 1000, flush=True)
            except Exception as error:
                print(repr(error), flush=True)
        """

    let directory: URL
    let rounds: Int
    let python: String?

    func run() async throws {
        var image = DecodedImage.coordinates(Self.size)
        let plain = directory.appending(path: "plain.jpg")
        try ImageEncoder.jpeg(quality: 90).encode(image).write(to: plain)
        image.colorProfile = OutputColorSpace.displayP3.colorProfile
        let wide = directory.appending(path: "wide.jpg")
        try ImageEncoder.jpeg(quality: 90).encode(image).write(to: wide)
        Console.output("\(Self.size) pixels; milliseconds, best of \(rounds)\n")
        try await measureThumbnails(wide: wide.path, plain: plain.path)
        try await measureConversion(of: wide)
    }

    private func measureThumbnails(wide: String, plain: String) async throws {
        let thumbnails = PipelineThumbnails(maxConcurrentDecodes: 1)
        let times = try await bestTimes(
            { try await thumbnails.make([wide]).wall }, { try await thumbnails.make([plain]).wall })
        let ratio = times.first / times.second
        show("thumbnail", times.first, "without a profile", times.second)
        BenchFigure("thumbnail of a JPEG in Display P3: time relative to no profile", ratio, .atMost(1.15)).record()
    }

    private func measureConversion(of file: URL) async throws {
        let image = try CodecRegistry.standard.decode(Data(contentsOf: file))
        let converter = LittleCMSColorConverter()
        let peer = try python.map { try BenchProcess("/usr/bin/env", [$0, "-c", Self.program, file.path]) }
        let times = try await bestTimes(
            { try Self.milliseconds { _ = try converter.converted(image) } },
            {
                guard let peer else { return .infinity }
                try peer.send("convert")
                let line = try peer.readLine()
                guard let time = Double(line) else { throw BenchError(description: "libvips: \(line)") }
                return time
            })
        show("conversion to sRGB", times.first, "libvips", times.second)
        guard peer != nil else { return }
        let ratio = times.first / times.second
        BenchFigure("conversion of 12 megapixels to sRGB: time relative to libvips", ratio, .atMost(1.1)).record()
    }

    private func show(_ name: String, _ time: Double, _ other: String, _ otherTime: Double) {
        var cells = [name, "\(BenchTable.rounded(time))"]
        if otherTime.isFinite {
            cells += [other, "\(BenchTable.rounded(otherTime))", "ratio \((time / otherTime * 100).rounded() / 100)"]
        }
        Console.output(BenchTable.row(cells))
    }

    private static func milliseconds(_ work: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(work) / .milliseconds(1)
    }

    /// Returns the best times of two operations, in milliseconds.
    private func bestTimes(
        _ first: () async throws -> Double, _ second: () async throws -> Double
    ) async throws -> (first: Double, second: Double) {
        var best = (first: Double.infinity, second: Double.infinity)
        // The additional first round warms both up and is not counted.
        for round in 0...rounds {
            // The order alternates, so that neither always runs with the caches that the other has filled.
            for pass in 0..<2 {
                let isFirst = (round + pass) % 2 == 0
                let time = try await isFirst ? first() : second()
                guard round > 0 else { continue }
                if isFirst {
                    best.first = min(best.first, time)
                } else {
                    best.second = min(best.second, time)
                }
            }
        }
        return best
    }
}
