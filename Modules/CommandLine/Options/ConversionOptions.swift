import Alcedo
import AlcedoProgramSupport

/// The options that `convert` and `thumbnail` share: the form of the written files, and ``ImageOptions``.
struct ConversionOptions: Sendable {
    /// Returns the help text of the options.
    ///
    /// - Parameters:
    ///   - format: The default of `--format`.
    ///   - quality: The default of `--quality`.
    ///   - writesAnimations: Whether the command writes animations.
    ///   - jobs: The default of `--jobs`.
    static func help(format: String, quality: Int, writesAnimations: Bool, jobs: Int) -> String {
        let whole = writesAnimations ? "all frames, where the format supports them" : "the first frame"
        let lossy = OutputFormat.lossyNames
        let defaults = "\(quality)\(OutputFormat.ownQuality)"
        return """
              --format NAME           write \(OutputFormat.names) (default: \(format))
              --quality Q             set the quality of \(lossy), from 1 to 100 (default: \(defaults))
              --frame N               write only the frame N of animations, or the page N of TIFF; the first is 0
                                      (default: \(whole))

            """ + FitOptions.help + OverlayOptions.help + EncodingOptions.help(writesAnimations: writesAnimations)
                + ImageOptions.help(jobs: jobs)
    }

    /// The options of ``ImageOptions`` that change the form of the files.
    private static let formOptions: Set = ["--output", "-o", "--processor"]

    var fit = FitOptions()
    var images = ImageOptions()
    private(set) var encoding: EncodingOptions
    private(set) var overlays = OverlayOptions()
    private(set) var frame: Int?
    /// The first option, except for `--size`, that changes the form of the files or their place.
    private(set) var formOption: String?

    init(writesAnimations: Bool) { encoding = EncodingOptions(writesAnimations: writesAnimations) }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        let isForm = try takeForm(option, from: &arguments)
        if isForm && option != "--size" || Self.formOptions.contains(option) { formOption = formOption ?? option }
        return try isForm || images.take(option, from: &arguments)
    }

    private mutating func takeForm(_ option: String, from arguments: inout Arguments) throws -> Bool {
        if option == "--frame" {
            frame = try arguments.number(of: option, in: 0...1_000_000)
            return true
        }
        return try fit.take(option, from: &arguments) || encoding.take(option, from: &arguments)
            || overlays.take(option, after: images.processors.count, from: &arguments)
    }

    /// Parses the arguments that name images, and checks that the options agree.
    ///
    /// - Parameters:
    ///   - words: The arguments that are not options.
    ///   - command: The name of the command, for messages.
    ///   - takesStandardOutput: Whether the command accepts `--output -`.
    /// - Throws: ``UsageError`` if the arguments or the options are invalid.
    mutating func finish(_ words: [String], for command: String, takesStandardOutput: Bool) throws {
        try images.finish(words, for: command, takesStandardOutput: takesStandardOutput)
        try fit.check()
        if frame != nil, encoding.keepsShortDelays { throw UsageError("--frame and --keep-delays exclude each other") }
    }

    /// Returns the form of the files in a format. Call ``loadOverlays()`` before files are made. Throws ``UsageError``
    /// if an option does not apply to the format.
    func form(of format: OutputFormat, defaultQuality: Int) throws -> OutputForm {
        OutputForm(
            fit: fit, processors: overlays.added(to: images.processors),
            encoder: try encoding.encoder(of: format, defaultQuality: defaultQuality), metadata: encoding.metadata,
            resolution: encoding.resolution, frame: frame, hasOverlay: !overlays.isEmpty)
    }

    #if JXL
        /// Creates the maker for `--recompress`. Throws ``UsageError`` for an option that would change the image.
        func recompressionMaker(of format: OutputFormat) throws -> RecompressionMaker {
            try encoding.recompressionMaker(
                of: format,
                refusing: [
                    ("--processor", !images.processors.isEmpty), ("--size", !fit.sizes.isEmpty),
                    ("--frame", frame != nil), ("--overlay", !overlays.isEmpty),
                ], by: images.inputs.recompressor)
        }
    #endif

    /// Reads and decodes the overlays. Throws ``InputError`` if this fails.
    mutating func loadOverlays() async throws { try await overlays.load(by: images.inputs) }

    /// Writes files of the images, and returns the exit status of the command.
    ///
    /// - Parameters:
    ///   - title: The word that begins the summary.
    ///   - destination: The destination of the files.
    ///   - maker: The maker of the files.
    ///   - jobs: The default of `--jobs`.
    func run(
        _ title: String, to destination: OutputDestination, by maker: any FileMaking, jobs: Int
    ) async throws -> ExitStatus {
        let list = try await images.images()
        try destination.check(imageCount: list.count, sizes: fit.sizes)
        return try await images.run(title, list, to: destination, by: maker, jobs: images.jobs ?? jobs)
    }
}
