import Alcedo
import ExampleSupport

/// `alcedo decode`
struct DecodeCommand: ToolCommand {
    static let name = "decode"
    static let help =
        """
        usage: alcedo decode URL|FILE|FOLDER... --output DIR|FILE|- [options]

        Writes the pixels of every image, upright, with straight alpha; of animations every frame as it is shown. Profiles
        are not applied. What cannot be read is a line on standard error, and the others are made.

          --output, -o DIR|FILE|-
                           a folder for files under the images' names, frames with +0000 and so on behind; or, for one
                           image, a file whose name ends with its format; or standard output. Frames in one file, and
                           images on standard output, come one after another, as Netpbm's tools read them
          --format NAME    pam, RGB, RGBA where there is alpha, or 8-bit gray; ppm, without alpha; or rgba, four samples
                           a pixel without a header, of 16 bits in this machine's byte order (default: as FILE ends, else
                           pam)
          --frame N        of animations only this frame; the first is 0
          --depth N        bits of a sample: 8, or 16 where the file has more than 8 (default: 16)

        """ + ImageOptions.help(jobs: 4)

    private var format: PixelFile?
    private var frame: Int?
    private var isShallow = false
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--format":
            let name = try arguments.value(of: option)
            guard let format = PixelFile(rawValue: name) else {
                throw UsageError("--format takes \(PixelFile.names), not '\(name)'")
            }
            self.format = format
        case "--frame": frame = try arguments.number(of: option, in: 0...1_000_000)
        case "--depth":
            let depth = try arguments.number(of: option, in: 8...16)
            guard depth == 8 || depth == 16 else { throw UsageError("--depth takes 8 or 16, not '\(depth)'") }
            isShallow = depth == 8
        default: return try options.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: true)
        if case .file(let path) = try place, let format, format != PixelFile(fileName: path) {
            throw UsageError("'\(path)' is no name for \(format.rawValue)")
        }
    }

    private var place: FilePlace {
        get throws {
            try FilePlace(options.requiredOutput(for: Self.name), formats: PixelFile.names) {
                PixelFile(fileName: $0) != nil
            }
        }
    }

    func run() async throws -> ExitStatus {
        let place = try place
        var (file, jobs) = (format, options.jobs ?? 4)
        let images = try await options.images()
        switch place {
        case .file(let path):
            file = file ?? PixelFile(fileName: path)
            if images.count > 1 { throw UsageError("several images need a folder for --output") }
        // One after another, in order.
        case .standardOutput: jobs = 1
        case .folder: break
        }
        let maker = PixelMaker(
            file: file ?? .pam, frame: frame, isShallow: isShallow, processors: options.processors)
        return try await options.run("decoded", images, to: place, by: maker, jobs: jobs)
    }
}
