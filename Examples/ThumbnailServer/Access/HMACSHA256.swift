import Alcedo

/// Says that a message is from somebody who has the key. Source: RFC 2104, FIPS 198-1.
enum HMACSHA256 {
    private static let blockSize = 64

    /// The code of a message, 32 bytes.
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > blockSize ? digest([key]) : key
        let block = short + [UInt8](repeating: 0, count: blockSize - short.count)
        let inner = digest([block.map { $0 ^ 0x36 }, message])
        return digest([block.map { $0 ^ 0x5C }, inner])
    }

    /// Whether two codes are the same, in a time that does not tell where they differ.
    static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func digest(_ parts: [[UInt8]]) -> [UInt8] {
        var digest = SHA256()
        for part in parts { digest.update(part) }
        return digest.finalize()
    }
}
