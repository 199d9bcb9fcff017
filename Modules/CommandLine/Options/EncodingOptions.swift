import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoProgramSupport

/// The options that control encoding.
struct EncodingOptions: Sendable {
    static let help = """
          --effort N              set the effort: \(OutputFormat.efforts)
          --lossless              encode \(OutputFormat.losslessNames) without loss
          --progressive           encode progressive jpeg

        """

    private(set) var format: OutputFormat?
    private var quality: Int?
    private var effort: Int?
    private var isLossless = false
    private var isProgressive = false

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--format": format = try OutputFormat(option, arguments.value(of: option))
        case "--quality": quality = try arguments.number(of: option, in: 1...100)
        case "--effort": effort = try arguments.number(of: option, in: 0...9)
        case "--lossless": isLossless = true
        case "--progressive": isProgressive = true
        default: return false
        }
        return true
    }

    /// Creates the encoder for a format. Without `--quality`, the quality is `defaultQuality`, or that of the format if
    /// it has another scale.
    ///
    /// - Throws: ``UsageError`` if an option does not apply to the format.
    func encoder(of format: OutputFormat, defaultQuality: Int) throws -> any ImageEncoding {
        let hasQuality = format == .jpeg || (format.mayBeLossless && !isLossless)
        let hasEffort = format.maximumEffort.map { (effort ?? 0) <= $0 } ?? false
        try check(quality != nil, "--quality", hasQuality, format)
        try check(effort != nil, "--effort", hasEffort, format)
        try check(isLossless, "--lossless", format.mayBeLossless, format)
        try check(isProgressive, "--progressive", format == .jpeg, format)
        let quality = quality ?? format.defaultQuality ?? defaultQuality
        switch format {
        case .png: return .png(compressionLevel: effort ?? 6)
        case .jpeg: return .jpeg(quality: quality, isProgressive: isProgressive)
        case .webp:
            return .webp(
                quality: Double(quality), lossless: isLossless, method: effort ?? 4,
                keepsHiddenColor: isLossless)
        case .gif: return .gif()
        #if AVIF
            case .avif:
                return .avif(quality: Double(quality), lossless: isLossless, speed: 10 - (effort ?? 4))
        #endif
        }
    }

    private func check(_ isGiven: Bool, _ option: String, _ isSupported: Bool, _ format: OutputFormat) throws {
        if isGiven, !isSupported {
            throw UsageError("\(isLossless ? "lossless " : "")\(format.rawValue) does not support \(option)")
        }
    }
}

/// An output format. AVIF is one in a build with the package trait `AVIF`.
enum OutputFormat: String, CaseIterable, Sendable {
    case png, jpeg, webp, gif
    #if AVIF
        case avif
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

    var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// Whether the format supports animations.
    var holdsAnimations: Bool { self == .webp || self == .gif || isAVIF }

    /// Whether the format supports more than 8 bits per sample.
    var holdsDeepSamples: Bool { self == .png || isAVIF }

    /// Whether `--lossless` selects between two kinds of compression of the format.
    var mayBeLossless: Bool { self == .webp || isAVIF }

    /// The maximum value of `--effort`, or nil if the format has no effort.
    var maximumEffort: Int? {
        switch self {
        case .png: 9
        case .webp: 6
        default: isAVIF ? 9 : nil
        }
    }

    /// The default quality, or nil if it is that of the command. The scale of AVIF differs from that of the others.
    var defaultQuality: Int? { isAVIF ? 60 : nil }

    private var isAVIF: Bool {
        #if AVIF
            return self == .avif
        #else
            return false
        #endif
    }
}

/// The parts of messages and help texts that list formats.
extension OutputFormat {
    #if AVIF
        static let names = "png, jpeg, webp, gif or avif"
        static let animatedNames = "webp, gif and avif"
        static let lossyNames = "jpeg, webp and avif"
        static let losslessNames = "webp or avif"
        /// The end of a list of defaults of `--quality`.
        static let ownQuality = "; avif: 60"
        static let efforts = """
            png from 0 to 9 (default: 6), webp from 0 to 6 (default: 4),
                                      avif from 0 to 9 (default: 4)
            """
    #else
        static let names = "png, jpeg, webp or gif"
        static let animatedNames = "webp and gif"
        static let lossyNames = "jpeg and webp"
        static let losslessNames = "webp"
        /// The end of a list of defaults of `--quality`.
        static let ownQuality = ""
        static let efforts = "png from 0 to 9 (default: 6), webp from 0 to 6 (default: 4)"
    #endif
}
