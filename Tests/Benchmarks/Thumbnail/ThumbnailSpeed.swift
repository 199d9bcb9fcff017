import Alcedo
import AlcedoProgramSupport
import Foundation

/// Measures thumbnails of files on disk, alternately with the pipeline, Pillow, libvips, for JPEG OpenCV, and a C loop
/// that only decodes.
struct ThumbnailSpeed {
    /// The goal for the time of the pipeline relative to other libraries.
    struct Goal {
        let maximumRatios: [ImageFormat: Double]
        /// Whether the time is compared with the faster of Pillow and libvips. If false, it is compared with libvips.
        let comparesFaster: Bool
        /// The goal for JPEG relative to OpenCV, if it is installed.
        let maximumOpenCVRatio = 0.85
        /// The goal relative to the C loop, which decodes and does not filter.
        let maximumLoopRatio = 1.15
    }

    static let tables: [(name: String, goal: Goal)] = [
        ("wallpapers", Goal(maximumRatios: [.jpeg: 0.37, .png: 0.55, .webp: 0.9], comparesFaster: true)),
        ("web", Goal(maximumRatios: [.jpeg: 0.55, .png: 0.5, .webp: 0.7], comparesFaster: false)),
    ]

    let files: ThumbnailFiles
    let goal: Goal
    let python: String?
    let rounds: Int
    let maximumCount: Int

    func run(_ name: String) async throws {
        Console.output(
            BenchTable.row([
                name, "Alcedo, ms", "Pillow, ms", "libvips, ms", "C loop, ms",
                goal.comparesFaster ? "vs the faster library" : "vs libvips",
                "processor time", "goal", "speedup of two threads", "goal", "vs OpenCV", "goal",
                "at full scale", "vs the C loop", "goal",
                "PSNR, dB: Alcedo, Pillow, libvips, OpenCV, at full scale",
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
            let openCV: [PythonThumbnails.Library] = format == .jpeg ? [.openCV, .openCVAtFullScale] : []
            return try [PythonThumbnails.Library.pillow, .vips].map { try PythonThumbnails($0, python: python) }
                + openCV.map { try PythonThumbnails($0, python: python) }.filter { (try? $0.make(paths[0])) != nil }
        }
        var contenders = [AlternatingRuns.Contender("Alcedo") { try await pipeline.make([$0]) }]
        contenders += (peers ?? []).map { peer in .init(peer.library.rawValue) { try peer.make($0) } }
        if let loop = CThumbnails(format) { contenders.append(.init("C loop", loop.make)) }
        let runs = try await AlternatingRuns(paths, rounds: rounds, contenders)
        var speedups: [Double] = []
        for _ in 0..<rounds {
            let one = try await pipeline.make(paths)
            speedups.append(one.wall / (try await twoThreads.make(paths).wall))
        }
        let quality = try await python.map { try ThumbnailQuality(python: $0) }?.means(of: paths) {
            try ImageEncoder.png().encode(try await pipeline.thumbnail(of: $0))
        }
        report("\(table) \(format)", paths.count, format, runs, DownloadSpeed.median(speedups), quality ?? [])
    }

    private func report(
        _ title: String, _ count: Int, _ format: ImageFormat, _ runs: AlternatingRuns, _ speedup: Double?,
        _ quality: [Double]
    ) {
        let names = ["Alcedo", "Pillow", "libvips", "C loop"]
        let peers = goal.comparesFaster ? ["Pillow", "libvips"] : ["libvips"]
        let wall = runs.ratio("Alcedo", to: peers)
        let processor = runs.ratio("Alcedo", to: peers, \.processor)
        let openCV = runs.ratio("Alcedo", to: ["OpenCV"])
        let wholeOpenCV = runs.ratio("Alcedo", to: ["OpenCV at full scale"])
        let loop = runs.ratio("Alcedo", to: ["C loop"])
        func record(_ name: String, _ value: Double?, _ goal: BenchFigure.Goal) {
            if let value { BenchFigure("thumbnails, \(title): \(name)", value, goal).record() }
        }
        if let limit = goal.maximumRatios[format] {
            let peer = goal.comparesFaster ? "the faster library" : "libvips"
            record("time relative to \(peer)", wall, .atMost(limit))
        }
        record("speedup of two threads", speedup, .atLeast(1.9))
        record("time relative to OpenCV", openCV, .atMost(goal.maximumOpenCVRatio))
        record("time relative to the C loop", loop, .atMost(goal.maximumLoopRatio))
        record("PSNR in dB", quality.first, .atLeast(56))
        Console.output(
            BenchTable.row(
                ["\(count) \(format)"]
                    + names.map { name in runs.median(name).map { "\(BenchTable.rounded($0))" } ?? "-" } + [
                        AlternatingRuns.text(wall), AlternatingRuns.text(processor),
                        goal.maximumRatios[format].map { "at most \($0)" } ?? "", AlternatingRuns.text(speedup), "1.9",
                        AlternatingRuns.text(openCV), openCV == nil ? "" : "at most \(goal.maximumOpenCVRatio)",
                        AlternatingRuns.text(wholeOpenCV),
                        AlternatingRuns.text(loop), "at most \(goal.maximumLoopRatio)",
                        quality.map { "\(($0 * 10).rounded() / 10)" }.joined(separator: ", "),
                    ]))
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
    /// OpenCV, with a reduced decode and at full scale. Files that are not larger than a thumbnail, or neither gray nor
    /// RGB, are left out. A thumbnail of another size counts as 0 dB, and an equal one as 99 dB.
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
        def open_cv(path, size, is_reduced):
            import cv2
            scales = 8, 4, 2
            modes = cv2.IMREAD_REDUCED_COLOR_8, cv2.IMREAD_REDUCED_COLOR_4, cv2.IMREAD_REDUCED_COLOR_2
            with Image.open(path) as image:
                width, height = image.size
            fits = [m for n, m in zip(scales, modes) if width // n >= size[0] and height // n >= size[1]]
            image = cv2.imread(path, fits[0] if fits and is_reduced else cv2.IMREAD_COLOR)
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
                    values += [decibels(open_cv(path, size, is_reduced), ideal) for is_reduced in (True, False)]
                except ImportError:
                    pass
                print(*values, flush=True)
            except Exception as error:
                print(repr(error).replace(" ", "_"), flush=True)
        """
}
