import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoProgramSupport
import Foundation

/// A benchmark that encodes images alternately with Alcedo and with other libraries.
struct EncodeBenchmark {
    /// A format with the settings that the encoders have in common. Those of the other libraries are in
    /// ``PythonEncoder``.
    struct Format {
        let name: String
        let encoder: ImageEncoder
        let hasAlpha: Bool
        var isLossless = false
    }

    /// JPEG has 4:2:0 subsampling and the default Huffman tables. PNG has adaptive filters in all libraries.
    static let formats: [Format] = {
        var formats = [
            Format(name: "jpeg", encoder: .jpeg(quality: 85), hasAlpha: false),
            Format(name: "png", encoder: .png(usesPaletteWhenLossless: false), hasAlpha: true, isLossless: true),
            Format(name: "webp", encoder: .webp(quality: 80, method: 4), hasAlpha: true),
        ]
        #if AVIF
            formats.append(Format(name: "avif", encoder: .avif(quality: 60, speed: 6), hasAlpha: false))
        #endif
        return formats
    }()

    /// The sums over all images: of the best times, and of the bytes.
    private struct Total {
        var time = ThumbnailTime()
        var byteCount = 0
    }

    /// The maximum time, and the maximum number of bytes of a lossless format, relative to the faster library. Lossy
    /// files of the same quality number differ in size and in quality between the versions of a library.
    private static let goals = (time: 0.95, bytes: 1.03)

    let rounds: Int
    let peers: [PythonEncoder]
    /// The directory for the file from which the other libraries read the pixels.
    let directory: URL
    /// The totals of Alcedo, then of each peer, by the name of the format.
    private var totals: [String: [Total]] = [:]
    private var counts: [String: Int] = [:]

    init(rounds: Int, peers: [PythonEncoder], directory: URL) {
        self.rounds = rounds
        self.peers = peers
        self.directory = directory
    }

    var hasResults: Bool { !totals.isEmpty }

    /// Measures all formats that can store the pixels. Ignores pixels that are not RGB or RGBA with 8 bits.
    mutating func measure(_ pixels: PixelBuffer) throws {
        guard pixels.format.bytesPerPixel == 4 else { return }
        let image = DecodedImage(pixels: pixels.converted(to: .straight))
        let isOpaque = pixels.alphaMode == .opaque || pixels.format == .rgbx8
        if !peers.isEmpty {
            let file = directory.appending(path: "pixels")
            try Self.bytes(of: image.pixels, channels: isOpaque ? 3 : 4).write(to: file)
            for peer in peers { try peer.load(file.path, image.size, channels: isOpaque ? 3 : 4) }
        }
        for format in Self.formats where isOpaque || format.hasAlpha {
            let results = try measure(image, format)
            let sums = totals[format.name] ?? results.map { _ in Total() }
            totals[format.name] = zip(sums, results).map { sum, result in
                Total(time: sum.time + result.time, byteCount: sum.byteCount + result.byteCount)
            }
            counts[format.name, default: 0] += 1
        }
    }

    private func measure(_ image: DecodedImage, _ format: Format) throws -> [Total] {
        let unmeasured = ThumbnailTime(wall: .infinity, processor: .infinity)
        var results = (0...peers.count).map { _ in Total(time: unmeasured) }
        // The additional first round warms up and is not counted.
        for round in 0...rounds {
            for pass in results.indices {
                // The order rotates, so that no encoder always runs with the caches that the same one has filled.
                let index = (pass + round) % results.count
                var time = ThumbnailTime()
                if index == 0 {
                    let start = ThumbnailTime.now
                    results[0].byteCount = try format.encoder.encode(image).count
                    time = ThumbnailTime.now - start
                } else {
                    (time, results[index].byteCount) = try peers[index - 1].encode(format.name)
                }
                guard round > 0 else { continue }
                results[index].time.wall = min(results[index].time.wall, time.wall)
                results[index].time.processor = min(results[index].time.processor, time.processor)
            }
        }
        return results
    }

    /// Prints the means and the ratios of each format, and records the ratios.
    func report() {
        let libraries = PythonEncoder.Library.allCases.map(\.rawValue)
        let titles = ["Alcedo, ms"] + (peers.isEmpty ? [] : libraries.map { "\($0), ms" })
        let sizes = ["Alcedo, bytes"] + (peers.isEmpty ? [] : libraries.map { "\($0), bytes" })
        let ratios = peers.isEmpty ? [] : ["vs the faster library", "processor time", "bytes", "goal"]
        Console.output(BenchTable.row(["encode"] + titles + sizes + ratios))
        for format in Self.formats {
            guard let totals = totals[format.name], let count = counts[format.name] else { continue }
            var cells = ["\(count) \(format.name)"]
            cells += totals.map { "\(BenchTable.rounded($0.time.wall / Double(count)))" }
            cells += totals.map { "\($0.byteCount / count)" }
            if let faster = totals.dropFirst().min(by: { $0.time.wall < $1.time.wall }) {
                let wall = totals[0].time.wall / faster.time.wall
                let processor = totals.dropFirst().map(\.time.processor).min().map { totals[0].time.processor / $0 }
                let bytes = Double(totals[0].byteCount) / Double(faster.byteCount)
                cells += [wall, processor ?? .nan, bytes].map { "\(($0 * 100).rounded() / 100)" }
                cells.append("at most \(Self.goals.time)")
                let peer = "relative to the faster library"
                BenchFigure("encode \(format.name): time \(peer)", wall, .atMost(Self.goals.time)).record()
                if format.isLossless {
                    BenchFigure("encode \(format.name): bytes \(peer)", bytes, .atMost(Self.goals.bytes)).record()
                }
            }
            Console.output(BenchTable.row(cells))
        }
    }

    /// Returns the samples without padding: of a pixel, the first `channels` of four.
    private static func bytes(of pixels: PixelBuffer, channels: Int) -> Data {
        var data = Data(capacity: pixels.size.pixelCount * channels)
        for y in 0..<pixels.height {
            pixels.row(y).withUnsafeBytes { row in
                for x in 0..<pixels.width { data.append(contentsOf: row[4 * x..<4 * x + channels]) }
            }
        }
        return data
    }
}

/// Pillow or libvips in a separate Python process that encodes on one thread.
final class PythonEncoder {
    enum Library: String, CaseIterable {
        case pillow = "Pillow"
        case vips = "libvips"
    }

    private let library: Library
    private let process: BenchProcess

    init(_ library: Library, python: String) throws {
        self.library = library
        process = try BenchProcess("/usr/bin/env", [python, "-c", Self.program, library.rawValue])
    }

    /// Reads the pixels of a file, which are the next to be encoded. Blocks.
    func load(_ path: String, _ size: PixelSize, channels: Int) throws {
        try process.send("load \(size.width) \(size.height) \(channels) \(path)")
        let line = try process.readLine()
        guard line == "loaded" else { throw BenchError(description: "\(library.rawValue): \(line)") }
    }

    /// Encodes the pixels. Returns the duration and the size of the file. Blocks.
    func encode(_ format: String) throws -> (time: ThumbnailTime, byteCount: Int) {
        try process.send("encode \(format)")
        let line = try process.readLine()
        let values = line.split(separator: " ").compactMap { Double($0) }
        guard values.count == 3 else { throw BenchError(description: "\(library.rawValue): \(line)") }
        return (ThumbnailTime(wall: values[0], processor: values[1]), Int(values[2]))
    }

    /// Reads lines that load pixels or encode them. Writes the milliseconds of wall-clock time and of processor time,
    /// and the number of bytes. The speed of AVIF is 9 minus the effort of libvips.
    private static let program = """
        import io, os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        if sys.argv[1] == "Pillow":
            from PIL import Image
            Image.MAX_IMAGE_PIXELS = None
            def load(data, width, height, channels):
                return Image.frombytes("RGBA" if channels == 4 else "RGB", (width, height), data)
            options = {
                "jpeg": dict(quality=85, subsampling="4:2:0"),
                "png": dict(compress_level=6),
                "webp": dict(quality=80, method=4),
                "avif": dict(quality=60, speed=6, subsampling="4:2:0", range="full", codec="aom", max_threads=1),
            }
            def encode(image, name):
                file = io.BytesIO()
                image.save(file, name, **options[name])
                return file.getvalue()
        else:
            import pyvips
            pyvips.cache_set_max(0)
            def load(data, width, height, channels):
                image = pyvips.Image.new_from_memory(data, width, height, channels, "uchar")
                return image.copy(interpretation="srgb")
            savers = {
                "jpeg": lambda image: image.jpegsave_buffer(Q=85, subsample_mode="on", optimize_coding=False),
                "png": lambda image: image.pngsave_buffer(compression=6, filter="all"),
                "webp": lambda image: image.webpsave_buffer(Q=80, effort=4),
                "avif": lambda image: image.heifsave_buffer(
                    Q=60, effort=3, compression="av1", encoder="aom", subsample_mode="on", bitdepth=8),
            }
            def encode(image, name):
                return savers[name](image)
        for line in sys.stdin:
            words = line.rstrip("\\n").split(" ", 4)
            try:
                if words[0] == "load":
                    with open(words[4], "rb") as file:
                        data = file.read()
                    image = load(data, *map(int, words[1:4]))
                    print("loaded", flush=True)
                else:
                    wall, processor = time.perf_counter(), time.process_time()
                    size = len(encode(image, words[1]))
                    wall, processor = time.perf_counter() - wall, time.process_time() - processor
                    print(wall * 1000, processor * 1000, size, flush=True)
            except Exception as error:
                print(repr(error), flush=True)
        """
}
