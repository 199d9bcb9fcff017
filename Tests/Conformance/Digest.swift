import AlcedoCore
import AlcedoRuntime

/// The SHA-256 of rows as they arrive, with transparent pixels hashed as zeros in a second digest.
final class Digest: PixelRowConsumer {
    private var plain = SHA256()
    private var zeroed = SHA256()

    private(set) var sha256 = ""
    private(set) var sha256Alpha0Zeroed = ""

    func begin(_ header: PixelRowHeader) throws {}

    func consume(_ row: RawSpan) throws {
        var bytes = row.withUnsafeBytes { Array($0) }
        plain.update(bytes)
        for alpha in stride(from: 3, to: bytes.count, by: 4) where bytes[alpha] == 0 {
            for channel in alpha - 3..<alpha { bytes[channel] = 0 }
        }
        zeroed.update(bytes)
    }

    func finish() throws {
        sha256 = plain.finalizedHexadecimal()
        sha256Alpha0Zeroed = zeroed.finalizedHexadecimal()
    }

    static func of(_ pixels: PixelBuffer) throws -> Digest {
        let digest = Digest()
        try DecodedImage(pixels: pixels).sendRows(to: digest)
        return digest
    }

    func matches(_ frame: Manifest.Frame) -> Bool {
        frame.sha256 == sha256 || frame.sha256Alpha0Zeroed == sha256Alpha0Zeroed
    }
}
