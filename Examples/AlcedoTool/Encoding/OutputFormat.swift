import Alcedo
import ExampleSupport

/// A format that thumbnails are written in.
enum ThumbnailFormat: String {
    case png, jpeg, webp

    /// Throws ``UsageError`` for a name that is none.
    init(_ option: String, _ name: String) throws {
        guard let format = Self(rawValue: name) else {
            throw UsageError("\(option) takes png, jpeg or webp, not '\(name)'")
        }
        self = format
    }

    var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// - Parameter quality: From 1 to 100.
    func encoder(quality: Int) -> any ImageEncoding {
        switch self {
        case .png: PNGEncoder()
        case .jpeg: JPEGEncoder(quality: quality)
        case .webp: WebPEncoder(compression: .lossy(quality: Double(quality)))
        }
    }
}
