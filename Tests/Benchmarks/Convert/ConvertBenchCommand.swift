import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// `alcedo-bench convert`
struct ConvertBenchCommand: ProgramCommand {
    static let name = "convert"
    static let help = """
        usage: alcedo-bench convert --pictures DIR [options]

        Measures conversions of one image of 32 megapixels, whose bytes are in memory, on one thread: as JPEG, PNG,
        WebP, and AVIF with --traits AVIF. The image consists of the first eight files of DIR/wallpapers, cropped to
        squares and placed side by side. Each file is converted to a JPEG that fits into 320 x 320 pixels (inside), to
        one that covers them (cover), and to three sizes at once (variants): 2048 as JPEG, 1024 and 320 as WebP. libvips
        takes turns, with one thumbnail_buffer for each size. Two more conversions are Alcedo's alone: largest is the
        first of the variants, and equal fits into as many pixels as cover has.

        Prints medians of the rounds, and ratios of medians. Memory is the growth of the resident memory of a new
        process while it converts, without the bytes of the file. The PSNR is the mean of the sizes, written without
        loss, against the whole image reduced by Pillow's Lanczos filter. Tests/Benchmarks/bench-pictures creates the
        images, Tests/Benchmarks/bench-peers installs the interpreter, and both print their paths.

          --pictures DIR   read images from DIR, which has the directory wallpapers
          --python PATH    use the Python interpreter PATH, which has Pillow and pyvips (default: none; Alcedo only)
          --rounds N       measure N rounds (default: 5)
          --only TEXT      measure only formats whose name contains TEXT: jpeg, png, webp, avif
          --megapixels N   make an image of N megapixels (default: 32)

        """

    private var pictures = PictureOptions()
    private var megapixels = 32
    /// The options of the process whose memory is measured: the file, and the conversion.
    private var (file, task): (String?, ConversionTask?)

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--megapixels": megapixels = try arguments.number(of: option, in: 1...100)
        // The options of the process whose memory is measured.
        case "--file": file = try arguments.value(of: option)
        case "--task":
            let name = try arguments.value(of: option)
            guard let named = ConversionTask(rawValue: name) else { throw UsageError("no conversion is '\(name)'") }
            task = named
        default: return try pictures.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if !pictures.isComplete, file == nil || task == nil { throw UsageError("convert needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        if let file, let task {
            let data = try Data(contentsOf: URL(filePath: file))
            let (_, byteCount) = try await ResidentMemory.suspendingGrowth { try await task.run(data) }
            Console.output("\(byteCount)\n")
            return .success
        }
        let formats = ConvertedFile.formats.filter { pictures.includes($0.name) }
        guard !formats.isEmpty else {
            let names = ConvertedFile.formats.map(\.name).joined(separator: ", ")
            throw UsageError("no format has this name; available: \(names)")
        }
        let image = try Mosaic(of: pictures.directory("wallpapers", of: Self.name)).image(megapixels: megapixels)
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let peer = try pictures.python.map { try PythonConversions(python: $0) }
        ConversionSpeed.printHeader()
        for format in formats {
            let path = scratch.url.appending(path: "image.\(format.name)").path
            try format.encoder.encode(image).write(to: URL(filePath: path))
            try await ConversionSpeed(
                name: format.name, path: path, scratch: scratch.url, python: pictures.python, peer: peer,
                rounds: pictures.rounds
            ).run()
        }
        return .success
    }
}
