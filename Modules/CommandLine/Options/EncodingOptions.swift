import Alcedo
import AlcedoProgramSupport

/// The options that control encoding.
struct EncodingOptions: Sendable {
    static let help = """
          --effort N              set the effort: png from 0 to 9 (default: 6), webp from 0 to 6 (default: 4)
          --lossless              encode webp without loss
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

    /// Creates the encoder for a format. Without `--quality`, the quality is `defaultQuality`.
    ///
    /// - Throws: ``UsageError`` if an option does not apply to the format.
    func encoder(of format: OutputFormat, defaultQuality: Int) throws -> any ImageEncoding {
        try check(quality != nil, "--quality", format == .jpeg || (format == .webp && !isLossless), format)
        try check(effort != nil, "--effort", format == .png || (format == .webp && (effort ?? 0) <= 6), format)
        try check(isLossless, "--lossless", format == .webp, format)
        try check(isProgressive, "--progressive", format == .jpeg, format)
        let quality = quality ?? defaultQuality
        switch format {
        case .png: return .png(compressionLevel: effort ?? 6)
        case .jpeg: return .jpeg(quality: quality, isProgressive: isProgressive)
        case .webp:
            return .webp(
                quality: Double(quality), lossless: isLossless, method: effort ?? 4,
                keepsHiddenColor: isLossless)
        case .gif: return .gif()
        }
    }

    private func check(_ isGiven: Bool, _ option: String, _ isSupported: Bool, _ format: OutputFormat) throws {
        if isGiven, !isSupported {
            throw UsageError("\(isLossless ? "lossless " : "")\(format.rawValue) does not support \(option)")
        }
    }
}

/// An output format.
enum OutputFormat: String, CaseIterable, Sendable {
    case png, jpeg, webp, gif

    static let names = "png, jpeg, webp or gif"

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
    var holdsAnimations: Bool { self == .webp || self == .gif }
}
