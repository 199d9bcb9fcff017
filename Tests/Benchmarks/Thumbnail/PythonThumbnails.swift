import AlcedoProgramSupport
import FoundationEssentials

/// A library in a separate Python process, on one thread.
final class PythonThumbnails {
    enum Library: String {
        case pillow = "Pillow"
        case vips = "libvips"
        /// The libvips of the system. That of the Python package pyvips-binary cannot load HEVC and JPEG XL.
        case systemVips = "the system's libvips"
        /// OpenCV, which decodes JPEG at the smallest sufficient scale and then averages areas.
        case openCV = "OpenCV"
        /// OpenCV, which decodes JPEG at full scale and then averages areas.
        case openCVAtFullScale = "OpenCV at full scale"
    }

    let library: Library
    private let process: BenchProcess

    /// Starts the process. For libvips, `makesAllFrames` is whether it makes thumbnails of all frames of an animation,
    /// and `enlarges` whether it enlarges images that are smaller than a thumbnail.
    init(_ library: Library, python: String, makesAllFrames: Bool = false, enlarges: Bool = false) throws {
        self.library = library
        let words = ["-c", Self.program, library.rawValue, makesAllFrames ? "[n=-1]" : "", enlarges ? "both" : "down"]
        process = try BenchProcess("/usr/bin/env", [python] + words)
    }

    /// Makes the thumbnail of a file and returns the duration. Blocks.
    func make(_ path: String) throws -> ThumbnailTime {
        try process.send(path)
        let line = try process.readLine()
        let values = line.split(separator: " ").compactMap { Double($0) }
        guard values.count == 2 else { throw BenchError(description: "\(library.rawValue): \(line)") }
        return ThumbnailTime(wall: values[0], processor: values[1])
    }

    /// A line of Python that makes pyvips load the libvips of the system instead of its own: without this module, it
    /// loads a shared library by its name. It stands before the import of pyvips.
    static let systemVips = #"sys.modules["_libvips"] = None"#

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
        elif sys.argv[1].startswith("OpenCV"):
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
                is_reduced = fits and sys.argv[1] == "OpenCV"
                image = cv2.imread(path, fits[0] if is_reduced else cv2.IMREAD_COLOR)
                return cv2.resize(image, size, interpolation=cv2.INTER_AREA).tobytes()
        else:
            if sys.argv[1] != "libvips":
                \(systemVips)
            def make(path):
                import pyvips
                pyvips.cache_set_max(0)
                path += sys.argv[2]
                return pyvips.Image.thumbnail(path, side, height=side, size=sys.argv[3]).write_to_memory()
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
