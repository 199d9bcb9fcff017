import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
#if TIFF
    import AlcedoTIFF
#endif
import AlcedoProgramSupport

struct EncodingOptions: Sendable {
    /// Returns the help text of the options.
    static func help(writesAnimations: Bool) -> String {
        compressionHelp + (writesAnimations ? delayHelp : "") + metadataHelp
    }

    private static let compressionHelp = """
          --effort N              set the effort: \(OutputFormat.efforts)
          --lossless              encode \(OutputFormat.losslessNames) without loss, as png without --colors
          --colors N              reduce the colors of png and gif to a palette of at most N, from 2 to 256 (default: all
                                  for png, 256 for gif)
          --no-dither             map each color to the nearest one of the palette, without dithering
          --interlaced            encode interlaced png
          --progressive           encode progressive jpeg
          --subsampling S         set the color resolution of jpeg: 444, 422, 440, 420 or auto, which is 444 from a
                                  quality of 90 and 420 below (default: auto)
          --embed-thumbnail       write a thumbnail of at most 160 x 160 pixels in the EXIF of jpeg
          --max-file-size N       write files of at most N bytes, such as 200K, with the highest quality that fits, up
                                  to that of --quality; an image that does not fit is an error

        """

    private static let delayHelp = """
          --keep-delays           keep delays of 0 and 10 ms in animations from gif and png instead of writing 100 ms,
                                  as browsers show them

        """

    private static let metadataHelp = """
          --metadata POLICY       keep all EXIF, XMP and IPTC but preview images (keep), these without a location
                                  (without-location), the creator and the rights only (copyright), or none (strip, the
                                  default); color profiles lose what identifies a device or an owner, except with keep
          --resolution N          write a resolution of N pixels per inch, instead of the one that keep and
                                  without-location keep

        """

    /// Whether the command writes animations. Otherwise, the options for them do not exist.
    let writesAnimations: Bool
    private(set) var format: OutputFormat?
    private var givenMetadata: MetadataPolicy?
    private var quality: Int?
    private var effort: Int?
    private var isLossless = false
    private var colorCount: Int?
    private var omitsDithering = false
    private var isInterlaced = false
    private var isProgressive = false
    private var subsampling: JPEGSubsampling?
    private var embedsThumbnail = false
    private var maximumByteCount: Int?
    private var keepsShortDelays = false
    private var pixelsPerInch: Int?

    init(writesAnimations: Bool) { self.writesAnimations = writesAnimations }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--format": format = try OutputFormat(option, arguments.value(of: option))
        case "--quality": quality = try arguments.number(of: option, in: 1...100)
        case "--effort": effort = try arguments.number(of: option, in: 0...12)
        case "--lossless": isLossless = true
        case "--colors": colorCount = try arguments.number(of: option, in: 2...256)
        case "--no-dither": omitsDithering = true
        case "--interlaced": isInterlaced = true
        case "--progressive": isProgressive = true
        case "--subsampling": subsampling = try JPEGSubsampling(option, arguments.value(of: option))
        case "--embed-thumbnail": embedsThumbnail = true
        case "--max-file-size": maximumByteCount = try ByteCount.parse(try arguments.value(of: option), for: option)
        case "--keep-delays" where writesAnimations: keepsShortDelays = true
        case "--resolution": pixelsPerInch = try arguments.number(of: option, in: 1...65_535)
        case "--metadata": givenMetadata = try MetadataPolicy(option, arguments.value(of: option))
        default: return false
        }
        return true
    }

    /// The metadata that the written files keep. Default: none.
    var metadata: MetadataPolicy { givenMetadata ?? .strip }

    /// The resolution of the written files, or nil for the one that ``metadata`` keeps.
    var resolution: ImageResolution? { pixelsPerInch.map { ImageResolution(pixelsPerInch: Double($0)) } }

    /// Creates the encoder for a format, with the limit of `--max-file-size`. Without `--quality`, the quality is
    /// `defaultQuality`, or that of the format if it has another scale.
    ///
    /// - Throws: ``UsageError`` if an option does not apply to the format.
    func encoder(of format: OutputFormat, defaultQuality: Int) throws -> any ImageEncoding {
        let encoder = try unlimitedEncoder(of: format, defaultQuality: defaultQuality)
        return maximumByteCount.map { encoder.limitingFileSize(to: $0) } ?? encoder
    }

    private func unlimitedEncoder(of format: OutputFormat, defaultQuality: Int) throws -> ImageEncoder {
        let hasQuality = format == .jpeg || (format.mayBeLossless && !isLossless)
        try check(quality != nil, "--quality", hasQuality, format)
        try checkEffort(of: format)
        let keepsPixels = format.isLossless && (format != .png || colorCount == nil)
        try check(isLossless, "--lossless", format.mayBeLossless || keepsPixels, format)
        try check(colorCount != nil, "--colors", format == .png || format == .gif, format)
        try check(omitsDithering, "--no-dither", format == .png || format == .gif, format)
        if omitsDithering, format == .png, colorCount == nil { throw UsageError("--no-dither needs --colors for png") }
        try check(isInterlaced, "--interlaced", format == .png, format)
        try check(isProgressive, "--progressive", format == .jpeg, format)
        try check(subsampling != nil, "--subsampling", format == .jpeg, format)
        try check(embedsThumbnail, "--embed-thumbnail", format == .jpeg, format)
        try check(keepsShortDelays, "--keep-delays", format.holdsAnimations, format)
        try check(pixelsPerInch != nil, "--resolution", format != .gif, format)
        let quality = quality ?? format.defaultQuality ?? defaultQuality
        switch format {
        case .png:
            return .png(
                compressionLevel: effort ?? 6, maximumColorCount: colorCount, dithers: !omitsDithering,
                isInterlaced: isInterlaced, keepsShortDelays: keepsShortDelays)
        case .jpeg:
            return .jpeg(
                quality: quality, subsampling: subsampling ?? .auto, isProgressive: isProgressive,
                embedsThumbnail: embedsThumbnail)
        case .webp:
            return .webp(
                quality: Double(quality), lossless: isLossless, method: effort ?? 4,
                keepsHiddenColor: isLossless, keepsShortDelays: keepsShortDelays)
        case .gif:
            return .gif(
                dithers: !omitsDithering, maximumColorCount: colorCount ?? 256, keepsShortDelays: keepsShortDelays)
        #if AVIF
            case .avif:
                return .avif(
                    quality: Double(quality), lossless: isLossless, speed: 10 - (effort ?? 4),
                    keepsShortDelays: keepsShortDelays)
        #endif
        #if JXL
            case .jxl:
                return .jxl(
                    quality: Double(quality), lossless: isLossless, effort: effort ?? 7,
                    keepsShortDelays: keepsShortDelays)
        #endif
        #if TIFF
            case .tiff: return .tiff()
        #endif
        }
    }

    #if JXL
        /// Creates the maker for `--recompress`.
        ///
        /// - Parameters:
        ///   - format: The format of the written files.
        ///   - hasProcessors: Whether a processor was given.
        ///   - hasSize: Whether a size was given.
        ///   - recompressor: The recompressor of the command.
        /// - Throws: ``UsageError`` if the format is neither JPEG XL nor JPEG, or for an option that would change the
        ///   image.
        func recompressionMaker(
            of format: OutputFormat, hasProcessors: Bool, hasSize: Bool, by recompressor: Recompressor
        ) throws -> RecompressionMaker {
            guard format == .jxl || format == .jpeg else {
                throw UsageError("--recompress writes jxl or jpeg, not \(format.rawValue)")
            }
            let changes = [
                ("--quality", quality != nil), ("--lossless", isLossless), ("--progressive", isProgressive),
                ("--metadata", givenMetadata != nil), ("--processor", hasProcessors), ("--size", hasSize),
                ("--subsampling", subsampling != nil), ("--resolution", pixelsPerInch != nil),
                ("--embed-thumbnail", embedsThumbnail), ("--max-file-size", maximumByteCount != nil),
                ("--colors", colorCount != nil), ("--no-dither", omitsDithering), ("--interlaced", isInterlaced),
            ]
            for (option, isGiven) in changes where isGiven {
                throw UsageError("--recompress keeps the image unchanged and does not support \(option)")
            }
            try checkEffort(of: format)
            return RecompressionMaker(format: format, effort: effort ?? 7, recompressor: recompressor)
        }
    #endif

    private func checkEffort(of format: OutputFormat) throws {
        let hasEffort = format.efforts?.contains(effort ?? format.efforts?.lowerBound ?? 0) ?? false
        try check(effort != nil, "--effort", hasEffort, format)
    }

    private func check(_ isGiven: Bool, _ option: String, _ isSupported: Bool, _ format: OutputFormat) throws {
        if isGiven, !isSupported {
            let kind = isLossless && format.mayBeLossless ? "lossless " : ""
            let colors = format == .png && colorCount != nil ? " with --colors" : ""
            throw UsageError("\(kind)\(format.rawValue)\(colors) does not support \(option)")
        }
    }
}

extension JPEGSubsampling {
    /// Creates the subsampling whose name is the value of an option. Throws ``UsageError`` if none has the name.
    fileprivate init(_ option: String, _ name: String) throws {
        switch name {
        case "auto": self = .auto
        case "444": self = .none
        case "422": self = .horizontal
        case "440": self = .vertical
        case "420": self = .both
        default: throw UsageError("\(option) needs 444, 422, 440, 420 or auto, not '\(name)'")
        }
    }
}

extension MetadataPolicy {
    /// Creates the policy whose name is the value of an option. Throws ``UsageError`` if no policy has the name.
    fileprivate init(_ option: String, _ name: String) throws {
        switch name {
        case "keep": self = .keep
        case "without-location": self = .keepWithoutLocation
        case "copyright": self = .keepCopyright
        case "strip": self = .strip
        default: throw UsageError("\(option) needs keep, without-location, copyright or strip, not '\(name)'")
        }
    }
}

/// An output format. AVIF is one in a build with the package trait `AVIF`, JPEG XL in one with `JXL`, and TIFF in one
/// with `TIFF`.
enum OutputFormat: String, CaseIterable, Sendable {
    case png, jpeg, webp, gif
    #if AVIF
        case avif
    #endif
    #if JXL
        case jxl
    #endif
    #if TIFF
        case tiff
    #endif

    /// Creates the format whose name is the value of an option. Throws ``UsageError`` if no format has the name.
    init(_ option: String, _ name: String) throws {
        guard let format = Self(rawValue: name) else {
            throw UsageError("\(option) needs \(Self.names), not '\(name)'")
        }
        self = format
    }

    /// Creates the format that a file name's extension stands for. Returns nil if the name has no extension or its
    /// extension stands for no output format.
    init?(fileName: String) {
        let ending = fileName.lastIndex(of: ".").map { fileName[fileName.index(after: $0)...].lowercased() }
        guard let format = Self.allCases.first(where: { [$0.rawValue, $0.fileExtension].contains(ending) }) else {
            return nil
        }
        self = format
    }

    var fileExtension: String {
        switch rawValue {
        case "jpeg": "jpg"
        case "tiff": "tif"
        default: rawValue
        }
    }

    /// Whether the format supports animations.
    var holdsAnimations: Bool { self != .jpeg && rawValue != "tiff" }

    /// Whether the format supports more than 8 bits per sample.
    var holdsDeepSamples: Bool { isLossless || isModern }

    /// Whether `--lossless` selects between two kinds of compression of the format.
    var mayBeLossless: Bool { self == .webp || isModern }

    /// Whether the format keeps every pixel, also without `--lossless`.
    var isLossless: Bool { self == .png || rawValue == "tiff" }

    /// The values of `--effort`, or nil if the format has no effort.
    var efforts: ClosedRange<Int>? {
        switch self {
        case .png: return 0...12
        case .webp: return 0...6
        case .jpeg, .gif: return nil
        #if AVIF
            case .avif: return 0...9
        #endif
        #if JXL
            case .jxl: return 1...9
        #endif
        #if TIFF
            case .tiff: return nil
        #endif
        }
    }

    /// The default of `--effort`, or nil if the format has no effort.
    private var defaultEffort: Int? {
        switch self {
        case .png: return 6
        case .webp: return 4
        case .jpeg, .gif: return nil
        #if AVIF
            case .avif: return 4
        #endif
        #if JXL
            case .jxl: return 7
        #endif
        #if TIFF
            case .tiff: return nil
        #endif
        }
    }

    /// The default quality, or nil if it is that of the command. The scales of AVIF and JPEG XL differ from those of
    /// the others.
    var defaultQuality: Int? {
        #if AVIF
            if self == .avif { return 60 }
        #endif
        #if JXL
            if self == .jxl { return 90 }
        #endif
        return nil
    }

    /// Whether the format is AVIF or JPEG XL, which have animations, deep samples and both kinds of compression.
    private var isModern: Bool { ["avif", "jxl"].contains(rawValue) }
}

/// The parts of messages and help texts that list formats.
extension OutputFormat {
    static let names = list(allCases, "or")
    static let animatedNames = list(allCases.filter(\.holdsAnimations), "and")
    static let deepNames = list(allCases.filter(\.holdsDeepSamples), "and")
    static let lossyNames = list([.jpeg] + allCases.filter(\.mayBeLossless), "and")
    static let losslessNames = list(allCases.filter(\.mayBeLossless), "or")
    /// The end of a list of defaults of `--quality`.
    static let ownQuality = allCases.compactMap { format in
        format.defaultQuality.map { "; \(format.rawValue): \($0)" }
    }.joined()
    static let efforts =
        effortTexts(of: allCases.filter { !$0.isModern })
        + effortTexts(of: allCases.filter(\.isModern), prefix: ",\n" + String(repeating: " ", count: 26))

    /// Returns the ranges and the defaults of `--effort`, or an empty text when no format has an effort.
    private static func effortTexts(of formats: [OutputFormat], prefix: String = "") -> String {
        let texts = formats.compactMap { format -> String? in
            guard let range = format.efforts, let usual = format.defaultEffort else { return nil }
            return "\(format.rawValue) from \(range.lowerBound) to \(range.upperBound) (default: \(usual))"
        }
        return texts.isEmpty ? "" : prefix + texts.joined(separator: ", ")
    }

    /// Returns the names of formats, with a word before the last one.
    private static func list(_ formats: [OutputFormat], _ word: String) -> String {
        let names = formats.map(\.rawValue)
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " \(word) \(last)"
    }
}
