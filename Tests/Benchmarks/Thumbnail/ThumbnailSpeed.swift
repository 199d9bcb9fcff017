import Alcedo
import AlcedoProgramSupport
import Foundation

/// Measures thumbnails of files on disk, alternately with the pipeline, Pillow, libvips and, for JPEG, OpenCV.
struct ThumbnailSpeed {
    /// The goal for the time of the pipeline relative to other libraries.
    struct Goal {
        let maximumRatios: [ImageFormat: Double]
        /// Whether the time is compared with the faster of Pillow and libvips. If false, it is compared with libvips.
        let comparesFaster: Bool
        /// The goal for JPEG relative to OpenCV, if it is installed.
        let maximumOpenCVRatio = 0.8
    }

    static let tables: [(name: String, goal: Goal)] = [
        ("wallpapers", Goal(maximumRatios: [.jpeg: 0.85, .png: 0.6, .webp: 0.65], comparesFaster: true)),
        ("web", Goal(maximumRatios: [.jpeg: 0.48, .png: 0.65, .webp: 0.48], comparesFaster: false)),
    ]

    let files: ThumbnailFiles
    let goal: Goal
    let python: String?
    let rounds: Int
    let maximumCount: Int

    func run(_ name: String) async throws {
        Console.output(
            BenchTable.row([
                name, "Alcedo, ms", "Pillow, ms", "libvips, ms",
                goal.comparesFaster ? "vs the faster library" : "vs libvips",
                "processor time", "goal", "speedup of two threads", "goal", "vs OpenCV", "goal",
                "PSNR, dB: Alcedo, Pillow, libvips, OpenCV",
            ]))
        for format in [ImageFormat.jpeg, .png, .webp] {
            let paths = Array(files.paths(of: format).prefix(maximumCount))
            guard !paths.isEmpty else { continue }
            try await measure(name, paths, format)
        }
    }

    private func measure(_ table: String, _ paths: [String], _ format: ImageFormat) async throws {
        let pipeline = PipelineThumbnails(maxConcurrentDecodes: 1)
        let twoThreads = PipelineThumbnails(maxConcurrentDecodes: 2)
        let peers = try python.map { python in
            let openCV = try format == .jpeg ? [PythonThumbnails(.openCV, python: python)] : []
            return try [PythonThumbnails.Library.pillow, .vips].map { try PythonThumbnails($0, python: python) }
                + openCV.filter { (try? $0.make(paths[0])) != nil }
        }
        var times = (0...(peers?.count ?? 0)).map { _ in [ThumbnailTime]() }
        var speedups: [Double] = []
        // The additional first round warms up and is not counted.
        for round in 0...rounds {
            var sums = Array(repeating: ThumbnailTime(), count: times.count)
            for path in paths {
                // The order rotates, so that no library always finds the file in the page cache.
                for pass in times.indices {
                    let index = (pass + round) % times.count
                    let time = try await index == 0 ? pipeline.make([path]) : peers?[index - 1].make(path)
                    if let time { sums[index] = sums[index] + time }
                }
            }
            let speedup = try await pipeline.make(paths).wall / twoThreads.make(paths).wall
            guard round > 0 else { continue }
            speedups.append(speedup)
            for index in times.indices { times[index].append(sums[index]) }
        }
        let quality = try await python.map { try ThumbnailQuality(python: $0) }?.means(of: paths) {
            try ImageEncoder.png().encode(try await pipeline.thumbnail(of: $0))
        }
        report("\(table) \(format)", paths.count, format, times, speedups, quality ?? [])
    }

    private func report(
        _ title: String, _ count: Int, _ format: ImageFormat, _ times: [[ThumbnailTime]], _ speedups: [Double],
        _ quality: [Double]
    ) {
        /// Returns the median of the ratios of each round, relative to the library of the goal.
        func ratio(_ part: KeyPath<ThumbnailTime, Double>) -> Double? {
            self.ratio(times[0], to: times.dropFirst().prefix(2).dropFirst(goal.comparesFaster ? 0 : 1), part)
        }
        func text(_ ratio: Double?) -> String { ratio.map { "\(($0 * 100).rounded() / 100)" } ?? "-" }
        let each = times.map { times in
            DownloadSpeed.median(times.map(\.wall)).map { "\(BenchTable.rounded($0 / Double(count)))" } ?? "-"
        }
        let cells = (0..<3).map { $0 < each.count ? each[$0] : "-" }
        let (wall, processor) = (ratio(\.wall), ratio(\.processor))
        let speedup = DownloadSpeed.median(speedups)
        if let wall, let limit = goal.maximumRatios[format] {
            let peer = goal.comparesFaster ? "the faster library" : "libvips"
            BenchFigure("thumbnails, \(title): time relative to \(peer)", wall, .atMost(limit)).record()
        }
        if let speedup { BenchFigure("thumbnails, \(title): speedup of two threads", speedup, .atLeast(1.9)).record() }
        let openCV = self.ratio(times[0], to: times.dropFirst(3), \.wall)
        if let openCV {
            let limit = goal.maximumOpenCVRatio
            BenchFigure("thumbnails, \(title): time relative to OpenCV", openCV, .atMost(limit)).record()
        }
        if let ours = quality.first {
            BenchFigure("thumbnails, \(title): PSNR in dB", ours, .atLeast(56)).record()
        }
        let limit = goal.maximumRatios[format].map { "at most \($0)" } ?? ""
        Console.output(
            BenchTable.row(
                ["\(count) \(format)"] + cells + [
                    text(wall), text(processor), limit, text(speedup), speedups.isEmpty ? "" : "1.9", text(openCV),
                    openCV == nil ? "" : "at most \(goal.maximumOpenCVRatio)",
                    quality.map { "\(($0 * 10).rounded() / 10)" }.joined(separator: ", "),
                ]))
    }

    /// Returns the median of the ratios of each round, relative to the fastest of the peers, or nil without peers.
    private func ratio(
        _ times: [ThumbnailTime], to peers: some Collection<[ThumbnailTime]>, _ part: KeyPath<ThumbnailTime, Double>
    ) -> Double? {
        let ratios = (0..<rounds).compactMap { round -> Double? in
            peers.map { $0[round][keyPath: part] }.min().map { times[round][keyPath: part] / $0 }
        }
        return DownloadSpeed.median(ratios)
    }
}

/// Compares thumbnails with the whole image reduced by Pillow's Lanczos filter, in a separate Python process.
struct ThumbnailQuality {
    private let process: BenchProcess
    private let scratch: BenchDirectory

    init(python: String) throws {
        process = try BenchProcess("/usr/bin/env", [python, "-c", Self.program])
        scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
    }

    /// Returns the mean PSNR in dB of encoded thumbnails, and of those of Pillow, libvips and, if it is installed,
    /// OpenCV. Files that are not larger than a thumbnail, or neither gray nor RGB, are left out. A thumbnail of
    /// another size counts as 0 dB, and an equal one as 99 dB.
    func means(of paths: [String], _ thumbnail: (String) async throws -> Data) async throws -> [Double] {
        defer { scratch.remove() }
        var sums: [Double] = []
        var count = 0
        for path in paths {
            let file = scratch.url.appending(path: "thumbnail")
            try await thumbnail(path).write(to: file)
            try process.send("\(path)\t\(file.path)")
            let line = try process.readLine()
            guard line != "skipped" else { continue }
            let values = line.split(separator: " ").compactMap { Double($0) }
            guard !values.isEmpty else { throw BenchError(description: "PSNR of \(path): \(line)") }
            sums = sums.isEmpty ? values : zip(sums, values).map { $0 + $1 }
            count += 1
        }
        return sums.map { $0 / Double(max(1, count)) }
    }

    /// Reads lines with the path of an image and that of a thumbnail. Writes the values in dB.
    private static let program = """
        import math, sys
        import numpy, pyvips
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = None
        side = \(PipelineThumbnails.side)
        def decibels(pixels, ideal):
            if pixels.shape != ideal.shape:
                return 0
            error = ((pixels.astype(float) - ideal) ** 2).mean()
            return 99 if error == 0 else 10 * math.log10(255 ** 2 / error)
        def rgb(image):
            return numpy.asarray(image.convert("RGB"))
        def vips(path):
            pixels = pyvips.Image.thumbnail(path, side, height=side, size="down").colourspace("srgb").numpy()
            return pixels[..., :3]
        def open_cv(path, size):
            import cv2
            scales = 8, 4, 2
            modes = cv2.IMREAD_REDUCED_COLOR_8, cv2.IMREAD_REDUCED_COLOR_4, cv2.IMREAD_REDUCED_COLOR_2
            with Image.open(path) as image:
                width, height = image.size
            fits = [m for n, m in zip(scales, modes) if width // n >= size[0] and height // n >= size[1]]
            image = cv2.imread(path, fits[0] if fits else cv2.IMREAD_COLOR)
            return cv2.resize(image, size, interpolation=cv2.INTER_AREA)[..., ::-1]
        for line in sys.stdin:
            path, ours = line.rstrip("\\n").split("\\t")
            try:
                with Image.open(path) as image:
                    image.load()
                    if image.mode not in ("L", "RGB") or max(image.size) <= side:
                        print("skipped", flush=True)
                        continue
                    factor = side / max(image.size)
                    size = tuple(max(1, math.floor(length * factor + 0.5)) for length in image.size)
                    ideal = rgb(image.convert("RGB").resize(size, Image.LANCZOS))
                with Image.open(path) as image:
                    image.thumbnail((side, side))
                    pillow = rgb(image)
                values = [decibels(rgb(Image.open(ours)), ideal), decibels(pillow, ideal), decibels(vips(path), ideal)]
                try:
                    values.append(decibels(open_cv(path, size), ideal))
                except ImportError:
                    pass
                print(*values, flush=True)
            except Exception as error:
                print(repr(error).replace(" ", "_"), flush=True)
        """
}

/// A library in a separate Python process, on one thread.
private final class PythonThumbnails {
    enum Library: String {
        case pillow = "Pillow"
        case vips = "libvips"
        /// OpenCV, which decodes JPEG at the smallest sufficient scale and then averages areas.
        case openCV = "OpenCV"
    }

    let library: Library
    private let process: BenchProcess

    init(_ library: Library, python: String) throws {
        self.library = library
        process = try BenchProcess("/usr/bin/env", [python, "-c", Self.program, library.rawValue])
    }

    /// Makes the thumbnail of a file and returns the duration. Blocks.
    func make(_ path: String) throws -> ThumbnailTime {
        try process.send(path)
        let line = try process.readLine()
        let values = line.split(separator: " ").compactMap { Double($0) }
        guard values.count == 2 else { throw BenchError(description: "\(library.rawValue): \(line)") }
        return ThumbnailTime(wall: values[0], processor: values[1])
    }

    /// Reads lines with a path. Writes the milliseconds of wall-clock time and of processor time.
    private static let program = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        side = \(PipelineThumbnails.side)
        if sys.argv[1] == "Pillow":
            from PIL import Image
            Image.MAX_IMAGE_PIXELS = None
            def make(path):
                with Image.open(path) as image:
                    image.thumbnail((side, side))
                    return image.tobytes()
        elif sys.argv[1] == "OpenCV":
            from PIL import Image
            def make(path):
                import cv2
                cv2.setNumThreads(1)
                scales = 8, 4, 2
                modes = cv2.IMREAD_REDUCED_COLOR_8, cv2.IMREAD_REDUCED_COLOR_4, cv2.IMREAD_REDUCED_COLOR_2
                with Image.open(path) as image:
                    width, height = image.size
                scale = min(1, side / width, side / height)
                size = max(1, round(width * scale)), max(1, round(height * scale))
                fits = [m for n, m in zip(scales, modes) if width // n >= size[0] and height // n >= size[1]]
                image = cv2.imread(path, fits[0] if fits else cv2.IMREAD_COLOR)
                return cv2.resize(image, size, interpolation=cv2.INTER_AREA).tobytes()
        else:
            import pyvips
            pyvips.cache_set_max(0)
            def make(path):
                return pyvips.Image.thumbnail(path, side, height=side, size="down").write_to_memory()
        for line in sys.stdin:
            path = line.rstrip("\\n")
            wall, processor = time.perf_counter(), time.process_time()
            try:
                make(path)
                print((time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000, flush=True)
            except Exception as error:
                print(repr(error), flush=True)
        """
}
