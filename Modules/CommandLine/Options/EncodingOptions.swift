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
        compressionHelp + tiffHelp + (writesAnimations ? delayHelp : "") + metadataHelp
    }

    private static let compressionHelp = """
          --effort N              set the effort: \(OutputFormat.efforts)
          --lossless              encode \(OutputFormat.losslessNames) without loss, as png without --colors
          --near-lossless LEVEL   encode lossless webp of changed samples, which make the file smaller: changed by at
                                  most 1 at a LEVEL of 80, 2 at 60, 4 at 40, 8 at 20, 16 at 0, and not at all at 100
          --alpha-quality Q       set the quality of the alpha of lossy webp, from 0 to 100, which is exact
                                  (default: 100)
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

    #if TIFF
        private static let tiffHelp = """
              --compression NAME      compress tiff by deflate (default), lzw or none; all are lossless

            """
    #else
        private static let tiffHelp = ""
    #endif

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
    private var nearLossless: Int?
    private var alphaQuality: Int?
    #if TIFF
        private var compression: TIFFCompression?
    #endif
    private var colorCount: Int?
    private var omitsDithering = false
    private var isInterlaced = false
    private var isProgressive = false
    private var subsampling: JPEGSubsampling?
    private var embedsThumbnail = false
    private var maximumByteCount: Int?
    private(set) var keepsShortDelays = false
    private var pixelsPerInch: Int?

    init(writesAnimations: Bool) { self.writesAnimations = writesAnimations }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--format": format = try OutputFormat(option, arguments.value(of: option))
        case "--quality": quality = try arguments.number(of: option, in: 1...100)
        case "--effort": effort = try arguments.number(of: option, in: 0...12)
        case "--lossless": isLossless = true
        case "--near-lossless": nearLossless = try arguments.number(of: option, in: 0...100)
        case "--alpha-quality": alphaQuality = try arguments.number(of: option, in: 0...100)
        case "--compression":
            #if TIFF
                compression = try TIFFCompression(option, arguments.value(of: option))
            #else
                throw UsageError("--compression needs a build with the package trait TIFF")
            #endif
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

    private var hasCompression: Bool {
        #if TIFF
            compression != nil
        #else
            false
        #endif
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
        let hasQuality = format == .jpeg || (format.mayBeLossless && !isLossless && !isNearLossless(format))
        try check(quality != nil, "--quality", hasQuality, format)
        try checkEffort(of: format)
        let keepsPixels = format.isLossless && (format != .png || colorCount == nil)
        try check(isLossless, "--lossless", format.mayBeLossless || keepsPixels, format)
        try check(nearLossless != nil, "--near-lossless", format == .webp && !isLossless, format)
        if nearLossless != nil, effort == 0 { throw UsageError("--near-lossless needs an --effort of at least 1") }
        try check(alphaQuality != nil, "--alpha-quality", format == .webp && hasQuality, format)
        try check(hasCompression, "--compression", format.rawValue == "tiff", format)
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
                quality: Double(quality), alphaQuality: Double(alphaQuality ?? 100), lossless: isLossless,
                nearLossless: nearLossless, method: effort ?? 4, keepsHiddenColor: isLossless,
                keepsShortDelays: keepsShortDelays)
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
            case .tiff: return .tiff(compression: compression ?? .deflate)
        #endif
        }
    }

    #if JXL
        /// Creates the maker for `--recompress`.
        ///
        /// - Parameters:
        ///   - format: The format of the written files.
        ///   - others: The options outside of this group that would change the image, and whether each was given.
        ///   - recompressor: The recompressor of the command.
        /// - Throws: ``UsageError`` if the format is neither JPEG XL nor JPEG, or for an option that would change the
        ///   image.
        func recompressionMaker(
            of format: OutputFormat, refusing others: [(String, Bool)], by recompressor: Recompressor
        ) throws -> RecompressionMaker {
            guard format == .jxl || format == .jpeg else {
                throw UsageError("--recompress writes jxl or jpeg, not \(format.rawValue)")
            }
            let changes = [
                ("--quality", quality != nil), ("--lossless", isLossless), ("--progressive", isProgressive),
                ("--metadata", givenMetadata != nil), ("--near-lossless", nearLossless != nil),
                ("--alpha-quality", alphaQuality != nil), ("--compression", hasCompression),
                ("--subsampling", subsampling != nil), ("--resolution", pixelsPerInch != nil),
                ("--embed-thumbnail", embedsThumbnail), ("--max-file-size", maximumByteCount != nil),
                ("--colors", colorCount != nil), ("--no-dither", omitsDithering), ("--interlaced", isInterlaced),
            ]
            for (option, isGiven) in changes + others where isGiven {
                throw UsageError("--recompress keeps the image unchanged and does not support \(option)")
            }
            try checkEffort(of: format)
            return RecompressionMaker(format: format, effort: effort ?? 7, recompressor: recompressor)
        }
    #endif

    private func isNearLossless(_ format: OutputFormat) -> Bool { nearLossless != nil && format == .webp }

    private func checkEffort(of format: OutputFormat) throws {
        let hasEffort = format.efforts?.contains(effort ?? format.efforts?.lowerBound ?? 0) ?? false
        try check(effort != nil, "--effort", hasEffort, format)
    }

    private func check(_ isGiven: Bool, _ option: String, _ isSupported: Bool, _ format: OutputFormat) throws {
        if isGiven, !isSupported {
            let exact = isLossless && format.mayBeLossless ? "lossless " : ""
            let kind = exact.isEmpty && isNearLossless(format) ? "near-lossless " : exact
            let colors = format == .png && colorCount != nil ? " with --colors" : ""
            throw UsageError("\(kind)\(format.rawValue)\(colors) does not support \(option)")
        }
    }
}

#if TIFF
    extension TIFFCompression {
        /// Creates the compression whose name is the value of an option. Throws ``UsageError`` if none has the name.
        fileprivate init(_ option: String, _ name: String) throws {
            guard let compression = Self(rawValue: name) else {
                throw UsageError("\(option) needs deflate, lzw or none, not '\(name)'")
            }
            self = compression
        }
    }
#endif

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
