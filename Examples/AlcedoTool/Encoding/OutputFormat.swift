import Alcedo
import ExampleSupport

/// A format that images are written in.
enum OutputFormat: String, CaseIterable, Sendable {
    case png, jpeg, webp, gif

    static let names = "png, jpeg, webp or gif"

    /// Throws ``UsageError`` for a name that is none.
    init(_ option: String, _ name: String) throws {
        guard let format = Self(rawValue: name) else {
            throw UsageError("\(option) takes \(Self.names), not '\(name)'")
        }
        self = format
    }

    /// The format of a file's name; nil where its end says none.
    init?(fileName: String) {
        let ending = fileName.lastIndex(of: ".").map { fileName[fileName.index(after: $0)...].lowercased() }
        guard let format = Self.allCases.first(where: { [$0.rawValue, $0.fileExtension].contains(ending) }) else {
            return nil
        }
        self = format
    }

    var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// Whether a file may hold several frames.
    var holdsAnimations: Bool { self == .webp || self == .gif }
}
