import Alcedo

/// The format of an answer, as far as it can be told before the picture is there.
enum OutputFormat: String, Sendable {
    case webp, jpeg, png
    /// PNG for a picture with alpha, else JPEG.
    case plain

    /// Whether the quality means anything.
    var isLossy: Bool { self != .png }

    /// - Parameter quality: From 1 to 100.
    func encoder(for image: DecodedImage, quality: Int) -> any ImageEncoding {
        switch self {
        case .webp: WebPEncoder(compression: .lossy(quality: Double(quality)))
        case .png: PNGEncoder()
        case .jpeg: JPEGEncoder(quality: quality)
        case .plain:
            JPEGEncoder().holds(image) ? JPEGEncoder(quality: quality) as any ImageEncoding : PNGEncoder()
        }
    }
}
