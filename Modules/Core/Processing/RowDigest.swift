import AlcedoRuntime

/// Computes the SHA-256 digest of the rows of an image, at the end of a chain of consumers.
///
/// The hashed message consists of the bytes of all rows from top to bottom. The header is not part of it, so digests
/// are comparable only for images with the same pixel format and alpha mode. Memory: one row.
package final class RowDigest: PixelRowConsumer {
    private let clearsTransparent: Bool
    private var hash = SHA256()
    /// The number of bytes in a pixel whose color is cleared when it is transparent; nil when no pixel is cleared.
    private var clearedPixelBytes: Int?
    private var row: [UInt8] = []

    /// The digest as 64 lowercase hexadecimal digits; nil until the image is finished.
    package private(set) var hexadecimal: String?

    /// Creates a digest.
    ///
    /// - Parameter clearsTransparent: Whether all samples of pixels with alpha 0 are hashed as zeros, because decoders
    ///   may choose any color for invisible pixels. Default: false.
    package init(clearsTransparent: Bool = false) { self.clearsTransparent = clearsTransparent }

    package func begin(_ header: PixelRowHeader) throws {
        hash = SHA256()
        hexadecimal = nil
        clearedPixelBytes =
            switch header.format {
            case .rgba8, .rgba16: clearsTransparent && header.alphaMode != .opaque ? header.format.bytesPerPixel : nil
            case .gray8, .rgbx8: nil
            }
    }

    package func consume(_ row: RawSpan) throws {
        guard let clearedPixelBytes else { return hash.update(row) }
        self.row.removeAll(keepingCapacity: true)
        row.withUnsafeBytes { self.row.append(contentsOf: $0) }
        clearTransparent(clearedPixelBytes)
        hash.update(self.row)
    }

    package func finish() throws { hexadecimal = hash.finalizedHexadecimal() }

    private func clearTransparent(_ pixelBytes: Int) {
        let alphaBytes = pixelBytes / 4
        row.withUnsafeMutableBytes { row in
            for end in stride(from: pixelBytes, through: row.count, by: pixelBytes) {
                guard row[end - 1] == 0, row[end - alphaBytes] == 0 else { continue }
                for index in end - pixelBytes..<end { row[index] = 0 }
            }
        }
    }
}
