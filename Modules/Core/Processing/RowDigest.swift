import AlcedoRuntime

/// Hashes the rows of a picture by SHA-256, the end of a chain of consumers.
///
/// The message is the bytes of all rows, top row first, as they come: nothing of the header is part of it, so pictures
/// are compared in one pixel format and alpha mode. Memory: one row.
package final class RowDigest: PixelRowConsumer {
    private let clearsTransparent: Bool
    private var hash = SHA256()
    /// Bytes of a pixel that may be transparent; nil where none is, or none is to be cleared.
    private var clearedPixelBytes: Int?
    private var row: [UInt8] = []

    /// The digest as 64 lowercase hexadecimal digits; nil until the picture is finished.
    package private(set) var hexadecimal: String?

    /// - Parameter clearsTransparent: Whether all samples of pixels whose alpha is nought are hashed as noughts, because
    ///   the colour of what is invisible is a decoder's own choice.
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
