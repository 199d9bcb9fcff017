import Foundation

/// Python's Pillow or libvips on one thread, in a process of its own.
final class PythonThumbnails {
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
        let numbers = answer.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 2 else { throw BenchError(description: "\(library.rawValue): \(answer)") }
        return ThumbnailTime(wall: numbers[0], processor: numbers[1])
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
