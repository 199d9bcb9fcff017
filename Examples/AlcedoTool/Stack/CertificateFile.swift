import AlcedoLibc
import ExampleSupport
import FoundationEssentials

/// The authorities' certificates of `--ca`, read before anything is loaded.
enum CertificateFile {
    /// The system's own list has a quarter of a megabyte.
    private static let sizeLimit = 16 << 20
    private static let (opening, closing) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")

    /// - Throws: A ``Problem`` when the file cannot be read, or has no certificate in PEM.
    static func read(_ path: String) throws -> Data {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Problem("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= sizeLimit else {
            throw Problem("cannot read \(path): not a file of certificates")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Problem("cannot read \(path): permission denied")
        }
        guard hasCertificate(String(decoding: data, as: UTF8.self)) else {
            throw Problem("\(path) has no certificate in PEM")
        }
        return data
    }

    /// Whether there is a block that holds a DER sequence, as certificates are (RFC 7468 section 5). The TLS library
    /// looks closer.
    private static func hasCertificate(_ text: String) -> Bool {
        text.split(separator: opening).dropFirst(text.hasPrefix(opening) ? 0 : 1).contains { block in
            guard let end = block.firstRange(of: closing) else { return false }
            let body = block[..<end.lowerBound].filter { !$0.isWhitespace }
            return Data(base64Encoded: String(body))?.first == 0x30
        }
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
