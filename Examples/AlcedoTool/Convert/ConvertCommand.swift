import Alcedo
import ExampleSupport

/// `alcedo convert`
struct ConvertCommand: ToolCommand {
    static let name = "convert"
    static let help =
        """
        usage: alcedo convert URL|FILE|FOLDER... --format NAME --output DIR [options]
               alcedo convert URL|FILE --output FILE [options]

        Writes every image in another format, upright and at its full size. Colour profiles are kept, 16 bits in png, and
        animations in webp and gif; EXIF and XMP are not, but for the orientation, which is applied. What a file does not
        keep is told. What cannot be read is a line on standard error, and the others are made.

          --output, -o DIR|FILE
                           a folder for files under the images' names, of which equal ones get a number; or, for one
                           image, a file whose name ends with its format, or - for standard output
          --format NAME    png, jpeg, webp or gif (default: as FILE ends)
          --quality Q      of jpeg and webp, from 1 to 100 (default: 85)

        """ + EncodingOptions.help + ImageOptions.help(jobs: 4)

    private var encoding = EncodingOptions()
    private var options = ImageOptions()

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        try encoding.take(option, from: &arguments) || options.take(option, from: &arguments)
    }

    mutating func finish(_ words: [String]) throws {
        try options.finish(words, for: Self.name, takesStandardOutput: true)
        _ = try maker
    }

    private var place: FilePlace {
        get throws {
            try FilePlace(options.requiredOutput(for: Self.name), formats: OutputFormat.names) {
                OutputFormat(fileName: $0) != nil
            }
        }
    }

    private var maker: ConversionMaker {
        get throws {
            let place = try place
            var format = encoding.format
            if case .file(let path) = place, let named = OutputFormat(fileName: path) {
                if let format, format != named { throw UsageError("'\(path)' is no name for \(format.rawValue)") }
                format = named
            }
            guard let format else { throw UsageError("convert needs --format") }
            let encoder = try encoding.encoder(of: format, quality: 85)
            return ConversionMaker(format: format, encoder: encoder, processors: options.processors)
        }
    }

    func run() async throws -> ExitStatus {
        let (place, maker) = (try place, try maker)
        let images = try await options.images()
        if images.count > 1 {
            if case .folder = place {} else { throw UsageError("several images need a folder for --output") }
        }
        return try await options.run("converted", images, to: place, by: maker, jobs: options.jobs ?? 4)
    }
}
