import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

#if Sandbox
    import AlcedoSandbox
#endif

/// The options that name the images of a command: its arguments, and lists in files.
struct InputOptions: Sendable {
    static let help = """
          --list FILE             read more image names from FILE, one per line, or from standard input for -; may be
                                  repeated
          --null, -0              separate the names in lists by zero bytes, as find -print0 does
          --max-pixels N          reject images and frames of more than N pixels before decoding; a pixel needs 4 or 8
                                  bytes of memory (default: \(DecodingLimits().maximumPixelCount))
          --max-decoded MIB       hold at most MIB of memory for all decodes at once, and reject images that need more,
                                  also for their encoder (default: \(DecodingLimits().maximumByteCount >> 20), or what
                                  --max-pixels needs; \(ImageConverter().maximumEncodingByteCount >> 20) for an encoder)
          --partial               also accept images with missing pixels, as of truncated files; missing rows are
                                  transparent or have the background color
          --strict                reject damaged images unless every pixel is right; without both options, images
                                  with wrong pixels are accepted and reported
          --max-frames N          reject animations of more than N frames
                                  (default: \(DecodingLimits().maximumFrameCount))
          --max-total-pixels N    reject animations whose frames have more than N pixels in all, before they are
                                  decoded (default: \(DecodingLimits().maximumTotalPixelCount))
          --sandbox               decode every format in confined processes, also PNG, JPEG, GIF, WebP, BMP and ICO, so
                                  that a decoder that crashes costs one image; where such processes are impossible,
                                  every image is an error
          --no-sandbox            decode AVIF, JPEG XL, SVG and TIFF in this process, which they can end, instead of in
                                  confined processes, and recompress JPEG there; HEIF is never decoded in this process

        An image is a URL, a file, or - for standard input. A directory stands for all images below it, recognized by
        their contents or names; its other files are counted. A quoted pattern, such as '*.jpg', stands for the files
        that it matches. -- ends the options.


        """

    /// The formats that an option selects for decoding in worker processes.
    private enum Isolation {
        case everyFormat
        case noFormat
    }

    private var words: [String] = []
    private var lists: [String] = []
    private var hasNulls = false
    private var givenLimits = DecodingLimits()
    private var hasByteLimit = false
    private var damage = ToleranceOptions()
    private var isolation: Isolation?
    #if Sandbox
        /// The worker processes of the command, or nil with `--no-sandbox`.
        private var sandbox: ProgramSandbox?
    #endif

    /// The decoding limits of each image. Unless `--max-decoded` sets the limit of bytes, it is at least 8 bytes a
    /// pixel (as samples of 16 bits need) plus 64 MiB (for the padding of rows) for the limit of `--max-pixels`.
    var limits: DecodingLimits {
        var limits = givenLimits
        let needed = limits.maximumPixelCount * 8 + 64 << 20
        let isRaised = limits.maximumPixelCount != DecodingLimits().maximumPixelCount
        if isRaised, !hasByteLimit { limits.maximumByteCount = max(limits.maximumByteCount, needed) }
        return limits
    }

    /// The maximum number of bytes that the encoder of an image, and the encoded bytes, hold at once: that of
    /// `--max-decoded`. Unless the option sets it, at least that of an ``/Alcedo/ImageConverter``, because encoders of
    /// photos hold several times the bytes of their decoders.
    var encodingLimit: Int {
        hasByteLimit
            ? limits.maximumByteCount : max(limits.maximumByteCount, ImageConverter().maximumEncodingByteCount)
    }

    /// The most damage of a file that still gives an image.
    var tolerance: DamageTolerance { damage.tolerance }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--list": lists.append(try arguments.value(of: option))
        case "--null", "-0": hasNulls = true
        case "--max-pixels":
            givenLimits.maximumPixelCount = try arguments.number(of: option, in: 1...65_535 * 65_535)
        case "--max-decoded":
            givenLimits.maximumByteCount = try arguments.number(of: option, in: 1...1 << 24) << 20
            hasByteLimit = true
        case "--max-frames": givenLimits.maximumFrameCount = try arguments.number(of: option, in: 1...10_000_000)
        case "--max-total-pixels":
            givenLimits.maximumTotalPixelCount = try arguments.number(of: option, in: 1...Int(Int32.max) << 24)
        case "--sandbox", "--no-sandbox":
            let selected = option == "--sandbox" ? Isolation.everyFormat : .noFormat
            guard isolation == nil || isolation == selected else {
                throw UsageError("--sandbox cannot be combined with --no-sandbox")
            }
            #if !Sandbox
                if selected == .everyFormat { throw UsageError("--sandbox needs a build with the trait Sandbox") }
            #endif
            isolation = selected
        default: return try damage.take(option)
        }
        return true
    }

    /// The codecs of the command. By default, AVIF, HEIF, JPEG XL, SVG and TIFF are decoded in confined processes,
    /// which start with the first of these images, and with `--sandbox` every format.
    var codecs: CodecRegistry {
        #if Sandbox
            guard let sandbox else { return .programs }
            return .programs.isolated(in: sandbox, everyFormat: isolation == .everyFormat)
        #else
            return .programs
        #endif
    }

    #if JXL
        /// The lossless recompression of the command's images, by default in the same processes.
        var recompressor: Recompressor {
            #if Sandbox
                if let sandbox { return Recompressor(in: sandbox) }
            #endif
            return Recompressor()
        }
    #endif

    #if Sandbox
        private func makeSandbox() -> ProgramSandbox {
            var configuration = SandboxConfiguration()
            // A person waits, or ends the command. The limits only end decoders that hang.
            configuration.timeLimit = .seconds(300)
            configuration.cpuTimeLimit = .seconds(900)
            configuration.maximumOutputByteCount = max(configuration.maximumOutputByteCount, limits.maximumByteCount)
            // A recompression holds several times the bytes of the pixels.
            configuration.maximumMemoryByteCount = max(4 << 30, 3 * limits.maximumByteCount)
            // Without worker processes, `--sandbox` makes each image an error.
            guard isolation == nil else { return ProgramSandbox(configuration) }
            return ProgramSandbox(configuration) { error in
                Console.notice("alcedo: images are decoded without a sandbox: \(ProblemText.text("\(error)"))")
            }
        }
    #endif

    /// Validates and stores the arguments that name images. Throws ``UsageError`` if there is neither an argument nor a
    /// list, if an argument is empty, if standard input is named twice, or for `--null` without a list.
    mutating func take(_ words: [String], for command: String) throws {
        if words.contains(where: \.isEmpty) { throw UsageError("an argument is empty") }
        if words.isEmpty, lists.isEmpty { throw UsageError("\(command) needs a URL, a file, a directory or --list") }
        if words.count(where: { $0 == "-" }) + lists.count(where: { $0 == "-" }) > 1 {
            throw UsageError("standard input can be read only once")
        }
        if hasNulls, lists.isEmpty { throw UsageError("--null needs --list") }
        self.words = words
        #if Sandbox
            sandbox = isolation == .noFormat ? nil : makeSandbox()
        #endif
    }

    /// Reads the lists, expands directories and patterns, and returns the images.
    ///
    /// - Parameter change: Transforms the request of each image. By default, requests are unchanged.
    /// - Throws: ``UsageError`` if there is no image at all; ``InputError`` if a list or standard input cannot be read
    ///   or is too large.
    func images(
        changing change: @escaping @Sendable (ImageRequest) -> ImageRequest = { $0 }
    ) async throws -> ImageList {
        let (items, skipped) = try await BlockingExecutor(name: "alcedo.inputs", maxConcurrent: 1).run {
            var collector = InputCollector()
            for word in words { try collector.add(word) }
            for list in lists { try collector.addAll(of: list, hasNulls: hasNulls) }
            return (collector.items, collector.skipped)
        }
        guard !items.isEmpty else {
            let sources = (words + lists.map { $0 == "-" ? "standard input" : $0 }).joined(separator: "', '")
            throw UsageError("no image found in '\(sources)'")
        }
        return ImageList(items, skipped: skipped) { [limits, tolerance] image in
            image.changing { request in
                var request = change(request)
                request.decoding.limits = limits
                request.decoding.tolerance = tolerance
                return request
            }
        }
    }
}
