import ExampleSupport
import FoundationEssentials

/// A file with the key of signatures.
struct KeyFile {
    /// Most bytes of a file with a secret.
    static let limit = 64 << 10

    let signature: URLSignature

    /// - Throws: `UsageError` for a file that cannot be read, and a key that is too short. Line ends after it do not count.
    init(path: String) throws {
        // May be a pipe.
        guard let data = try? InputFile.read(path, limit: Self.limit) else {
            throw UsageError("the key file '\(path)' cannot be read")
        }
        var key = [UInt8](data)
        while let last = key.last, last == 10 || last == 13 { key.removeLast() }
        guard key.count >= URLSignature.shortestKey else {
            throw UsageError("the key in '\(path)' has \(key.count) bytes; it needs \(URLSignature.shortestKey)")
        }
        signature = URLSignature(key: key)
    }
}
