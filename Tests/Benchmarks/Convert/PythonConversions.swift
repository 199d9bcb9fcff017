import Foundation

/// The conversions of libvips in a separate Python process, on one thread.
final class PythonConversions {
    private let process: BenchProcess
    private let python: String

    init(python: String) throws {
        self.python = python
        process = try BenchProcess("/usr/bin/env", [python, "-c", Self.tasks + Self.times])
    }

    /// Converts a file, which is read before the time begins, and returns the duration. Blocks.
    func run(_ task: ConversionTask, _ path: String) throws -> ThumbnailTime {
        try process.send("\(task.rawValue)\t\(path)")
        let line = try process.readLine()
        let values = line.split(separator: " ").compactMap { Double($0) }
        guard values.count == 2 else { throw BenchError(description: "libvips: \(line)") }
        return ThumbnailTime(wall: values[0], processor: values[1])
    }

    /// Returns the growth of the resident memory of a new process, in bytes. Blocks.
    func memory(_ task: ConversionTask, _ path: String) throws -> Int {
        let words = [python, "-c", Self.tasks + Self.growth, task.rawValue, path]
        return try Self.byteCount(in: try BenchProcess.output(of: "/usr/bin/env", words))
    }

    static func byteCount(in output: String) throws -> Int {
        guard let count = Int(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchError(description: "not a number of bytes: \(output)")
        }
        return count
    }

    /// The tasks of ``ConversionTask``, each a list of the longest side, options and the format.
    static let tasks = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        import pyvips
        pyvips.cache_set_max(0)
        tasks = {
            "inside": [(320, {}, "jpeg")],
            "cover": [(320, {"crop": "centre"}, "jpeg")],
            "variants": [(2048, {}, "jpeg"), (1024, {}, "webp"), (320, {}, "webp")],
        }
        savers = {
            "jpeg": lambda image: image.jpegsave_buffer(Q=82),
            "webp": lambda image: image.webpsave_buffer(Q=80, effort=4),
        }
        def images(task, data):
            for side, options, kind in tasks[task]:
                yield pyvips.Image.thumbnail_buffer(data, side, height=side, size="down", **options), kind
        def read(path):
            with open(path, "rb") as file:
                return file.read()

        """

    /// Reads lines with a task and a path. Writes the milliseconds of wall-clock time and of processor time.
    private static let times = """
        data = None, b""
        for line in sys.stdin:
            task, path = line.rstrip("\\n").split("\\t")
            try:
                if data[0] != path:
                    data = path, read(path)
                wall, processor = time.perf_counter(), time.process_time()
                for image, kind in images(task, data[1]):
                    savers[kind](image)
                print((time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000, flush=True)
            except Exception as error:
                print(repr(error).replace("\\n", " "), flush=True)
        """

    /// Writes the growth of resident memory while the file of the second argument is converted.
    private static let growth = """
        def resident(name):
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(name)) << 10
        data = read(sys.argv[2])
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = resident("VmRSS:")
        results = [savers[kind](image) for image, kind in images(sys.argv[1], data)]
        print(max(0, resident("VmHWM:") - before))
        """
}

/// Compares the images of conversions with ideal ones, in a separate Python process.
final class ConversionQuality {
    private let process: BenchProcess

    init(python: String) throws {
        process = try BenchProcess("/usr/bin/env", [python, "-c", PythonConversions.tasks + Self.program])
    }

    /// Returns the mean PSNR in dB of the images of a task, and of those of libvips. An image of another size counts as
    /// 0 dB, and an equal one as 99 dB.
    func values(
        of path: String, _ task: ConversionTask, _ data: Data, in directory: URL
    ) async throws -> (own: Double, peer: Double) {
        for (index, image) in try await task.lossless(data).enumerated() {
            try image.write(to: directory.appending(path: "\(index).png"))
        }
        try process.send("\(task.rawValue)\t\(path)\t\(directory.path)")
        let line = try process.readLine()
        let values = line.split(separator: " ").compactMap { Double($0) }
        guard values.count == 2 else { throw BenchError(description: "PSNR of \(path): \(line)") }
        return (values[0], values[1])
    }

    /// Reads lines with a task, the path of an image, and that of the directory with its results. Writes the means in
    /// dB.
    private static let program = """
        import math
        import numpy
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = None
        def decibels(pixels, ideal):
            if pixels.shape != ideal.shape:
                return 0
            error = ((pixels.astype(float) - ideal) ** 2).mean()
            return 99 if error == 0 else 10 * math.log10(255 ** 2 / error)
        def ideal(whole, side, covers):
            size, box = whole.size, (0, 0, *whole.size)
            if covers:
                part = min(size)
                left, top = ((length - part) / 2 for length in size)
                size, box = (min(side, part),) * 2, (left, top, left + part, top + part)
            else:
                factor = min(1, side / max(size))
                size = tuple(max(1, math.floor(length * factor + 0.5)) for length in size)
            return numpy.asarray(whole.resize(size, Image.LANCZOS, box=box))
        whole = None, None
        for line in sys.stdin:
            task, path, folder = line.rstrip("\\n").split("\\t")
            try:
                if whole[0] != path:
                    with Image.open(path) as image:
                        whole = path, image.convert("RGB")
                data = read(path)
                sums, count = [0, 0], len(tasks[task])
                for index, (image, _) in enumerate(images(task, data)):
                    side, options, _ = tasks[task][index]
                    best = ideal(whole[1], side, bool(options))
                    with Image.open(os.path.join(folder, f"{index}.png")) as own:
                        sums[0] += decibels(numpy.asarray(own.convert("RGB")), best)
                    sums[1] += decibels(image.colourspace("srgb").numpy()[..., :3], best)
                print(*(total / count for total in sums), flush=True)
            except Exception as error:
                print(repr(error).replace("\\n", " ").replace(" ", "_"), flush=True)
        """
}
