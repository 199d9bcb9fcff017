import Alcedo
import AlcedoProgramSupport
import Foundation

/// Times thumbnails of files on disk, by the pipeline and by its peers in turns.
struct ThumbnailSpeed {
    /// The goal for our time over another's.
    struct Goal {
        let maximumRatios: [ImageFormat: Double]
        /// Over the faster of both, or over libvips alone.
        let comparesFaster: Bool
    }

    static let tables: [(name: String, goal: Goal)] = [
        ("wallpapers", Goal(maximumRatios: [.jpeg: 0.95, .png: 0.95, .webp: 0.7], comparesFaster: true)),
        ("web", Goal(maximumRatios: [.jpeg: 0.55, .png: 1, .webp: 0.55], comparesFaster: false)),
    ]

    let files: ThumbnailFiles
    let goal: Goal
    let python: String?
    let rounds: Int
    let maximumCount: Int

    func run(_ name: String) async throws {
        Console.output(
            BenchTable.row([
                name, "ours, ms", "Pillow, ms", "libvips, ms",
                goal.comparesFaster ? "over the faster" : "over libvips",
                "of the processor", "goal", "one thread over two", "goal",
            ]))
        for format in [ImageFormat.jpeg, .png, .webp] {
            let paths = Array(files.paths(of: format).prefix(maximumCount))
            guard !paths.isEmpty else { continue }
            try await measure(name, paths, format)
        }
    }

    private func measure(_ table: String, _ paths: [String], _ format: ImageFormat) async throws {
        let (one, two) = (PipelineThumbnails(width: 1), PipelineThumbnails(width: 2))
        let peers = try python.map { python in
            try PythonThumbnails.Library.allCases.map { try PythonThumbnails($0, python: python) }
        }
        var times = (0..<1 + (peers?.count ?? 0)).map { _ in [ThumbnailTime]() }
        var gains: [Double] = []
        // One pass more, which warms all and does not count.
        for round in 0...rounds {
            var sums = Array(repeating: ThumbnailTime(), count: times.count)
            for path in paths {
                // Who goes first changes, so that nobody always finds the other's file in the cache.
                for pass in times.indices {
                    let index = (pass + round) % times.count
                    let time = index == 0 ? try await one.make([path]) : try peers?[index - 1].make(path)
                    if let time { sums[index] = sums[index] + time }
                }
            }
            let gain = try await one.make(paths).wall / two.make(paths).wall
            guard round > 0 else { continue }
            gains.append(gain)
            for index in times.indices { times[index].append(sums[index]) }
        }
        report(table, paths.count, format, times, gains)
    }

    private func report(
        _ table: String, _ count: Int, _ format: ImageFormat, _ times: [[ThumbnailTime]], _ gains: [Double]
    ) {
        /// Our time over the peer's that counts, round by round.
        func ratio(_ part: KeyPath<ThumbnailTime, Double>) -> Double? {
            let ratios = (0..<rounds).compactMap { round -> Double? in
                let theirs = times.dropFirst(goal.comparesFaster ? 1 : 2).map { $0[round][keyPath: part] }
                return theirs.min().map { times[0][round][keyPath: part] / $0 }
            }
            return DownloadSpeed.median(ratios)
        }
        func text(_ ratio: Double?) -> String { ratio.map { "\(($0 * 100).rounded() / 100)" } ?? "-" }
        let each = times.map { times in
            DownloadSpeed.median(times.map(\.wall)).map { "\(BenchTable.rounded($0 / Double(count)))" } ?? "-"
        }
        let cells = (0..<3).map { $0 < each.count ? each[$0] : "-" }
        let (byClock, byProcessor, gain) = (ratio(\.wall), ratio(\.processor), DownloadSpeed.median(gains))
        if let byClock, let ratio = goal.maximumRatios[format] {
            let peer = goal.comparesFaster ? "the faster of both" : "libvips"
            BenchFigure("thumbnails, \(table) \(format), over \(peer)", byClock, .atMost(ratio)).record()
        }
        if let gain { BenchFigure("thumbnails, \(table) \(format), on two threads", gain, .atLeast(1.9)).record() }
        let limit = goal.maximumRatios[format].map { "at most \($0)" } ?? ""
        Console.output(
            BenchTable.row(
                ["\(count) \(format)"] + cells + [text(byClock), text(byProcessor), limit, text(gain), "1.9"]))
    }
}

/// Python's Pillow or libvips on one thread, in a process of its own.
private final class PythonThumbnails {
    enum Library: String, CaseIterable {
        case pillow = "Pillow"
        case vips = "libvips"
    }

    let library: Library
    private let process: BenchProcess

    init(_ library: Library, python: String) throws {
        self.library = library
        process = try BenchProcess("/usr/bin/env", [python, "-c", Self.program, library.rawValue])
    }

    /// Blocks.
    func make(_ path: String) throws -> ThumbnailTime {
        try process.send(path)
        let answer = try process.readLine()
        let values = answer.split(separator: " ").compactMap { Double($0) }
        guard values.count == 2 else { throw BenchError(description: "\(library.rawValue): \(answer)") }
        return ThumbnailTime(wall: values[0], processor: values[1])
    }

    /// Reads lines of a path; writes milliseconds by the clock and of the processor.
    private static let program = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        side = \(PipelineThumbnails.side)
        if sys.argv[1] == "Pillow":
            from PIL import Image
            Image.MAX_IMAGE_PIXELS = None
            def make(path):
                with Image.open(path) as picture:
                    picture.thumbnail((side, side))
                    return picture.tobytes()
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
