import AlcedoProgramSupport

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
