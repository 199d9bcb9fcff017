import Alcedo
import AlcedoProgramSupport
import Foundation

/// Measures thumbnails of the files of one format, alternately with the pipeline, two versions of libvips and a C loop.
struct FormatThumbnails {
    /// A format, its frames that are made, and the goals for the time of the pipeline.
    struct Row {
        let name: String
        let format: ImageFormat
        /// The maximum number of frames of an animation, or nil for still images.
        let frameLimit: Int?
        /// The maximum ratio to the faster libvips; nil without a goal.
        let maximumRatio: Double?
        /// The maximum ratio to the C loop.
        let maximumLoopRatio: Double

        static let all: [Row] =
            ["avif", "heif", "jxl"].map { name in
                Row(
                    name: name, format: ImageFormat(rawValue: name), frameLimit: nil, maximumRatio: 0.9,
                    maximumLoopRatio: 1.15)
            }
            + [ImageFormat.gif, .webp].flatMap { format in
                [("first frame", 1), ("all frames", Int.max)].map { part, limit in
                    Row(
                        name: "animated \(format), \(part)", format: format, frameLimit: limit, maximumRatio: 0.7,
                        maximumLoopRatio: 1.15)
                }
            } + [drawing]

        private static let drawing = Row(
            name: "svg", format: ImageFormat(rawValue: "svg"), frameLimit: nil, maximumRatio: nil,
            maximumLoopRatio: 1.05)

        /// Whether the images are drawings, which have no size of their own.
        var isDrawing: Bool { format.rawValue == "svg" }
    }

    let row: Row
    let paths: [String]
    let python: String?
    let rounds: Int

    private static let libraries = [PythonThumbnails.Library.vips, .systemVips]

    static func printHeader() {
        Console.output(
            BenchTable.row(
                ["", "Alcedo, ms"] + libraries.map { "\($0.rawValue), ms" } + [
                    "C loop, ms", "vs the faster libvips", "processor time", "goal", "vs the C loop", "goal",
                    "PSNR, dB: Alcedo, libvips, the system's libvips",
                ]))
    }

    func run() async throws {
        let pipeline = PipelineThumbnails(maxConcurrentDecodes: 1)
        let (limit, isDrawing) = (row.frameLimit ?? 1, row.isDrawing)
        let peers = try python.map { python in
            try Self.libraries.map {
                try PythonThumbnails($0, python: python, makesAllFrames: limit > 1, enlarges: isDrawing)
            }.filter { (try? $0.make(paths[0])) != nil }
        }
        var contenders = [
            AlternatingRuns.Contender("Alcedo") { path in
                try await ThumbnailTime.of {
                    _ = try await pipeline.frames(of: path, limit: limit, enlarges: isDrawing)
                }
            }
        ]
        contenders += (peers ?? []).map { peer in .init(peer.library.rawValue) { try peer.make($0) } }
        if let loop = CThumbnails(row.format, frameLimit: row.frameLimit) {
            contenders.append(.init("C loop", loop.make))
        }
        let runs = try await AlternatingRuns(paths, rounds: rounds, contenders)
        var quality: (own: Double?, peers: [String: Double]) = (nil, [:])
        for library in (peers ?? []).map(\.library) {
            guard let python else { break }
            let means = try await FormatQuality(library, python: python, isDrawing: isDrawing).means(of: paths) {
                try await pipeline.frames(of: $0, limit: limit, enlarges: isDrawing)
            }
            quality.own = means.own
            quality.peers[library.rawValue] = means.peer
        }
        report(runs, quality)
    }

    private func report(_ runs: AlternatingRuns, _ quality: (own: Double?, peers: [String: Double])) {
        let libraries = Self.libraries.map(\.rawValue)
        let ratio = runs.ratio("Alcedo", to: libraries)
        let loopRatio = runs.ratio("Alcedo", to: ["C loop"])
        func record(_ name: String, _ value: Double?, _ goal: BenchFigure.Goal) {
            if let value { BenchFigure("thumbnails, \(row.name): \(name)", value, goal).record() }
        }
        if let limit = row.maximumRatio { record("time relative to the faster libvips", ratio, .atMost(limit)) }
        record("time relative to the C loop", loopRatio, .atMost(row.maximumLoopRatio))
        if let peer = quality.peers.values.max() {
            record("PSNR in dB", quality.own, .atLeast((peer * 10).rounded() / 10))
        }
        let decibels = [quality.own] + libraries.map { quality.peers[$0] }
        Console.output(
            BenchTable.row(
                ["\(paths.count) \(row.name)"]
                    + (["Alcedo"] + libraries + ["C loop"]).map { AlternatingRuns.text(runs.median($0)) } + [
                        AlternatingRuns.text(ratio),
                        AlternatingRuns.text(runs.ratio("Alcedo", to: libraries, \.processor)),
                        row.maximumRatio.map { "at most \($0)" } ?? "", AlternatingRuns.text(loopRatio),
                        "at most \(row.maximumLoopRatio)",
                        decibels.map { $0.map { "\(BenchTable.rounded($0))" } ?? "-" }.joined(separator: ", "),
                    ]))
    }
}

/// Compares thumbnails of frames and drawings with ideal ones, in a separate Python process with one libvips.
struct FormatQuality {
    private let process: BenchProcess
    private let scratch: BenchDirectory

    init(_ library: PythonThumbnails.Library, python: String, isDrawing: Bool) throws {
        let words = ["-c", Self.program, library.rawValue, isDrawing ? "drawing" : "image"]
        process = try BenchProcess("/usr/bin/env", [python] + words)
        scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
    }

    /// Returns the mean PSNR in dB of the thumbnails of all files and of those of libvips. The value of a file is the
    /// mean of its frames. A thumbnail of another size counts as 0 dB, and an equal one as 99 dB.
    func means(
        of paths: [String], _ thumbnails: (String) async throws -> [DecodedImage]
    ) async throws -> (own: Double, peer: Double) {
        defer { scratch.remove() }
        var sums = (own: 0.0, peer: 0.0)
        for path in paths {
            let frames = try await thumbnails(path)
            for (index, frame) in frames.enumerated() {
                try ImageEncoder.png().encode(frame).write(to: scratch.url.appending(path: "\(index).png"))
            }
            try process.send("\(path)\t\(scratch.url.path)\t\(frames.count)")
            let line = try process.readLine()
            let values = line.split(separator: " ").compactMap { Double($0) }
            guard values.count == 2 else { throw BenchError(description: "PSNR of \(path): \(line)") }
            sums = (sums.own + values[0], sums.peer + values[1])
        }
        let count = Double(max(1, paths.count))
        return (sums.own / count, sums.peer / count)
    }

    /// Reads lines with the path of an image, that of the directory with the frames of its thumbnail, and their number.
    /// Writes the values of both in dB.
    private static let program = """
        import math, os, sys
        if sys.argv[1] != "libvips":
            \(PythonThumbnails.systemVips)
        import numpy, pyvips
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = None
        side, is_drawing = \(PipelineThumbnails.side), sys.argv[2] == "drawing"
        def decibels(pixels, ideal):
            if pixels.shape != ideal.shape:
                return 0
            error = ((pixels.astype(float) - ideal) ** 2).mean()
            return 99 if error == 0 else 10 * math.log10(255 ** 2 / error)
        def on_white(image):
            image = image.convert("RGBA")
            white = Image.new("RGBA", image.size, "white")
            white.alpha_composite(image)
            return white.convert("RGB")
        def from_vips(image):
            image = image.colourspace("srgb")
            if image.hasalpha():
                image = image.flatten(background=255)
            return Image.fromarray(image.numpy()[..., :3])
        def whole_frames(path, count):
            if is_drawing:
                drawing = pyvips.Image.svgload(path)
                scale = 8 * side / max(drawing.width, drawing.height)
                yield from_vips(pyvips.Image.svgload(path, scale=scale)), (drawing.width, drawing.height)
                return
            try:
                image = Image.open(path)
            except OSError:
                image = from_vips(pyvips.Image.new_from_file(path))
            for index in range(count):
                image.seek(index)
                yield on_white(image), image.size
        def ideals(path, count):
            for image, size in whole_frames(path, count):
                factor = side / max(size)
                size = tuple(max(1, math.floor(length * factor + 0.5)) for length in size)
                yield numpy.asarray(image.resize(size, Image.LANCZOS))
        def vips_frames(path, count):
            source = path + "[n=-1]" if count > 1 else path
            image = pyvips.Image.thumbnail(source, side, height=side, size="both" if is_drawing else "down")
            pixels = numpy.asarray(from_vips(image))
            return numpy.split(pixels, count) if len(pixels) % count == 0 else [pixels] * count
        for line in sys.stdin:
            path, folder, count = line.rstrip("\\n").split("\\t")
            count = int(count)
            try:
                sums = [0, 0]
                for index, (ideal, vips) in enumerate(zip(ideals(path, count), vips_frames(path, count))):
                    own = numpy.asarray(on_white(Image.open(os.path.join(folder, f"{index}.png"))))
                    sums = [sums[0] + decibels(own, ideal), sums[1] + decibels(vips, ideal)]
                print(*(total / count for total in sums), flush=True)
            except Exception as error:
                print(repr(error).replace(" ", "_"), flush=True)
        """
}
